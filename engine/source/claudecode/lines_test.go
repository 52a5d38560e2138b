package claudecode

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hansard-search/hansard/engine/source"
)

// line is a prompt; the text needs no escapes.
func line(uuid, text string) string {
	return `{"type":"user","uuid":"` + uuid + `","sessionId":"s-1","message":{"role":"user","content":"` + text + `"}}`
}

// How records lie in a file: what is read, what is reported, what is kept.
func TestLines(t *testing.T) {
	a, b := line("a", "one"), line("b", "two")
	for _, tt := range []struct {
		name, in string
		natives  string
		want     source.Records
		problems string // lines
	}{
		{"plain", a + "\n" + b + "\n", "a b", source.Records{Read: 2, Stored: 2, Consumed: all}, ""},
		{"no line feed at the end", a + "\n" + b, "a b", source.Records{Read: 2, Stored: 2, Consumed: int64(len(a)) + 1}, ""},
		{"torn last line", a + "\n" + b[:len(b)/2], "a", source.Records{Read: 1, Stored: 1, Torn: true, Consumed: int64(len(a)) + 1}, ""},
		{"two values on a line", a + b + "\n", "a b", source.Records{Read: 2, Stored: 2, Consumed: all}, ""},
		{"carriage returns", a + "\r\n" + b + "\r\n", "a b", source.Records{Read: 2, Stored: 2, Consumed: all}, ""},
		{"byte order mark", "\ufeff" + a + "\n" + b + "\n", "a b", source.Records{Read: 2, Stored: 2, Consumed: all}, ""},
		{"empty lines", "\n\n" + a + "\n\n\n" + b + "\n\n", "a b", source.Records{Read: 2, Stored: 2, Consumed: all}, ""},
		{"broken in the middle", a + "\n" + `{"type":"user","broken` + "\n" + b + "\n", "a b", source.Records{Read: 3, Stored: 2, Rejected: 1, Consumed: all}, "2"},
		{"bad escape", a + "\n" + `{"type":"\q"}` + "\n" + b + "\n", "a b", source.Records{Read: 3, Stored: 2, Rejected: 1, Consumed: all}, "2"},
		{"pretty printed", strings.ReplaceAll(a, `,"`, ",\n  \"") + "\n" + b + "\n", "a b", source.Records{Read: 2, Stored: 2, Consumed: all}, ""},
		{"no objects", a + "\n7\n\"text\"\nnull\n[]\n" + b + "\n", "a b", source.Records{Read: 6, Stored: 2, Skipped: 4, Consumed: all}, ""},
		{"record over the limit", a + "\n" + line("big", strings.Repeat("x", 4000)) + "\n" + b + "\n", "a b", source.Records{Read: 3, Stored: 2, Rejected: 1, Consumed: all}, "2"},
		{"too deep", a + "\n" + strings.Repeat("[", 600) + strings.Repeat("]", 600) + "\n" + b + "\n", "a b", source.Records{Read: 3, Stored: 2, Rejected: 1, Consumed: all}, "2"},
		{"empty", "", "", source.Records{}, ""},
		{"only garbage", "hello\nworld\n", "", source.Records{Read: 2, Rejected: 2, Consumed: all}, "1 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, n := read(t, memFile("s-1.jsonl", []byte(tt.in)), source.Limits{RecordBytes: 2000})
			if tt.want.Consumed == all {
				tt.want.Consumed = int64(len(tt.in))
			}
			if n != tt.want {
				t.Errorf("records %+v, want %+v", n, tt.want)
			}
			var natives, lines []string
			for _, s := range r.sessions {
				for _, m := range s.messages {
					natives = append(natives, m.Native)
				}
			}
			for _, p := range r.problems {
				lines = append(lines, fmt.Sprint(p.Line))
			}
			if got := strings.Join(natives, " "); got != tt.natives {
				t.Errorf("messages %q, want %q", got, tt.natives)
			}
			if got := strings.Join(lines, " "); got != tt.problems {
				t.Errorf("problems on lines %q, want %q", got, tt.problems)
			}
		})
	}
}

// all stands for the length of the input.
const all = -1

// A line of many megabytes is a record like any other.
func TestGiantLine(t *testing.T) {
	in := line("a", "one") + "\n" + line("big", strings.Repeat("word ", 4<<20)) + "\n" + line("b", "two") + "\n"
	r, n := read(t, memFile("s-1.jsonl", []byte(in)), source.Limits{})
	if n.Stored != 3 || len(r.sessions[0].messages[1].Blocks[0].Text) != 20<<20 {
		t.Errorf("records %+v", n)
	}
}

func TestReadStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var r recorder
	f := memFile("s-1.jsonl", []byte(line("a", "one")+"\n"))
	if _, err := (Format{}).Read(ctx, f, source.Limits{}, &r); !errors.Is(err, context.Canceled) {
		t.Errorf("read under an ended context: %v", err)
	}
	broken := errors.New("disk is gone")
	f.Open = nil
	f.Open = failing(broken)
	if _, err := (Format{}).Read(context.Background(), f, source.Limits{}, &r); !errors.Is(err, broken) {
		t.Errorf("read of a file that cannot be opened: %v", err)
	}
}
