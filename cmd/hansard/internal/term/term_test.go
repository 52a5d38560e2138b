package term

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestEscape(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"plain text, ąę 漢字 🙂", "plain text, ąę 漢字 🙂"},
		{"a\nb\tc", "a\nb\tc"},
		{"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		{"\x1b]8;;http://x\x07link", `\x1b]8;;http://x\x07link`},
		{"over\rwrite\b", `over\x0dwrite\x08`},
		{"c1 \u009b31m", `c1 \x9b31m`},
		{"bidi \u202eevil", `bidi \u202eevil`},
		{"zero\u200bwidth\ufeff", `zero\u200bwidth\ufeff`},
		{"bad \xff utf-8", "bad \ufffd utf-8"},
		{"kept \ufffd mark", "kept \ufffd mark"},
		{"family 👩\u200d👧", "family 👩\u200d👧"},
		{"x\u200dy", `x\u200dy`},
		{"\u200d", `\u200d`},
	} {
		if got := Escape(tc.in); got != tc.want {
			t.Errorf("Escape(%q) = %q, want %q", tc.in, got, tc.want)
		}
	}
}

func FuzzEscape(f *testing.F) {
	f.Add("\x1b[2J\u202e\x00\xff")
	f.Fuzz(func(t *testing.T, in string) {
		out := Escape(in)
		if !utf8.ValidString(out) {
			t.Errorf("Escape(%q) is not valid UTF-8", in)
		}
		for _, r := range out {
			if hostile(r) {
				t.Errorf("Escape(%q) holds %U", in, r)
			}
		}
		if Escape(out) != out {
			t.Errorf("Escape is not idempotent on %q", in)
		}
		if l := Line(in); strings.ContainsAny(l, "\n\t") {
			t.Errorf("Line(%q) = %q", in, l)
		}
	})
}

func TestColour(t *testing.T) {
	for _, tc := range []struct {
		choice   string
		env      map[string]string
		terminal bool
		want     bool
	}{
		{"auto", nil, true, true},
		{"auto", nil, false, false},
		{"auto", map[string]string{"NO_COLOR": "1"}, true, false},
		{"auto", map[string]string{"TERM": "dumb"}, true, false},
		{"auto", map[string]string{"CLICOLOR_FORCE": "1"}, false, true},
		{"auto", map[string]string{"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, false, false},
		{"always", map[string]string{"NO_COLOR": "1"}, false, true},
		{"never", map[string]string{"FORCE_COLOR": "1"}, true, false},
	} {
		if got := Colour(tc.choice, func(k string) string { return tc.env[k] }, tc.terminal); got != tc.want {
			t.Errorf("Colour(%q, %v, %v) = %v, want %v", tc.choice, tc.env, tc.terminal, got, tc.want)
		}
	}
}

func TestProgressLine(t *testing.T) {
	for _, tc := range []struct {
		done, total int64
		spent       time.Duration
		want        string
	}{
		{0, 1000, 0, "  0%  0 B of 1.0 kB  f"},
		{250_000_000, 1_000_000_000, 5 * time.Second, " 25%  250.0 MB of 1.0 GB  50.0 MB/s  15s left  f"},
		{10, 10, time.Second, "100%  10 B of 10 B  10 B/s  f"},
		{0, 0, time.Second, "100%  0 B of 0 B  f"},
	} {
		if got := ProgressLine("f", tc.done, tc.total, tc.spent); got != tc.want {
			t.Errorf("ProgressLine(%d, %d, %v) = %q, want %q", tc.done, tc.total, tc.spent, got, tc.want)
		}
	}
}

func TestProgressDrawsAtMostTenTimesASecond(t *testing.T) {
	var out strings.Builder
	now := time.Unix(0, 0)
	p := NewProgress(&out, func() time.Time { return now })
	for range 1000 {
		p.Set("x", 1, 2)
		now = now.Add(time.Millisecond)
	}
	p.Done()
	if n := strings.Count(out.String(), "50%"); n < 9 || n > 11 {
		t.Errorf("drawn %d times in a second, want about 10", n)
	}
	if !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Error("Done left the line behind")
	}
	(*Progress)(nil).Set("x", 1, 2)
}

func TestCutAndSpell(t *testing.T) {
	for _, tc := range []struct{ got, want string }{
		{Cut("short", 10), "short"},
		{Cut("a long label here", 8), "a long …"},
		{Cut("/home/user/deep/file.jsonl", 12), "…/file.jsonl"},
		{Bytes(999), "999 B"}, {Bytes(1000), "1.0 kB"}, {Bytes(999_990), "1.0 MB"}, {Bytes(12_300_000), "12.3 MB"},
		{Duration(59 * time.Second), "59s"}, {Duration(200 * time.Second), "3m20s"}, {Duration(7500 * time.Second), "2h05m"},
		{Style{}.Hit("x"), "[x]"}, {Style{On: true}.Hit("x"), "\x1b[1;33mx\x1b[0m"}, {Style{}.Red("x"), "x"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}

// TestPlainProgress: lines for a log, without a sequence of a terminal, one every two
// seconds at most.
func TestPlainProgress(t *testing.T) {
	var out strings.Builder
	now := time.Unix(0, 0)
	p := PlainProgress(&out, func() time.Time { return now })
	for i := range 60 {
		now = time.Unix(0, 0).Add(time.Duration(i) * 100 * time.Millisecond)
		p.Set("a.jsonl", int64(i), 60)
	}
	p.Done()
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[3], " 98%") || strings.ContainsAny(out.String(), "\x1b\r") {
		t.Errorf("plain progress: %q", out.String())
	}
	for _, l := range lines {
		if !strings.Contains(l, "a.jsonl") {
			t.Errorf("line %q does not say at what", l)
		}
	}
}
