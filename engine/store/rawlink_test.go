package store

import (
	"bytes"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestRawKeptLater: a cursor made while source bytes were dropped links them once they
// are kept, though nothing else about it changes.
func TestRawKeptLater(t *testing.T) {
	fs := vfs.NewMem()
	b := []byte("bytes")
	put := func(drop bool) {
		s, err := Open("store", Options{FS: fs, DropRaw: drop})
		if err != nil {
			t.Fatal(err)
		}
		id := putRaw(t, s, b)
		z := seal(t, s, say("r", "x"))
		z.Raw, z.Path = []RawID{id}, "p"
		commitAs(t, s, Commit{Sessions: []*Sealed{z}, Cursors: []Cursor{{Path: "p", Raw: id}}})
		wantClean(t, s)
		if !drop {
			if err := s.Delete(t.Context(), z.sum.No); err != nil {
				t.Fatal(err)
			}
			wantRaw(t, s, id, bytes.Clone(b)) // the cursor still stands in them
			wantClean(t, s)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	put(true)
	put(false)
}
