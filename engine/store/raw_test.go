package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/archive"
)

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func putRaw(t testing.TB, s *Store, b []byte) RawID {
	t.Helper()
	id, size, err := s.PutRaw(context.Background(), bytes.NewReader(b), RawMeta{Path: "p", Origin: archive.Codex, ModTime: archive.NoTime})
	if err != nil || size != int64(len(b)) || id != sha256.Sum256(b) {
		t.Fatalf("PutRaw = %v, %d, %v", id, size, err)
	}
	return id
}

func wantRaw(t testing.TB, s *Store, id RawID, want []byte) {
	t.Helper()
	r, err := s.OpenRaw(id)
	if err != nil {
		t.Fatalf("OpenRaw: %v", err)
	}
	got, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("raw bytes: %d of %d, %v", len(got), len(want), err)
	}
}

// keys counts the keys under a prefix.
func keys(t testing.TB, s *Store, prefix byte) int {
	t.Helper()
	n := 0
	if err := scan(s.db, []byte{prefix}, func(_, _ []byte) error { n++; return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestRawGrows: a file that grows leaves only its last bytes, and shares full chunks.
func TestRawGrows(t *testing.T) {
	s := newStore(t)
	r := rng(t, 8)
	all := randomBytes(r, 3*chunkBytes+99)
	for _, n := range []int{0, 1, chunkBytes - 1, chunkBytes, chunkBytes + 1, 2*chunkBytes + 7, len(all)} {
		id := putRaw(t, s, all[:n])
		z := seal(t, s, say("r", "same"))
		z.Raw, z.Path = []RawID{id}, "p"
		commitAs(t, s, Commit{Sessions: []*Sealed{z}, Cursors: []Cursor{{Path: "p", Raw: id}}})
		wantRaw(t, s, id, all[:n])
		if raws, chunks := keys(t, s, prefixRaw), keys(t, s, prefixChunk); raws != 1 || chunks != (n+chunkBytes-1)/chunkBytes {
			t.Fatalf("after %d bytes: %d raws, %d chunks", n, raws, chunks)
		}
		wantClean(t, s)
	}
	if n := keys(t, s, prefixUpload); n != 0 {
		t.Errorf("%d uploads are still marked", n)
	}
}

// TestRawRewritten: bytes that are no prefix of what replaces them are kept.
func TestRawRewritten(t *testing.T) {
	s := newStore(t)
	r := rng(t, 9)
	a, b := randomBytes(r, 1000), randomBytes(r, 2000)
	put := func(bytes []byte) RawID {
		id := putRaw(t, s, bytes)
		z := seal(t, s, say("r", string(bytes[:1])))
		z.Raw = []RawID{id}
		commitAs(t, s, Commit{Sessions: []*Sealed{z}, Cursors: []Cursor{{Path: "p", Raw: id}}})
		return id
	}
	ida, idb := put(a), put(b)
	wantRaw(t, s, ida, a)
	wantRaw(t, s, idb, b)
	sn := snap(t, s)
	no, _, err := sn.Lookup(say("r").head.ID())
	if err != nil {
		t.Fatal(err)
	}
	if p, err := sn.Summary(no); err != nil || len(p.Raw) != 1 || p.Raw[0] != idb {
		t.Errorf("the session came from %v, %v", p.Raw, err)
	}
	if err := s.Delete(context.Background(), no); err != nil {
		t.Fatal(err)
	}
	wantRaw(t, s, idb, b) // the cursor still stands in them
	wantClean(t, s)
}

// TestRawUncommitted: bytes that no commit named are gone after a reopening, and
// bytes that were put again and are linked are not.
func TestRawUncommitted(t *testing.T) {
	fs := vfs.NewMem()
	s := openMem(t, fs)
	kept, lost := []byte("kept"), []byte("lost")
	id := putRaw(t, s, kept)
	commitAs(t, s, Commit{Cursors: []Cursor{{Path: "p", Raw: id}}})
	putRaw(t, s, kept)
	gone := putRaw(t, s, lost)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openMem(t, fs)
	defer s.Close()
	wantRaw(t, s, id, kept)
	if _, err := s.OpenRaw(gone); !errors.Is(err, ErrNotFound) {
		t.Errorf("uncommitted bytes: %v", err)
	}
	if n := keys(t, s, prefixChunk); n != 1 {
		t.Errorf("%d chunks", n)
	}
	wantClean(t, s)
}

func TestRawDamaged(t *testing.T) {
	s := openMem(t, vfs.NewMem())
	defer s.Close()
	b := randomBytes(rng(t, 10), chunkBytes+5)
	id := putRaw(t, s, b)
	commitAs(t, s, Commit{Cursors: []Cursor{{Path: "p", Raw: id}}})
	sum := sha256.Sum256(b[chunkBytes:])
	if err := s.db.Set(keyHash(prefixChunk, sum), s.appendChunk(nil, []byte("other")), pebble.Sync); err != nil {
		t.Fatal(err)
	}
	r, err := s.OpenRaw(id)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if !errors.Is(err, ErrCorrupt) || len(got) != chunkBytes {
		t.Errorf("read %d bytes, %v; want the first chunk and ErrCorrupt", len(got), err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestRawDropped(t *testing.T) {
	s, err := Open("store", Options{FS: vfs.NewMem(), DropRaw: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	id := putRaw(t, s, []byte("bytes"))
	z := seal(t, s, say("r", "x"))
	z.Raw = []RawID{id}
	out := commitAs(t, s, Commit{Sessions: []*Sealed{z}, Cursors: []Cursor{{Path: "p", Raw: id}}})
	if len(out[0].Summary.Raw) != 0 || keys(t, s, prefixChunk) != 0 {
		t.Error("bytes are kept although they shall be dropped")
	}
	wantClean(t, s)
}

// TestRawUnknown: a commit cannot name bytes that are not there.
func TestRawUnknown(t *testing.T) {
	s := newStore(t)
	z := seal(t, s, say("r", "x"))
	z.Raw = []RawID{{1}}
	if _, err := s.Commit(context.Background(), Commit{Sessions: []*Sealed{z}}); !errors.Is(err, ErrNotFound) {
		t.Errorf("Commit: %v, want ErrNotFound", err)
	}
}
