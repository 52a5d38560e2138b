package store

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

func readAll(fs FS, name string) ([]byte, error) {
	f, err := fs.Open(name)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	return b, errors.Join(err, f.Close())
}

// content describes every file of the store.
func content(t *testing.T, fs FS) string {
	t.Helper()
	names, err := fs.List("store")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		data, err := readAll(fs, fs.PathJoin("store", name))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %d %08x\n", name, len(data), crc32.ChecksumIEEE(data))
	}
	return b.String()
}

// TestReadOnly: a read-only store reads, refuses to write, and changes no byte.
func TestReadOnly(t *testing.T) {
	fs := vfs.NewMem()
	if _, err := Open("store", Options{FS: fs, ReadOnly: true}); !errors.Is(err, ErrNotFound) {
		t.Errorf("read-only Open of nothing: %v", err)
	}
	s := openMem(t, fs)
	z := randomSession(rng(t, 40), "z", 20)
	commit(t, s, z)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before := content(t, fs)
	s, err := Open("store", Options{FS: fs, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	wantSession(t, snap(t, s), z)
	wantClean(t, s)
	if _, err := s.NewRevision("a:b"); !errors.Is(err, ErrReadOnly) {
		t.Errorf("NewRevision: %v", err)
	}
	if err := s.SetTitle(context.Background(), "a:b", "t"); !errors.Is(err, ErrReadOnly) {
		t.Errorf("SetTitle: %v", err)
	}
	if _, _, err := s.PutRaw(context.Background(), strings.NewReader("x"), RawMeta{}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("PutRaw: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if after := content(t, fs); after != before {
		t.Errorf("files before:\n%s\nafter:\n%s", before, after)
	}
}

// TestNewerFormat: a newer store is refused and not touched.
func TestNewerFormat(t *testing.T) {
	fs := vfs.NewMem()
	s := openMem(t, fs)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]error{"hansard store 2\n": ErrVersion, "hansard store 0\n": ErrCorrupt, "x": ErrCorrupt, "": ErrCorrupt} {
		name := fs.PathJoin("store", formatFile)
		if err := fs.Remove(name); err != nil {
			t.Fatal(err)
		}
		f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		before := content(t, fs)
		for _, readOnly := range []bool{false, true} {
			if _, err := Open("store", Options{FS: fs, ReadOnly: readOnly}); !errors.Is(err, want) {
				t.Errorf("format %q: %v, want %v", text, err, want)
			}
		}
		if after := content(t, fs); after != before {
			t.Errorf("format %q: files before:\n%s\nafter:\n%s", text, before, after)
		}
	}
}

// TestNewerKey: the format inside the database counts too.
func TestNewerKey(t *testing.T) {
	fs := vfs.NewMem()
	s := openMem(t, fs)
	if err := s.db.Set(keyFormat, []byte{Format + 1}, pebble.Sync); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open("store", Options{FS: fs}); !errors.Is(err, ErrVersion) {
		t.Errorf("Open: %v, want ErrVersion", err)
	}
}

// TestDiskModes: on a disk only the owner reads.
func TestDiskModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	commit(t, s, say("m", "x"))
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrLocked) {
		t.Errorf("second Open: %v, want ErrLocked", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 && d.Name() != "LOCK" {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestClose(t *testing.T) {
	s := openMem(t, vfs.NewMem())
	z := say("c", "one", "two")
	commit(t, s, z)
	sn := snap(t, s)
	no, _, err := sn.Lookup(z.head.ID())
	if err != nil {
		t.Fatal(err)
	}
	for m, err := range sn.Messages(no, 0) {
		if m == nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil { // in use, and twice
			t.Fatal(err)
		}
	}
	if _, err := sn.Head(no); !errors.Is(err, ErrClosed) {
		t.Errorf("Head: %v", err)
	}
	if _, err := s.Snapshot(); !errors.Is(err, ErrClosed) {
		t.Errorf("Snapshot: %v", err)
	}
	if _, err := s.NewRevision("a:b"); !errors.Is(err, ErrClosed) {
		t.Errorf("NewRevision: %v", err)
	}
	if err := s.SetTitle(context.Background(), "a:b", "t"); !errors.Is(err, ErrClosed) {
		t.Errorf("SetTitle: %v", err)
	}
	if err := sn.Close(); err != nil {
		t.Errorf("snapshot's Close: %v", err)
	}
}

// TestCancelled: a cancelled write did not happen.
func TestCancelled(t *testing.T) {
	s := newStore(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Commit(ctx, Commit{Sessions: []*Sealed{seal(t, s, say("c", "x"))}}); !errors.Is(err, context.Canceled) {
		t.Errorf("Commit: %v", err)
	}
	if s.Generation() != 0 {
		t.Errorf("generation %d", s.Generation())
	}
}
