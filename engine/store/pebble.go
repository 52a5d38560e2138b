package store

import (
	"fmt"
	"log/slog"
	"runtime"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
)

// formatMajor is Pebble's own format. It is fixed, so that a store changes format
// when this package says so and not when the library is updated.
const formatMajor = pebble.FormatValueSeparation

const (
	memTableBytes = 8 << 20
	// maxBatch bounds a batch of frames. It stays below half a memtable: a larger
	// batch would become a memtable of its own.
	maxBatch = 2 << 20
)

func (s *Store) pebbleOptions(readOnly bool) *pebble.Options {
	logger := &pebbleLogger{log: s.opts.Logger, fail: &s.fail}
	o := &pebble.Options{
		FS:                          s.fs,
		Logger:                      logger,
		ReadOnly:                    readOnly,
		ErrorIfNotExists:            readOnly || s.formatted(),
		FormatMajorVersion:          formatMajor,
		Cache:                       s.cache,
		MemTableSize:                memTableBytes,
		MemTableStopWritesThreshold: 4,
		MaxOpenFiles:                256,
		L0CompactionThreshold:       4,
		L0StopWritesThreshold:       24,
		LBaseMaxBytes:               64 << 20,
		CompactionConcurrencyRange:  func() (int, int) { return 1, 2 },
		EventListener: &pebble.EventListener{
			BackgroundError: func(err error) { s.backgroundError(err) },
			DataCorruption:  func(i pebble.DataCorruptionInfo) { s.dataCorruption(i) },
		},
	}
	o.Experimental.CompactionScheduler = s.newScheduler()
	// Large values are compressed by us; what remains is small.
	o.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionNone })
	o.TargetFileSizes[0] = 8 << 20
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	s.listen(o.EventListener)
	o.EventListener.EnsureDefaults(logger)
	return o
}

// backgroundError hears of errors that Pebble will retry: a full disk, mostly. They
// end the store's writing, so that nobody waits for the retries.
func (s *Store) backgroundError(err error) {
	s.opts.Logger.Error("store: background error", "err", err)
	if pebble.IsCorruptionError(err) {
		s.compactionFailed()
		return
	}
	s.fail.set("background work", s.dir, err)
}

// dataCorruption hears of damage that was read; who read it gets ErrCorrupt.
func (s *Store) dataCorruption(i pebble.DataCorruptionInfo) {
	s.opts.Logger.Error("store: damaged file", "path", i.Path, "err", i.Details)
	s.rot.meet(i.Path)
}

// pebbleLogger is Pebble's logger. Its Fatalf ends the goroutine and not the process.
type pebbleLogger struct {
	log  *slog.Logger
	fail *failure
}

func (l *pebbleLogger) Infof(format string, args ...any) {}

func (l *pebbleLogger) Errorf(format string, args ...any) {
	l.log.Error("store: pebble", "message", fmt.Sprintf(format, args...))
}

// Fatalf never returns: Pebble relies on that.
func (l *pebbleLogger) Fatalf(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	for _, a := range args {
		if e, ok := a.(error); ok {
			err = fmt.Errorf("%s: %w", format, e)
		}
	}
	l.log.Error("store: pebble gave up", "err", err)
	l.fail.set("pebble", "", err)
	runtime.Goexit()
}
