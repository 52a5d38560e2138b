package cli

import (
	"bytes"
	"testing"

	"github.com/hansard-search/hansard/engine"
)

// TestSayMissing: the text of an answer names what it lacks, and how much that is.
func TestSayMissing(t *testing.T) {
	for _, c := range []struct {
		damage engine.Damage
		want   string
	}{
		{engine.Damage{File: "1.seg", Reason: "mismatch", Sessions: 17}, "1.seg could not be read, and 17 sessions are missing for it: mismatch"},
		{engine.Damage{File: "1.seg", Reason: "mismatch", Sessions: 1}, "1.seg could not be read, and 1 session is missing for it: mismatch"},
		{engine.Damage{File: "1.seg", Reason: "mismatch"}, "1.seg could not be read: mismatch"},
		{engine.Damage{File: "store", Session: "codex-session:a", Reason: "mismatch", Sessions: 1}, "session codex-session:a could not be read: mismatch"},
		{engine.Damage{File: "store", Reason: "3 writes are missing"}, "3 writes are missing; hansard doctor says what to do"},
	} {
		var errs bytes.Buffer
		a := &app{World: World{Stderr: &errs, Getenv: func(string) string { return "" }}}
		a.sayMissing([]engine.Damage{c.damage})
		if got, want := errs.String(), "incomplete: "+c.want+"\n"; got != want {
			t.Errorf("%+v: %q, want %q", c.damage, got, want)
		}
	}
}
