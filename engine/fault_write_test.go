package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/internal/faultfs"
	"github.com/hansard-search/hansard/engine/store"
)

// A brokenWrite is a write that fails, by kind of file.
type brokenWrite struct {
	ops  []faultfs.Kind
	file faultfs.FileKind
}

// Those of tables and MANIFESTs happen in the background.
var brokenWrites = []brokenWrite{
	{[]faultfs.Kind{faultfs.Sync}, faultfs.WAL},
	{[]faultfs.Kind{faultfs.Write}, faultfs.WAL},
	{[]faultfs.Kind{faultfs.Write}, faultfs.Manifest},
	{[]faultfs.Kind{faultfs.Sync}, faultfs.Manifest},
	{[]faultfs.Kind{faultfs.Create, faultfs.Reuse}, faultfs.Table},
	{[]faultfs.Kind{faultfs.Write}, faultfs.Table},
	{[]faultfs.Kind{faultfs.Sync}, faultfs.Table},
	{[]faultfs.Kind{faultfs.Create}, faultfs.Segment},
	{[]faultfs.Kind{faultfs.Write}, faultfs.Segment},
	{[]faultfs.Kind{faultfs.Sync}, faultfs.Segment},
	{[]faultfs.Kind{faultfs.Close}, faultfs.Segment},
	{[]faultfs.Kind{faultfs.Sync}, faultfs.Dir},
	{[]faultfs.Kind{faultfs.OpenDir}, faultfs.Dir},
}

// Steps of the story that import. The second one's segment is written during it.
const (
	firstImport  = 1
	secondImport = 3
)

// segmentWrites are those of the broken writes that no acknowledgement needs.
func segmentWrites() (list []brokenWrite) {
	for _, b := range brokenWrites {
		if b.file == faultfs.Segment {
			list = append(list, b)
		}
	}
	return list
}

// TestWriteFails lets one kind of write fail on one kind of file from some moment on:
// the engine turns read-only and says so at once to who writes, answers who reads,
// syncs no file again whose sync failed, and closes in time. The moment is drawn, but the
// writes of segments also fail from an import on whose segment they write.
func TestWriteFails(t *testing.T) {
	scripts := 50
	if testing.Short() {
		scripts = len(brokenWrites)
	} else if *long {
		scripts = 500
	}
	r := seeded(t)
	var work sync.WaitGroup
	slots := make(chan struct{}, 16)
	var mu sync.Mutex
	var slowest, slowestClose time.Duration
	struck := 0
	directed := segmentWrites()
	for i := range scripts + len(directed) {
		seed := r.Uint64()
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			b := brokenWrites[i%len(brokenWrites)]
			if i >= scripts {
				b = directed[i-scripts]
			}
			f := newWriteFault(t, seed, faultfs.On(b.ops, b.file))
			if i >= scripts {
				f.at = secondImport
			}
			f.derived = b.file == faultfs.Segment
			err := f.run()
			mu.Lock()
			defer mu.Unlock()
			slowest, slowestClose = max(slowest, f.told), max(slowestClose, f.closed)
			if f.op != nil {
				struck++
			}
			if err != nil {
				t.Errorf("%v of %v (seed %d): %v", b.ops, b.file, seed, err)
			}
		})
	}
	work.Wait()
	scripts += len(directed)
	t.Logf("%d of %d scripts met their fault; a refusal took up to %v, a close up to %v", struck, scripts, slowest, slowestClose)
	if struck < scripts*3/4 {
		t.Errorf("only %d of %d scripts met their fault", struck, scripts)
	}
}

// A writeFault is a story in which one kind of write fails from some moment on.
type writeFault struct {
	strike
	at      int           // the step from which on it fails
	arm     func()        // lets it begin
	derived bool          // what fails is a segment, which no acknowledgement needs
	told    time.Duration // how long the slowest refusal took
}

func newWriteFault(t *testing.T, seed uint64, m faultfs.Match) *writeFault {
	f := &writeFault{at: 1 + rand.New(rand.NewPCG(seed, 1)).IntN(10)}
	f.s = newStage(t, vfs.NewCrashableMem(), stageOptions)
	var on sync.Mutex
	armed := false
	f.s.fs.Set(func(o faultfs.Op) error {
		on.Lock()
		defer on.Unlock()
		if !armed || !m(o) {
			return nil
		}
		f.hit(o)
		return syscall.EIO
	})
	f.arm = func() { on.Lock(); armed = true; on.Unlock() }
	return f
}

func (f *writeFault) run() error {
	steps := f.s.steps()
	for i, step := range steps[:13] {
		if i == f.at {
			f.arm()
		}
		if i == 12 {
			// Tables are written when a memtable is full, or on Close.
			step = func() error { return f.s.e.store.Flush(context.Background()) }
		}
		var err error
		if !inTime(soon, func() { err = step() }) {
			return fmt.Errorf("step %d hangs", i)
		}
		if err == nil {
			continue
		}
		if wrong := f.judge(err); wrong != nil {
			return fmt.Errorf("step %d: %w", i, wrong)
		}
		if f.derived && (i == firstImport || i == secondImport) {
			return fmt.Errorf("an import whose sessions are durable fails with their segment: %w", err)
		}
		if f.s.e.Err() != nil {
			break
		}
	}
	if f.struck() && f.s.e.Err() == nil {
		return fmt.Errorf("%v: the engine did not notice", f.op)
	}
	if f.s.e.Err() != nil {
		if err := f.refuses(); err != nil {
			return err
		}
	}
	return f.after()
}

// refuses holds that writes are told at once and that reads answer.
func (f *writeFault) refuses() error {
	writes := []func() error{
		func() error {
			_, err := f.s.e.Import(context.Background(), ImportRequest{Paths: []string{f.s.src}})
			return err
		},
		func() error { return f.s.e.store.SetTitle(context.Background(), stageID("b"), "title") },
		func() error { _, err := f.s.e.Rebuild(context.Background(), nil); return err },
	}
	for i, write := range writes {
		start := time.Now()
		var err error
		if !inTime(soon, func() { err = write() }) {
			return fmt.Errorf("write %d hangs", i)
		}
		f.told = max(f.told, time.Since(start))
		if codeOf(storeError(err)) != CodeArchiveReadOnly || !errors.Is(err, store.ErrFailed) || !errors.Is(err, syscall.EIO) {
			return fmt.Errorf("write %d on a failed archive: %w", i, err)
		}
	}
	return f.s.look()
}
