package engine

import (
	"testing"
	"time"
)

// TestSearchBesideImport: while an import runs, a search answers with what was there
// before, or what the index has caught up with, and does no indexing of its own; when
// the import returns, all of it is found.
func TestSearchBesideImport(t *testing.T) {
	r := seeded(t)
	w := newWorld(t, Options{})
	w.put(randomScripts(r, 3)...)
	w.load()
	before := w.search(SearchRequest{})
	names := w.put(randomScripts(r, 9)...)
	if before.Total != 3 || len(names) != 9 {
		t.Fatalf("%d sessions, then %d", before.Total, len(names))
	}
	seen := map[int]bool{}
	w.failpoint = func(point string) {
		if point != "committed" {
			return
		}
		if got := w.search(SearchRequest{}); got.Total != before.Total || got.IndexGeneration != before.IndexGeneration {
			t.Errorf("a search beside the import finds %d sessions of generation %d, want %d of %d", got.Total, got.IndexGeneration, before.Total, before.IndexGeneration)
		}
		seen[w.search(SearchRequest{}).Total] = true
	}
	w.load()
	w.failpoint = nil
	if len(seen) != 1 {
		t.Errorf("totals beside the import: %v", seen)
	}
	if got := w.search(SearchRequest{}).Total; got <= 3 {
		t.Errorf("%d sessions after the import", got)
	}
}

// TestIndexFollowsImport: a search that missed something lets the index catch up while
// the import goes on.
func TestIndexFollowsImport(t *testing.T) {
	r := seeded(t)
	w := newWorld(t, Options{})
	now := testNow
	w.Engine.opts.Now = func() time.Time { now = now.Add(2 * indexEvery); return now }
	w.put(randomScripts(r, 12)...)
	files, grew := 0, false
	w.failpoint = func(point string) {
		if point != "committed" {
			return
		}
		files++
		grew = w.search(SearchRequest{}).Total > 0 // after the first file that missed something
		for begin := time.Now(); files == 2 && !grew && time.Since(begin) < soon; time.Sleep(time.Millisecond) {
			grew = w.search(SearchRequest{}).Total > 0 // the index runs beside the import, which waits here
		}
	}
	w.load()
	w.failpoint = nil
	if !grew {
		t.Error("no search beside the import found what it had stored")
	}
}
