package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/internal/faultfs"
	"github.com/hansard-search/hansard/engine/store"
)

// TestNthOperationFails lets the n-th operation of the story fail, for every n until
// a story passes, once and for ever after. Whatever fails: the error names the file,
// no call hangs, reads go on, Close returns, and the archive that is opened next has
// what was acknowledged.
func TestNthOperationFails(t *testing.T) {
	left := watchGoroutines(t)
	everyNth(t, 7, func(n int64, forever bool) (bool, error) {
		s := newStage(t, vfs.NewCrashableMem(), stageOptions)
		f := &strike{s: s}
		s.fs.Set(faultfs.Nth(n, forever, func(faultfs.Op) bool { return true }, syscall.EIO, f.hit))
		err := f.play()
		return f.struck(), err
	})
	left.check()
}

// TestNthOperationFailsInRecovery is the same for the opening of an archive after a
// crash: a second fault meets the repair of the first.
func TestNthOperationFailsInRecovery(t *testing.T) {
	left := watchGoroutines(t)
	r := seeded(t)
	disks := 3
	if testing.Short() {
		disks = 1
	}
	for range disks {
		disk, may := crashedDisk(t, r)
		everyNth(t, 5, func(n int64, forever bool) (bool, error) {
			fs := faultfs.New(disk.CrashClone(vfs.CrashCloneCfg{}))
			f := &strike{s: &stage{t: t, fs: fs, opts: stageOptions, may: may.clone()}}
			f.s.opts.FS, f.s.opts.Create, f.s.opts.Now = fs, true, func() time.Time { return testNow }
			fs.Set(faultfs.Nth(n, forever, func(faultfs.Op) bool { return true }, syscall.EIO, f.hit))
			err := f.run([]func() error{f.s.open, f.s.look, func() error { return f.s.e.Close() }})
			return f.struck(), err
		})
	}
	left.check()
}

// everyNth tries n from 1 until no fault strikes; in the short form, one of stride.
func everyNth(t *testing.T, stride int64, try func(n int64, forever bool) (bool, error)) {
	workers := 16
	if *long {
		stride = 1
	} else if testing.Short() {
		stride, workers = stride*20, 4
	}
	offset := int64(seeded(t).Uint64() % uint64(stride))
	for _, forever := range []bool{false, true} {
		var next, tried, end atomic.Int64
		next.Store(offset - stride)
		var work sync.WaitGroup
		for range workers {
			work.Go(func() {
				for end.Load() == 0 && !t.Failed() {
					n := next.Add(stride) + 1
					struck, err := try(n, forever)
					if err != nil {
						t.Errorf("operation %d fails (for ever: %v): %v", n, forever, err)
					}
					tried.Add(1)
					if !struck {
						end.Store(n)
					}
				}
			})
		}
		work.Wait()
		t.Logf("for ever %v: %d stories, up to operation %d", forever, tried.Load(), end.Load())
	}
}

// crashedDisk is what a power cut leaves somewhere in the story.
func crashedDisk(t *testing.T, r *rand.Rand) (*vfs.MemFS, ledger) {
	s := newStage(t, vfs.NewCrashableMem(), stageOptions)
	steps := s.steps()
	for _, step := range steps[:4+r.IntN(len(steps)-6)] {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	may := s.now()
	disk, err := s.fs.Crash(faultfs.Crash{Percent: 50, RNG: r})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.e.Close(); err != nil {
		t.Fatal(err)
	}
	return disk, may
}

func (s *stage) look() error {
	_, err := s.e.Search(context.Background(), SearchRequest{Query: "everywhere"})
	return err
}

// A strike is a story in which something fails.
type strike struct {
	s      *stage
	mu     sync.Mutex
	op     *faultfs.Op     // that failed first
	failed map[string]bool // names of all files for which something failed
	wrote  string          // path of the last operation that wrote
	before string          // the same, when the first operation failed
	closed time.Duration   // how long the last Close took
}

func (f *strike) hit(op faultfs.Op) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.op == nil {
		f.op, f.failed, f.before = &op, map[string]bool{}, f.wrote
	}
	f.failed[path.Base(op.Path)] = true
}

// named reports whether text names a file that failed.
func (f *strike) named(text string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name := range f.failed {
		if strings.Contains(text, name) {
			return true
		}
	}
	return false
}

func (f *strike) struck() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.op != nil
}

func (f *strike) play() error { return f.run(f.s.steps()) }

// run plays steps, whichever fail, then judges.
func (f *strike) run(steps []func() error) error {
	f.s.fs.Observe(func(op faultfs.Op) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.wrote = op.Path
	})
	var first error
	for i, step := range steps {
		var err error
		opens := i == 0 || i == 14
		if f.s.e == nil && !opens {
			continue
		}
		if !inTime(soon, func() { err = step() }) {
			return fmt.Errorf("%v: step %d hangs", f.op, i)
		}
		if err != nil && first == nil {
			if first = f.judge(err); first != nil {
				return fmt.Errorf("%v: step %d: %w", f.op, i, first)
			}
			first = err
		}
		if f.s.e != nil && f.s.e.isClosed() {
			f.s.e = nil
		}
	}
	if first == nil && f.op != nil && mustTell(*f.op) && path.Base(f.before) != "SEAL" {
		return fmt.Errorf("%v: nobody was told", f.op)
	}
	return f.after()
}

func (e *Engine) isClosed() bool {
	e.state.RLock()
	defer e.state.RUnlock()
	return e.done
}

// judge says what is wrong with the first error that a fault brought about.
func (f *strike) judge(err error) error {
	if f.op == nil {
		return fmt.Errorf("an error without a fault: %w", err)
	}
	if !errors.Is(err, syscall.EIO) && !errors.Is(err, store.ErrFailed) && codeOf(err) != CodeArchiveDamaged {
		return fmt.Errorf("the cause is lost: %w", err)
	}
	if !f.named(err.Error()) {
		return fmt.Errorf("the file is not named: %w", err)
	}
	return nil
}

// mustTell reports whether a failed operation endangers what was written.
func mustTell(op faultfs.Op) bool {
	switch op.File {
	case faultfs.Other, faultfs.Temp:
		return false
	}
	switch op.Kind {
	case faultfs.Create, faultfs.Write, faultfs.Sync, faultfs.Append:
		return true
	}
	return false
}

// after heals the disk and looks at what is left: the engine that saw the fault
// answers, it closes in time, and a new one finds all that was acknowledged.
func (f *strike) after() error {
	f.s.fs.Set()
	f.s.fs.Observe(nil)
	may := f.s.now()
	// A segment that could not be read is set aside and its sessions indexed again.
	heals := f.op != nil && !f.op.Kind.Writes()
	if e := f.s.e; e != nil {
		if heals {
			e.awaitHealing(soon)
		}
		var err error
		if !inTime(soon, func() { err = e.inspect(may) }) {
			return fmt.Errorf("%v: reading hangs", f.op)
		}
		if err != nil {
			return fmt.Errorf("%v: after it: %w", f.op, err)
		}
		start := time.Now()
		if !inTime(atMost(6*time.Second), func() { err = e.Close() }) {
			return fmt.Errorf("%v: close hangs", f.op)
		}
		f.closed = time.Since(start)
		if err == nil && e.Err() != nil {
			return fmt.Errorf("%v: Close does not tell of %w", f.op, e.Err())
		}
	}
	if again := f.s.fs.Retried(); len(again) > 0 {
		return fmt.Errorf("%v: synced again after a failed sync: %v", f.op, again)
	}
	f.s.fs.Restart()
	if err := inspectOnce(f.s.fs, stageOptions, may, heals); err != nil {
		return fmt.Errorf("%v: opened again: %w", f.op, err)
	}
	for _, percent := range []int{0, 100} {
		disk, err := f.s.fs.Crash(faultfs.Crash{Percent: percent, RNG: rand.New(rand.NewPCG(1, 1))})
		if err != nil {
			return err
		}
		if err := inspectOnce(disk, stageOptions, may, heals); err != nil {
			return fmt.Errorf("%v: reopened with %d %% of what is not synced: %w", f.op, percent, err)
		}
	}
	return nil
}

// inTime reports whether run ends within d.
func inTime(d time.Duration, run func()) bool {
	done := make(chan struct{})
	go func() { defer close(done); run() }()
	select {
	case <-done:
		return true
	case <-time.After(d):
		return false
	}
}

// A goroutineWatch counts what a test leaves behind.
type goroutineWatch struct {
	t      *testing.T
	before int
}

func watchGoroutines(t *testing.T) *goroutineWatch {
	return &goroutineWatch{t, runtime.NumGoroutine()}
}

// perParked bounds the goroutines of Pebble that wait for a parked one for good.
const perParked = 24

// check holds that none of the engine's own goroutines is left, and of the store's
// only what a parked one keeps waiting.
func (w *goroutineWatch) check() {
	w.t.Helper()
	for end := time.Now().Add(soon); ; time.Sleep(20 * time.Millisecond) {
		dump := goroutines()
		all := len(dump) - w.before
		parked, ours := 0, 0
		for _, g := range dump {
			if strings.Contains(g, "(*parkFS).park") {
				parked++
			}
			if strings.Contains(g, "/engine.(*Engine)") || strings.Contains(g, "/engine.(*index)") {
				ours++
			}
		}
		if ours == 0 && all <= perParked*parked {
			w.t.Logf("%d goroutines parked, %d left in all", parked, all)
			return
		}
		if time.Now().After(end) {
			w.t.Errorf("%d goroutines of the engine and %d in all are left, %d parked:\n%s", ours, all, parked, strings.Join(dump, "\n\n"))
			return
		}
	}
}

func goroutines() []string {
	for buf := make([]byte, 1<<20); ; buf = make([]byte, 2*len(buf)) {
		if n := runtime.Stack(buf, true); n < len(buf) {
			return strings.Split(string(buf[:n]), "\n\n")
		}
	}
}
