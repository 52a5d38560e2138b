package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// faulty makes some operations of a file system fail while on.
type faulty struct {
	on  atomic.Bool
	hit atomic.Int64
	err error
	is  func(errorfs.Op) bool
}

func (f *faulty) String() string { return "faulty" }

func (f *faulty) MaybeError(op errorfs.Op) error {
	if f.on.Load() && f.is(op) {
		f.hit.Add(1)
		return f.err
	}
	return nil
}

func named(part string, kinds ...errorfs.OpKind) func(errorfs.Op) bool {
	return func(op errorfs.Op) bool {
		for _, k := range kinds {
			if op.Kind == k {
				return strings.Contains(op.Path, part)
			}
		}
		return false
	}
}

var failures = []struct {
	name string
	is   func(errorfs.Op) bool
	err  error
}{
	{"log sync", named(".log", errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo), syscall.EIO},
	{"log write", named(".log", errorfs.OpFileWrite), syscall.EIO},
	{"log full", named(".log", errorfs.OpFileWrite), syscall.ENOSPC},
	{"log create", named(".log", errorfs.OpCreate, errorfs.OpReuseForWrite), syscall.EIO},
	{"manifest write", named("MANIFEST", errorfs.OpFileWrite), syscall.EIO},
	{"table write", named(".sst", errorfs.OpFileWrite), syscall.EIO},
	{"table create", named(".sst", errorfs.OpCreate), syscall.ENOSPC},
}

// TestWriteFails: whatever write fails, callers get ErrFailed, reads go on, Close
// returns, and a store opened on what is on disk has all that was acknowledged.
func TestWriteFails(t *testing.T) {
	for _, c := range failures {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			mem := vfs.NewCrashableMem()
			inj := &faulty{err: c.err, is: c.is}
			s, err := Open("store", Options{FS: errorfs.Wrap(mem, inj), CloseTimeout: 2 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			r := rng(t, 11)
			kept := randomSession(r, "kept", 20)
			commit(t, s, kept)
			inj.on.Store(true)
			err = writeUntilFailure(s, r.Uint64())
			if !errors.Is(err, ErrFailed) || !errors.Is(err, c.err) {
				t.Fatalf("error %v, want ErrFailed because of %v", err, c.err)
			}
			if errors.Is(err, ErrDiskFull) != (c.err == syscall.ENOSPC) {
				t.Errorf("error %v: is ErrDiskFull %v", err, errors.Is(err, ErrDiskFull))
			}
			start := time.Now()
			if _, err := s.NewRevision("a:b"); !errors.Is(err, ErrFailed) {
				t.Errorf("NewRevision: %v", err)
			}
			if err := s.SetTitle(context.Background(), "a:b", "t"); !errors.Is(err, ErrFailed) {
				t.Errorf("SetTitle: %v", err)
			}
			if d := time.Since(start); d > time.Second {
				t.Errorf("writes took %v to fail", d)
			}
			wantSession(t, snap(t, s), kept)
			inj.on.Store(false)
			clone := mem.CrashClone(vfs.CrashCloneCfg{})
			start = time.Now()
			err = s.Close()
			if d := time.Since(start); d > 5*time.Second {
				t.Errorf("Close took %v", d)
			}
			t.Logf("close: %v; parked %d", err, s.Parked())
			again := openMem(t, clone)
			wantSession(t, snap(t, again), kept)
			wantClean(t, again)
			if err := again.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// writeUntilFailure commits sessions, enough to fill memtables, until one fails.
func writeUntilFailure(s *Store, seed uint64) error {
	done := make(chan error, 1)
	go func() {
		filler := &faultlessReader{seed: seed}
		for {
			id, _, err := s.PutRaw(context.Background(), io.LimitReader(filler, 4<<20), RawMeta{Path: "p"})
			if err == nil {
				_, err = s.Commit(context.Background(), Commit{Cursors: []Cursor{{Path: fmt.Sprint(id), Raw: id}}})
			}
			if err != nil {
				done <- err
				return
			}
		}
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(20 * time.Second):
		return errors.New("no write failed in 20 s")
	}
}

// faultlessReader gives bytes that do not compress.
type faultlessReader struct{ seed uint64 }

func (f *faultlessReader) Read(p []byte) (int, error) {
	for i := range p {
		f.seed = f.seed*6364136223846793005 + 1442695040888963407
		p[i] = byte(f.seed >> 56)
	}
	return len(p), nil
}

// TestOpenFails: errors while opening are returned, and nothing is parked or locked.
func TestOpenFails(t *testing.T) {
	for _, kind := range []errorfs.OpKind{errorfs.OpCreate, errorfs.OpFileSync, errorfs.OpFileWrite, errorfs.OpRename} {
		inj := &faulty{err: syscall.EIO, is: named("store", kind)}
		inj.on.Store(true)
		fs := errorfs.Wrap(vfs.NewMem(), inj)
		if s, err := Open("store", Options{FS: fs}); err == nil {
			t.Errorf("%v fails, Open does not", kind)
			_ = s.Close() // the test has failed anyway
			continue
		}
		inj.on.Store(false)
		s, err := Open("store", Options{FS: fs})
		if err != nil {
			t.Errorf("second Open after a failing %v: %v", kind, err)
			continue
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestFatal: Pebble's fatal error ends its goroutine, not the process.
func TestFatal(t *testing.T) {
	f := &failure{ch: make(chan struct{})}
	l := &pebbleLogger{log: slog.New(slog.DiscardHandler), fail: f}
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.Fatalf("broken: %v", syscall.EIO)
		panic("Fatalf returned")
	}()
	<-done
	if err := f.error(); !errors.Is(err, ErrFailed) || !errors.Is(err, syscall.EIO) {
		t.Errorf("error %v", err)
	}
}

// TestWriterEnds: a write whose goroutine Pebble ends takes no caller with it.
func TestWriterEnds(t *testing.T) {
	s := openMem(t, vfs.NewMem())
	l := &pebbleLogger{log: slog.New(slog.DiscardHandler), fail: &s.fail}
	err := s.do(context.Background(), func() error { l.Fatalf("x: %v", syscall.EIO); return nil })
	if !errors.Is(err, ErrFailed) {
		t.Errorf("error %v", err)
	}
	if err := s.Close(); !errors.Is(err, ErrFailed) {
		t.Errorf("Close: %v", err)
	}
}

func TestMapErr(t *testing.T) {
	if mapErr(nil) != nil || !errors.Is(mapErr(pebble.ErrClosed), ErrClosed) || !errors.Is(mapErr(pebble.ErrNotFound), ErrNotFound) {
		t.Error("plain errors are mapped wrongly")
	}
	if err := mapErr(fmt.Errorf("x: %w", pebble.ErrCorruption)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("%v is not ErrCorrupt", err)
	}
}
