package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/internal/faultfs"
)

var failures = []struct {
	name string
	is   faultfs.Match
	err  error
}{
	{"log sync", faultfs.On([]faultfs.Kind{faultfs.Sync}, faultfs.WAL), syscall.EIO},
	{"log write", faultfs.On([]faultfs.Kind{faultfs.Write}, faultfs.WAL), syscall.EIO},
	{"log full", faultfs.On([]faultfs.Kind{faultfs.Write}, faultfs.WAL), syscall.ENOSPC},
	{"log create", faultfs.On([]faultfs.Kind{faultfs.Create, faultfs.Reuse}, faultfs.WAL), syscall.EIO},
	{"manifest write", faultfs.On([]faultfs.Kind{faultfs.Write}, faultfs.Manifest), syscall.EIO},
	{"table write", faultfs.On([]faultfs.Kind{faultfs.Write}, faultfs.Table), syscall.EIO},
	{"table create", faultfs.On([]faultfs.Kind{faultfs.Create}, faultfs.Table), syscall.ENOSPC},
}

// TestWriteFails: whatever write fails, callers get ErrFailed, reads go on, Close
// returns, and a store opened on what is on disk has all that was acknowledged.
func TestWriteFails(t *testing.T) {
	for _, c := range failures {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			mem := vfs.NewCrashableMem()
			fs := faultfs.New(mem)
			s, err := Open("store", Options{FS: fs, CloseTimeout: 2 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			r := rng(t, 11)
			kept := randomSession(r, "kept", 20)
			commit(t, s, kept)
			fs.Set(faultfs.Fail(c.is, c.err))
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
			if d := time.Since(start); d > atMost(time.Second) {
				t.Errorf("writes took %v to fail", d)
			}
			wantSession(t, snap(t, s), kept)
			fs.Set()
			clone := mem.CrashClone(vfs.CrashCloneCfg{})
			start = time.Now()
			err = s.Close()
			if d := time.Since(start); d > atMost(5*time.Second) {
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

// TestNothingIsAcknowledgedBeforeItsLog: the first write whose log cannot be synced is
// told, so none is acknowledged earlier than that.
func TestNothingIsAcknowledgedBeforeItsLog(t *testing.T) {
	ctx := context.Background()
	for name, write := range map[string]func(*Store, *Sealed, No) error{
		"Commit": func(s *Store, z *Sealed, _ No) error {
			_, err := s.Commit(ctx, Commit{Sessions: []*Sealed{z}})
			return err
		},
		"Delete":   func(s *Store, _ *Sealed, no No) error { return s.Delete(ctx, no) },
		"SetTitle": func(s *Store, _ *Sealed, _ No) error { return s.SetTitle(ctx, "a:b", "title") },
		"PublishSegments": func(s *Store, _ *Sealed, _ No) error {
			return s.PublishSegments(ctx, []SegmentRecord{{Name: "x"}}, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			fs := faultfs.New(vfs.NewCrashableMem())
			s, err := Open("store", Options{FS: fs, CloseTimeout: 2 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			kept := say("kept", "text")
			commit(t, s, kept)
			no, _, err := snap(t, s).Lookup(kept.head.ID())
			if err != nil {
				t.Fatal(err)
			}
			next := seal(t, s, say("next", "text"))
			idle(t, s)
			fs.Set(faultfs.Fail(faultfs.On([]faultfs.Kind{faultfs.Sync}, faultfs.WAL), syscall.EIO))
			if err := write(s, next, no); !errors.Is(err, ErrFailed) || !errors.Is(err, syscall.EIO) {
				t.Errorf("error %v, want ErrFailed because of %v", err, syscall.EIO)
			}
			fs.Set()
			_ = s.Close() // a store that has failed does not close well
		})
	}
}

// idle waits until the writer has ended what it was given, whatever it has said of it.
func idle(t *testing.T, s *Store) {
	t.Helper()
	reached := make(chan struct{})
	if err := s.do(context.Background(), func() error { close(reached); return nil }); err != nil {
		t.Fatal(err)
	}
	<-reached
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
	case <-time.After(time.Minute):
		return errors.New("no write failed in a minute")
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

// TestOpenFails: errors while opening are returned, and nothing is locked.
func TestOpenFails(t *testing.T) {
	for _, kind := range []faultfs.Kind{faultfs.Create, faultfs.Sync, faultfs.Write, faultfs.Rename} {
		fs := faultfs.New(vfs.NewMem())
		fs.Set(faultfs.Fail(faultfs.On([]faultfs.Kind{kind}), syscall.EIO))
		if s, err := Open("store", Options{FS: fs}); err == nil {
			t.Errorf("%v fails, Open does not", kind)
			_ = s.Close() // the test has failed anyway
			continue
		}
		fs.Set()
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

// TestOpenFailsWithLeftovers: when Pebble has begun to flush what a crash left, a
// failing operation parks it instead of leaving its goroutines without their files,
// and the folder can be opened again at once.
func TestOpenFailsWithLeftovers(t *testing.T) {
	mem := vfs.NewCrashableMem()
	s := openMem(t, mem)
	kept := randomSession(rng(t, 71), "kept", 20)
	commit(t, s, kept)
	disk := faultfs.New(mem.CrashClone(vfs.CrashCloneCfg{}))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		is   faultfs.Match
	}{
		{"table write", faultfs.On([]faultfs.Kind{faultfs.Write}, faultfs.Table)},
		{"manifest sync", faultfs.On([]faultfs.Kind{faultfs.Sync}, faultfs.Manifest)},
		{"log create", faultfs.On([]faultfs.Kind{faultfs.Create}, faultfs.WAL)},
	} {
		disk.Set(faultfs.Fail(c.is, syscall.EIO))
		if _, err := Open("store", Options{FS: disk}); !errors.Is(err, syscall.EIO) || errors.Is(err, ErrRestart) {
			t.Errorf("%s fails: Open gives %v", c.name, err)
		}
		disk.Set()
	}
	again := openMem(t, disk)
	wantSession(t, snap(t, again), kept)
	wantClean(t, again)
	if err := again.Close(); err != nil {
		t.Error(err)
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

// TestSeal: a MANIFEST that is not what was closed is named and nothing is opened; an
// older seal stays true, a damaged one says nothing, and damaged OPTIONS go.
func TestSeal(t *testing.T) {
	mem := vfs.NewMem()
	for _, name := range []string{"one", "two"} {
		s := openMem(t, mem)
		commit(t, s, say(name, "text"))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	manifest, options := "", ""
	names, err := mem.List("store")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	for _, n := range names {
		if strings.HasPrefix(n, "MANIFEST-") {
			manifest = n
		}
		if isOptions(n) {
			options = n
		}
	}
	change := func(name string, how func([]byte) []byte) (undo func()) {
		path := mem.PathJoin("store", name)
		b, err := readAll(mem, path)
		if err == nil {
			err = faultfs.Replace(mem, path, how(bytes.Clone(b)))
		}
		if err != nil {
			t.Fatal(err)
		}
		return func() {
			if err := faultfs.Replace(mem, path, b); err != nil {
				t.Fatal(err)
			}
		}
	}
	flip := func(b []byte) []byte { b[len(b)-2] ^= 4; return b }
	for _, how := range []func([]byte) []byte{flip, func(b []byte) []byte { return b[:len(b)-9] }} {
		undo := change(manifest, how)
		if _, err := Open("store", Options{FS: mem}); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), manifest) {
			t.Errorf("a damaged MANIFEST: %v", err)
		}
		undo()
	}
	change(options, flip)
	undo := change(sealFile, func([]byte) []byte { return []byte("hansard seal 1\nnonsense") })
	openMem(t, mem).Close()
	undo()
	s := openMem(t, mem) // with the seal of another MANIFEST
	defer s.Close()
	if n, err := snap(t, s).IDs("", 0); err != nil || len(n) != 2 {
		t.Errorf("%v, %v", n, err)
	}
}
