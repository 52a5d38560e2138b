package store

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// flipAt turns a bit of a file over.
func flipAt(t testing.TB, fs vfs.FS, path string, at int64) {
	t.Helper()
	f, err := fs.OpenReadWrite(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	one := make([]byte, 1)
	_, err = f.ReadAt(one, at)
	one[0] ^= 1
	_, err2 := f.WriteAt(one, at)
	if err := errors.Join(err, err2, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func mustCheck(t testing.TB, s *Store) []Fault {
	t.Helper()
	faults, err := s.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return faults
}

// TestDamageIsQuick turns a bit of a large block over, far from its start: to read it
// gives ErrCorrupt and takes no longer than to read, and so does what Pebble does with
// it in the background, to which Close holds.
func TestDamageIsQuick(t *testing.T) {
	fs := vfs.NewMem()
	s := openMem(t, fs)
	r := rng(t, 21)
	bytesOf := map[RawID][]byte{}
	for range 5 {
		b := randomBytes(r, chunkBytes)
		id := putRaw(t, s, b)
		commitAs(t, s, Commit{Cursors: []Cursor{{Path: id.String(), Raw: id}}})
		bytesOf[id] = b
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var path string // of the largest table, of three chunks or more
	var size int64
	for _, p := range tablesOf(t, fs, s.Dir()) {
		if info, err := fs.Stat(p); err == nil && info.Size() > size {
			path, size = p, info.Size()
		}
	}
	flipAt(t, fs, path, size/2)
	began := time.Now()
	s = openMem(t, fs)
	if faults, err := s.Check(t.Context()); err != nil || len(faults) != 1 || faults[0].Kind != FaultRaw || !strings.Contains(faults[0].What, "source bytes of p (") {
		t.Errorf("check: %v, %v", faults, err)
	}
	damaged := 0
	for id, b := range bytesOf {
		raw, err := s.OpenRaw(id)
		if err == nil {
			_, err = io.Copy(io.Discard, raw)
			err = errors.Join(err, raw.Close())
		}
		if err == nil {
			continue
		}
		damaged++
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), path) {
			t.Errorf("damaged source bytes: %v", err)
		}
		if again := putRaw(t, s, b); again != id {
			t.Errorf("put again: %v, want %v", again, id)
		}
		wantRaw(t, s, id, b)
	}
	if damaged != 1 {
		t.Errorf("%d source bytes are damaged, want 1", damaged)
	}
	for _, f := range mustCheck(t, s) { // nothing needs what is damaged
		if f.Kind != FaultTable {
			t.Errorf("check: %v", f)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > atMost(2*time.Second) {
		t.Errorf("took %v", took)
	}
}
