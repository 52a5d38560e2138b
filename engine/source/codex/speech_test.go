package codex

import (
	"fmt"
	"strings"
	"testing"
)

func TestSpeechOf(t *testing.T) {
	for _, c := range []struct {
		who  speaker
		a, b string
		want bool
	}{
		{speakerUser, "fix  the\ntax", " fix the tax ", true},
		{speakerUser, "fix\u00a0the tax", "fix the tax", true},
		{speakerUser, "fixthe tax", "fix the tax", false},
		{speakerUser, "# Context from my IDE setup:\n\n## My request for Codex:\nhi", "hi", true},
		{speakerAssistant, "# T\n## My request for Codex:\nhi", "hi", false},
		{speakerUser, "see ## My request for Codex: hi", "hi", false},
	} {
		a, _ := speechOf(c.who, c.a)
		b, _ := speechOf(c.who, c.b)
		if (a == b) != c.want {
			t.Errorf("speech of %q and %q equal: %v, want %v", c.a, c.b, a == b, c.want)
		}
	}
	u, _ := speechOf(speakerUser, "ok")
	if a, _ := speechOf(speakerAssistant, "ok"); a == u {
		t.Error("two speakers share a speech")
	}
	if _, ok := speechOf(speakerUser, " \n"); ok {
		t.Error("blank text is a speech")
	}
}

// TestCopyist writes a turn as stream letter and text: i item, e event, c
// completed. It expects the records that stay.
func TestCopyist(t *testing.T) {
	for _, c := range []struct{ turn, want string }{
		{"ea ia", ""},
		{"ia ea", ""},
		{"ea", "0"},
		{"ea ea ia", "1"},
		{"ea ea ia ia", ""},
		{"ia ia ea", ""},
		{"ca ea ia", ""},
		{"ca ia", ""},
		{"ca ea", "1"},
		{"ca", "0"},
		{"ca ca ea", "1,2"},
		{"ea eb ib", "0"},
	} {
		var cp copyist
		for i, f := range strings.Fields(c.turn) {
			cp.hear(int64(i), map[byte]voice{'i': voiceItem, 'e': voiceEvent, 'c': voiceCompleted}[f[0]], speakerAssistant, f[1:])
		}
		var kept []string
		cp.settle(func(ord int64) { kept = append(kept, fmt.Sprint(ord)) })
		if got := strings.Join(kept, ","); got != c.want {
			t.Errorf("turn %q keeps %q, want %q", c.turn, got, c.want)
		}
		cp.settle(func(ord int64) { t.Errorf("turn %q: record %d was settled twice", c.turn, ord) })
	}
}

// TestSpeechAllocs guards the first pass, which takes the speech of every text.
func TestSpeechAllocs(t *testing.T) {
	text := strings.Repeat("round half up, then sum the basket ", 100)
	if n := testing.AllocsPerRun(100, func() { speechOf(speakerUser, text) }); n != 0 {
		t.Errorf("speechOf allocates %v times", n)
	}
}
