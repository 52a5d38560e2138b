package engine

import (
	"context"
	"fmt"
	"testing"
)

// TestAllSegmentsLost deletes every segment file: what is made anew from the store, by
// a rebuild and by healing in the background, answers as before, byte for byte.
func TestAllSegmentsLost(t *testing.T) {
	r := seeded(t)
	sessions, queries := 12, 100
	if *long {
		sessions, queries = 120, 1000
	}
	o := Options{NoMerge: true, NoHeal: true, FlushBytes: 64 << 10}
	w := newWorld(t, o)
	scripts := randomScripts(r, sessions)
	names := w.put(scripts...)
	for len(names) > 0 {
		n := min(len(names), 1+r.IntN(sessions/3))
		w.load(names[:n]...)
		w.reopen(o)
		names = names[n:]
	}
	for _, s := range scripts[:3] { // dead rows
		s.grow(r)
		w.put(s)
		w.load()
	}
	requests := metamorphicQueries(r, queries-8)
	want := w.answers(requests)
	for _, way := range []string{"rebuild", "healing", "healing after a restart"} {
		w.close()
		lost := w.segmentFiles()
		if len(lost) < 2 && way == "rebuild" {
			t.Fatalf("only %v to lose", lost)
		}
		for _, name := range lost {
			if err := w.opts.FS.Remove(w.segmentPath(name)); err != nil {
				t.Fatal(err)
			}
		}
		w.opts.NoHeal = way == "rebuild"
		w.open()
		switch way {
		case "rebuild":
			if env := w.search(SearchRequest{}); env.Total != 0 || !env.Partial || missingSessions(env) != int64(sessions) {
				t.Errorf("without segments %d sessions are found, partial %v, %d are said to be missing", env.Total, env.Partial, missingSessions(env))
			}
			if _, err := w.Rebuild(context.Background(), nil); err != nil {
				t.Fatal(err)
			}
		case "healing after a restart":
			w.close()
			w.open()
			fallthrough
		default:
			w.whole()
		}
		w.sameAnswers(requests, want, way)
		w.check()
	}
	t.Logf("%d sessions, %s", sessions, fmt.Sprintf("%d queries three times", len(requests)))
}

func missingSessions(env *SearchEnvelope) (n int64) {
	for _, d := range env.Missing {
		n += d.Sessions
	}
	return n
}
