package engine

import (
	"testing"

	"github.com/hansard-search/hansard/segments"
)

// TestCloseHeals damages a segment of many sessions, opens the archive and closes it at
// once, as a command does that answers one query: it is whole after the first time, and
// the sessions are in one file.
func TestCloseHeals(t *testing.T) {
	for _, c := range []struct {
		name  string
		byQry bool // the damage is met by a query, not when the archive is opened
	}{{"found at opening", false}, {"found by a query", true}} {
		t.Run(c.name, func(t *testing.T) {
			w, requests, want := damagedWorld(t, seeded(t), 40, Options{NoMerge: true})
			name := w.segmentFiles()[0]
			files := len(w.segmentFiles())
			if c.byQry {
				w.open()
				m := w.index.files()[0]
				if !w.setAside(m.seg, &segments.CorruptError{File: name, Section: "a section", Reason: "checksum mismatch"}) {
					t.Fatal("not set aside")
				}
			} else {
				w.flip(w.segmentPath(name), 3)
				w.open()
			}
			w.close()
			if got := w.segmentFiles(); len(got) != files {
				t.Errorf("%d segment files, want %d: %v", len(got), files, got)
			}
			o := w.opts
			o.ReadOnly, o.Create = true, false
			w.opts = o
			w.open()
			w.sameAnswers(requests, want, "after the first close")
			if st, err := w.Stats(t.Context()); err != nil || !st.Ready {
				t.Errorf("status %+v, %v", st.Damaged, err)
			}
			w.check()
		})
	}
}
