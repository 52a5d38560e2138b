// Package store keeps an archive durable: sessions in compressed frames, the raw
// bytes they came from, cursors, overlays, and the list of live index segments. It
// is the only package that knows Pebble.
//
// Laws:
//   - The pointer is the commit. A session's messages are written under (number,
//     revision) where nobody reads them; one small synced batch moves the pointer.
//     Before it the old revision is the session, after it the new one.
//   - What [Store.Commit] has acknowledged survives a crash and a power cut.
//   - Equal sessions have equal hashes, however their frames were cut or compressed,
//     and an equal session is not written again.
//   - A [Snapshot] never changes.
//   - Every byte of one session's messages and head is in memory at most a frame
//     and a batch at a time.
//   - After a failed disk write the store only reads: writes return [ErrFailed] and
//     the process lives. Pebble has a few exits of its own that cannot be caught.
//
// Caveats: one process may open a store at a time. Numbers of sessions are dense
// enough to index by, but say nothing about order. The store does not derive
// anything: what a session means is the business of package archive.
package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/archive"
)

// FS is the file system below a store.
type FS = vfs.FS

// Options of a store. The zero value is production.
type Options struct {
	FS           FS               // nil is the disk
	Logger       *slog.Logger     // nil discards
	Now          func() time.Time // nil is time.Now
	DropRaw      bool             // do not keep source bytes; PutRaw still hashes them
	ReadOnly     bool             // no byte of the folder changes; writes return ErrReadOnly
	CacheBytes   int64            // Pebble's cache, of which two memtables take 16 MiB; default 32 MiB
	CloseTimeout time.Duration    // how long Close waits for Pebble; default 5 s
	Lock         *Lock            // the folder's lock, when the caller holds it already; Close leaves it held
}

func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = Disk
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.CacheBytes <= 0 {
		o.CacheBytes = 32 << 20
	}
	if o.CloseTimeout <= 0 {
		o.CloseTimeout = 5 * time.Second
	}
	return o
}

// A Store is an open archive store. It is safe for concurrent use.
type Store struct {
	dir  string
	opts Options
	fs   *parkFS
	db   *pebble.DB

	ownLock io.Closer            // the lock, if this store took it
	lent    atomic.Pointer[Lock] // the caller's lock, while this store uses it

	fail   failure
	jobs   chan job
	quit   chan struct{}  // closed by Close: no more jobs
	writer sync.WaitGroup // the goroutine that runs jobs
	closed sync.Once
	// closeErr is set within closed.
	closeErr error

	cache     *pebble.Cache         // valid as long as db is open
	tables    sstable.WriterOptions // of tables that are written outside of Pebble
	readers   sstable.ReaderOptions // of tables that are read outside of Pebble
	bulkAfter int                   // chunks of a file before those that are written as tables; the constant but in tests

	dicts   atomic.Pointer[dictionaries]
	buffers sync.Pool    // of *buffer
	held    atomic.Int64 // bytes of sealed revisions that wait in memory

	mu       sync.Mutex // guards those below
	closing  bool
	snaps    map[*Snapshot]struct{}
	ids      map[archive.SessionID]No // numbers given to sessions that are not committed yet
	nextNo   No
	nextRev  uint64
	nextBlob uint64
	losses   []Loss // those of guard, and in a read-only store those that it found

	// state is what the commits have made durable; only the writer goroutine
	// changes it, through setState.
	state  atomic.Pointer[state]
	dictAt uint64 // stored bytes at which a dictionary is tried; the writer's
	chain  chain  // the writer's
	guard  guard  // the writer's; what is durable
	mark   mark
	rot    rot
	fresh  bool // a new store, while it opens

	headless bool // the file FORMAT may be missing or garbled, but not the format in the database
}

// Open opens the store in dir, and makes it unless opts.ReadOnly. A store of a newer
// format is refused with ErrVersion, and no byte of it changes.
func Open(dir string, opts Options) (*Store, error) {
	s := unopened(dir, opts)
	if err := s.open(); err != nil {
		return nil, fmt.Errorf("store %s: %w", dir, err)
	}
	return s, nil
}

func unopened(dir string, opts Options) *Store {
	opts = opts.withDefaults()
	s := &Store{
		dir:    dir,
		opts:   opts,
		jobs:   make(chan job),
		quit:   make(chan struct{}),
		dictAt: dictSampleBytes,
		snaps:  map[*Snapshot]struct{}{},
		ids:    map[archive.SessionID]No{},

		bulkAfter: bulkAfter,
	}
	s.fail.ch = make(chan struct{})
	s.rot.every, s.rot.stall = rotEvery, rotStall
	s.fs = &parkFS{FS: opts.FS, fail: &s.fail}
	return s
}

// load reads what the store keeps in memory and puts away what an interrupted
// import left behind.
func (s *Store) load() error {
	if err := s.loadFormat(); err != nil {
		return err
	}
	if err := s.loadState(); err != nil {
		return err
	}
	if err := s.loadDictionaries(); err != nil {
		return err
	}
	found, lost, err := s.loadGuard()
	if err != nil || s.opts.ReadOnly {
		return err
	}
	if err := s.writeFormat(); err != nil {
		return err
	}
	if err := s.keepLosses(found, lost); err != nil {
		return err
	}
	if err := s.removeBulk(); err != nil {
		return err
	}
	return s.removeOrphans()
}

// Dir is the folder that the store was opened with.
func (s *Store) Dir() string { return s.dir }

// Failed is closed when the store can no longer write; Err then says why.
func (s *Store) Failed() <-chan struct{} { return s.fail.ch }

// Err is nil, or why the store can no longer write. It looks whether the folder is
// still in its place.
func (s *Store) Err() error { return s.look() }

// look ends the store's writing if its folder was moved or replaced, and gives Err.
func (s *Store) look() error {
	if err := s.fs.site.check(); err != nil {
		s.fail.set("write", s.dir, err)
	}
	return s.fail.error()
}

// Parked counts the goroutines that a failed write has parked for good.
func (s *Store) Parked() int { return int(s.fs.parked.Load()) }

// Generation counts the commits that changed a session, durable ones only.
func (s *Store) Generation() uint64 { return s.state.Load().Generation }

// DiskBytes is about what the store takes on disk.
func (s *Store) DiskBytes() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return 0
	}
	return s.db.Metrics().DiskSpaceUsage()
}

// Close writes everything out, so that no record rests in the write-ahead log, and
// ends all snapshots: they answer ErrClosed from then on. It returns within
// Options.CloseTimeout and a second; if the disk does not let it finish, the error
// is ErrFailed, and also ErrRestart when the process must end before the store can be
// opened again. A second call gives the first call's error.
func (s *Store) Close() error {
	s.closed.Do(func() { s.closeErr = s.close() })
	return s.closeErr
}

func (s *Store) close() error {
	s.mu.Lock()
	s.closing = true
	snaps := make([]*Snapshot, 0, len(s.snaps))
	for sn := range s.snaps {
		snaps = append(snaps, sn)
	}
	s.mu.Unlock()
	close(s.quit)
	done := make(chan error, 1)
	go func() {
		err := errors.New("stopped while closing")
		defer func() { done <- err }()
		err = s.closeDB(snaps)
	}()
	timeout := s.opts.CloseTimeout
	failed := s.fail.ch
	t := time.NewTimer(timeout)
	defer t.Stop()
	for {
		select {
		case err := <-done:
			if f := s.fail.error(); f != nil {
				err = f
			}
			if err != nil {
				return fmt.Errorf("store %s: close: %w", s.dir, err)
			}
			return nil
		case <-failed:
			// What is parked will not come back; the rest gets a moment.
			failed = nil
			t.Reset(min(timeout, time.Second/4))
		case <-t.C:
			s.fail.set("close", s.dir, errCloseTimeout)
			return fmt.Errorf("store %s: close: %w", s.dir, errors.Join(s.fail.error(), s.giveUp(time.Second)))
		}
	}
}

func (s *Store) closeDB(snaps []*Snapshot) error {
	s.stopDropping()
	s.writer.Wait()
	for _, sn := range snaps {
		sn.end()
	}
	writes := !s.opts.ReadOnly && s.look() == nil
	var err error
	if writes {
		err = mapErr(s.db.Flush())
	}
	err = errors.Join(err, mapErr(s.db.Close()), s.mark.close())
	if err == nil && writes && s.look() == nil {
		err = s.removeLogs()
		if sealed := s.writeSeal(); sealed != nil {
			s.opts.Logger.Warn("store: no seal", "err", sealed) // the one before stays true
		}
	}
	// Last: whoever waits for the lock opens what is there.
	return errors.Join(err, s.unlock())
}

// removeLogs removes the logs that Pebble keeps for another use, all but the newest:
// what they say is flushed, and they still hold what was deleted since.
func (s *Store) removeLogs() error {
	fs := s.opts.FS
	names, err := fs.List(s.dir)
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasSuffix(n, ".log") })
	slices.Sort(names) // Pebble pads the numbers
	for _, n := range names[:max(0, len(names)-1)] {
		if err := fs.Remove(fs.PathJoin(s.dir, n)); err != nil {
			return err
		}
	}
	return nil
}

// Flush writes out what is only in the write-ahead log and in memory. It is durable
// all the same.
func (s *Store) Flush(ctx context.Context) error {
	return s.do(ctx, s.db.Flush)
}

// Compact rewrites the whole store, so that what was deleted leaves the disk.
func (s *Store) Compact(ctx context.Context) error {
	return s.do(ctx, func() error {
		return s.db.Compact(ctx, []byte{0}, []byte{0xff}, false)
	})
}
