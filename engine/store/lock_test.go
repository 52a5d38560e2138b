package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/internal/faultfs"
)

// TestLock: one writer, or many readers, under whatever name they know the folder.
func TestLock(t *testing.T) {
	tmp := t.TempDir()
	dir := filepath.Join(tmp, "store")
	other := filepath.Join(tmp, "other")
	if err := os.Symlink(dir, other); err != nil {
		t.Skip(err)
	}
	lock, err := TakeLock(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir, Options{Lock: lock})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{Lock: lock}); !errors.Is(err, ErrLocked) {
		t.Errorf("a second store with the same lock: %v", err)
	}
	for _, name := range []string{dir, other, filepath.Join(tmp, ".", "other")} {
		if _, err := TakeLock(name, nil); !errors.Is(err, ErrLocked) {
			t.Errorf("the lock of %s a second time: %v", name, err)
		}
		for _, readOnly := range []bool{false, true} {
			if _, err := Open(name, Options{ReadOnly: readOnly}); !errors.Is(err, ErrLocked) {
				t.Errorf("open %s, read-only %v: %v", name, readOnly, err)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrLocked) {
		t.Errorf("the store gave up a lock that is not its own: %v", err)
	}
	if err := errors.Join(lock.Close(), nil); err != nil {
		t.Fatal(err)
	}
	a, err := Open(dir, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(other, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, reader := range []*Store{a, b} {
		if _, err := Open(dir, Options{}); !errors.Is(err, ErrLocked) {
			t.Errorf("a writer beside readers: %v", err)
		}
		if err := reader.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if s, err = Open(dir, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestReadersNeedNoLockFile: a store that is only read need not have a lock file, and
// gets none.
func TestReadersNeedNoLockFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, lockFile)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(dir, Options{ReadOnly: true}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the lock file: %v", err)
	}
}

// TestLockInMemory: file systems in memory have locks of their own.
func TestLockInMemory(t *testing.T) {
	fs := vfs.NewMem()
	lock, err := TakeLock("store", fs)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open("store", Options{FS: fs, Lock: lock})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), lock.Close()); err != nil {
		t.Error(err)
	}
}

// TestLockedUntilSealed: whoever waits for the lock does not get it while a closing
// store removes logs and writes its seal.
func TestLockedUntilSealed(t *testing.T) {
	mem := vfs.NewMem()
	fs := faultfs.New(mem)
	s, err := Open("store", Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	commit(t, s, say("a", "one"))
	sealed := false
	fs.Observe(func(op faultfs.Op) {
		if !strings.HasSuffix(op.Path, sealFile) {
			return
		}
		sealed = true
		if l, err := TakeLock("store", mem); !errors.Is(err, ErrLocked) {
			t.Errorf("%v %s: the lock is free (%v, %v)", op.Kind, op.Path, l, err)
		}
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !sealed {
		t.Error("no seal was written")
	}
	l, err := TakeLock("store", mem)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}
