package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/internal/faultfs"
	"github.com/hansard-search/hansard/engine/store"
)

// TestOpenOnFullDisk opens what a killed process left, on disks with every room from
// nothing to enough: it opens, for reading if not for writing, and answers completely;
// who writes is told why not; with room again it opens as if nothing had been.
func TestOpenOnFullDisk(t *testing.T) {
	left := watchGoroutines(t)
	r := seeded(t)
	disk, may := crashedDisk(t, r)
	step := int64(1 << 10)
	if *long {
		step = 64
	} else if testing.Short() {
		step = 8 << 10
	}
	for _, held := range []bool{false, true} {
		full, room := 0, int64(0)
		for {
			f := &fullOpening{disk: disk, may: may, held: held}
			was, err := f.try(func(fs *faultfs.FS) { fs.Limit(room) })
			if err != nil {
				t.Fatalf("room for %d bytes (lock held by the caller: %v): %v", room, held, err)
			}
			if !was {
				break
			}
			full++
			room += step
		}
		t.Logf("lock held %v: %d full disks; %d bytes are enough", held, full, room)
		if full == 0 {
			t.Error("no disk was full")
		}
	}
	left.check()
}

// TestOpenWithoutInodes is the same where the n-th change of the disk fails and all
// after it, whatever it is: a disk can also have no room for a name, and a quota ends
// like a disk.
func TestOpenWithoutInodes(t *testing.T) {
	left := watchGoroutines(t)
	disk, may := crashedDisk(t, seeded(t))
	everyNth(t, 3, func(n int64, forever bool) (bool, error) {
		f := &fullOpening{disk: disk, may: may, held: n%2 == 0}
		errno := []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT}[n/2%2]
		var struck atomic.Bool
		_, err := f.try(func(fs *faultfs.FS) {
			fs.Set(faultfs.Nth(n, forever, func(o faultfs.Op) bool { return o.Kind.Writes() && o.Kind != faultfs.Remove }, errno,
				func(faultfs.Op) { struck.Store(true) }))
		})
		return struck.Load(), err
	})
	left.check()
}

// TestFullDiskIsNotFilled: openings on a full disk leave no tables behind.
func TestFullDiskIsNotFilled(t *testing.T) {
	r := seeded(t)
	tried := 0
	for range 20 {
		disk, may := crashedDisk(t, r)
		full, err := openThrice(faultfs.New(disk), may)
		if err != nil {
			t.Fatal(err)
		}
		if full {
			tried++
		}
		if tried == 2 {
			return
		}
	}
	t.Error("no archive had anything only in its log")
}

// openThrice opens an archive where a table can only be half written. It reports false
// if none is to be.
func openThrice(fs *faultfs.FS, may ledger) (full bool, err error) {
	o := stageOptions
	o.FS, o.Now = fs, func() time.Time { return testNow }
	fs.Set(func(op faultfs.Op) error {
		if op.Kind == faultfs.Write && op.File == faultfs.Table {
			return &faultfs.Short{Keep: op.Bytes / 2, Err: syscall.ENOSPC}
		}
		return nil
	})
	before, err := tables(fs)
	if err != nil {
		return false, err
	}
	for range 3 {
		e, err := Open(stageDir, o)
		if err != nil {
			return false, err
		}
		if e.Err() == nil {
			_ = e.Close() // which writes the first table, and cannot
			return false, nil
		}
		if err := errors.Join(e.inspect(may), e.Close()); err != nil {
			return true, err
		}
		now, err := tables(fs)
		if err != nil || !slices.Equal(now, before) {
			return true, fmt.Errorf("tables %v, before %v: %w", now, before, err)
		}
	}
	return true, nil
}

func tables(fs store.FS) ([]string, error) {
	names, err := fs.List(stageDir)
	return slices.DeleteFunc(names, func(n string) bool { return !strings.HasSuffix(n, ".sst") }), err
}

// A fullOpening is one opening of a copy of a disk that has filled up.
type fullOpening struct {
	disk *vfs.MemFS
	may  ledger
	held bool // the caller has the lock
}

// try opens the archive and reports whether it was too full to be written.
func (f *fullOpening) try(fill func(*faultfs.FS)) (full bool, err error) {
	fs := faultfs.New(f.disk.CrashClone(vfs.CrashCloneCfg{}))
	o := stageOptions
	o.FS, o.Now = fs, func() time.Time { return testNow }
	if f.held {
		if o.Lock, err = store.TakeLock(stageDir, fs); err != nil {
			return false, err
		}
	}
	fill(fs)
	e, err := Open(stageDir, o)
	if err != nil {
		return false, fmt.Errorf("open: %w", err)
	}
	full = e.Err() != nil
	if err := f.judge(e); err != nil {
		return full, errors.Join(err, e.Close())
	}
	if err := e.Close(); err != nil && (!store.IsFull(err) || errors.Is(err, store.ErrRestart)) {
		return full, fmt.Errorf("close: %w", err)
	}
	if o.Lock != nil {
		if err := o.Lock.Close(); err != nil {
			return full, err
		}
	}
	fs.Set()
	fs.Limit(1 << 40)
	fs.Restart()
	if err := inspect(fs, stageOptions, f.may); err != nil {
		return full, fmt.Errorf("with room again: %w", err)
	}
	return full, nil
}

// judge looks at an archive that is open, for writing or only for reading.
func (f *fullOpening) judge(e *Engine) error {
	err := e.Err()
	if err == nil {
		return e.inspect(f.may)
	}
	if codeOf(err) != CodeDiskFull {
		return fmt.Errorf("code %s of %w", codeOf(err), err)
	}
	if err := e.inspect(f.may); err != nil {
		return fmt.Errorf("read on the full disk: %w", err)
	}
	ctx := context.Background()
	env, err := e.Search(ctx, SearchRequest{Query: "everywhere"})
	if err != nil || env.ReadOnly == nil || env.ReadOnly.Code != CodeDiskFull || env.ReadOnly.Hint == "" || !env.Exact {
		return fmt.Errorf("the answer says nothing of the disk: %+v, %w", env, err)
	}
	st, err := e.Stats(ctx)
	if err != nil || st.ReadOnly == nil || st.ReadOnly.Code != CodeDiskFull {
		return fmt.Errorf("the status says nothing of the disk: %w", err)
	}
	_, imported := e.Import(ctx, ImportRequest{Paths: []string{"nowhere"}})
	_, rebuilt := e.Rebuild(ctx, nil)
	for _, err := range []error{imported, rebuilt} {
		if codeOf(err) != CodeDiskFull {
			return fmt.Errorf("a write on the full disk: %w", err)
		}
	}
	return nil
}
