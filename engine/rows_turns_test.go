package engine

import (
	"fmt"
	"testing"
	"time"
)

// TestRowsTakeTurns asks for actions of sessions that ran at the same time: each head is
// read once, not once for each row.
func TestRowsTakeTurns(t *testing.T) {
	w := newWorld(t, Options{})
	for i := range 5 {
		s := &script{native: fmt.Sprintf("0f3b4c1e-0000-4000-8000-00000000000%d", i), cwd: "/srv/app", start: testNow.Add(time.Duration(i) * time.Second)}
		for range 40 {
			s.turns = append(s.turns, turn{kind: "call", tool: "Bash", input: map[string]any{"command": "ls"}})
		}
		w.put(s)
	}
	w.load()
	r := &rows{survey: survey{e: w.Engine}, req: UnitRequest{Expression: "actions where tool:bash", Limit: MaxLimit}}
	if err := r.prepare(); err != nil {
		t.Fatal(err)
	}
	var err error
	if r.snap, err = w.snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer r.snap.release()
	if _, err := r.answer(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := &rowFetcher{rows: r}
	reads, turns := 0, 0
	last := ""
	for _, row := range r.result.Rows {
		kept := len(f.heads)
		if _, err := f.item(row); err != nil {
			t.Fatal(err)
		}
		if len(f.heads) > kept {
			reads++
		}
		if row.SessionID != last {
			turns++
		}
		last = row.SessionID
	}
	if len(r.result.Rows) != 200 || turns < 150 || reads != 5 {
		t.Errorf("%d rows, %d turns, %d heads read", len(r.result.Rows), turns, reads)
	}
	for i := range 3 * maxHeads {
		f.keep(openHead{no: 1000 + f.no, head: f.head})
		if i > maxHeads && len(f.heads) != maxHeads {
			t.Fatalf("%d heads are kept", len(f.heads))
		}
	}
}
