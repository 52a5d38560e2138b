package engine

import (
	"slices"
	"testing"
)

// TestUnflushedTail lets Close give up on the tail. Nothing is lost or wrong for it: who
// reads indexes the same sessions again in memory, check and doctor find nothing, and the
// next one who writes makes them durable.
func TestUnflushedTail(t *testing.T) {
	w := newWorld(t, Options{NoMerge: true})
	w.put(randomScripts(seeded(t), 8)...)
	w.load()
	want := w.search(SearchRequest{}).Total
	w.patience = 0
	w.close()
	reader := w.opts
	reader.ReadOnly, reader.Create = true, false
	for range 2 {
		e, err := Open("archive", reader)
		if err != nil {
			t.Fatal(err)
		}
		s, err := e.Stats(t.Context())
		if err != nil || s.Sessions != want || !s.Ready || !inTail(s) {
			t.Errorf("status of a reader: %+v, %v", s, err)
		}
		env, err := e.Search(t.Context(), SearchRequest{})
		if err != nil || env.Total != want || !env.Exact || env.Partial {
			t.Errorf("a reader finds %+v, %v", env, err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		d, err := Diagnose(t.Context(), "archive", reader)
		if err != nil || !d.Sound || d.Sessions != want {
			t.Errorf("diagnosis %+v, %v", d, err)
		}
	}
	w.open()
	if n := w.search(SearchRequest{}).Total; n != want {
		t.Errorf("%d sessions, want %d", n, want)
	}
	w.close()
	e, err := Open("archive", reader)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := e.Stats(t.Context()); err != nil || inTail(s) {
		t.Errorf("after a writer the tail is still there: %+v, %v", s, err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	w.open()
}

// inTail reports whether sessions are only in memory.
func inTail(s *Stats) bool {
	return slices.ContainsFunc(s.Segments, func(g SegmentStats) bool { return g.File == "tail" })
}
