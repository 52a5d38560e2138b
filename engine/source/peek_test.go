package source

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

func show(shapes []Shape) string {
	var out []string
	for _, s := range shapes {
		var keys []string
		for _, k := range slices.Sorted(maps.Keys(s.Keys)) {
			keys = append(keys, k+"="+s.Keys[k])
		}
		kind := "scalar"
		switch {
		case s.Array:
			kind = "array"
		case s.Object:
			kind = "object"
		}
		out = append(out, strings.TrimSpace(kind+" "+strings.Join(keys, " ")))
	}
	return strings.Join(out, "; ")
}

func TestPeek(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{``, ``},
		{`{"a":1,"b":"x","c":true,"d":null}`, `object a=1 b=x c=true d=null`},
		{"\ufeff {\"a\":1}", `object a=1`},
		{`{"a":{"b":{"c":1},"d":[2]},"e":[]}`, `object a={ a.b={ a.d=[ e=[`},
		{`{"a":1}{"b":2}` + "\n" + `{"c":3}`, `object a=1; object b=2; object c=3`},
		{`[{"a":1},{"b":2}]`, `array a=1`},
		{`[1,2]`, `array`},
		{`[]`, `array`},
		{`{"a":"unclosed`, `object a=`},
		{`{"a":[1,2,{"x":`, `object a=[`},
		{`{"a":{"b":"c`, `object a={ a.b=`},
		{"{\"a\":1 broken\n{\"b\":2}", `object a=1; object b=2`},
		{"{\"a\":\"quote \\\" inside\"}", `object a=quote \" inside`},
		{"plain text\n{\"b\":2}", `object b=2`},
		{"7 \"text\" {\"b\":2}", `object b=2`},
	} {
		if got := show(Peek([]byte(tt.in), 5)); got != tt.want {
			t.Errorf("Peek(%q) = %s, want %s", tt.in, got, tt.want)
		}
	}
	if got := Peek([]byte(strings.Repeat(`{"a":1} `, 9)), 3); len(got) != 3 {
		t.Errorf("%d shapes, want 3", len(got))
	}
}

func FuzzPeek(f *testing.F) {
	for _, s := range []string{`{"a":{"b":1}}`, `[{"a":"b"}]`, `{"a`, `[[[`, "\ufeff{}", `{"a":tru`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		if got := Peek(head, 4); len(got) > 4 {
			t.Errorf("%d shapes", len(got))
		}
		Foreign("x.jsonl", head, Peek(head, 12))
	})
}

// Each line is what a file of that program begins with.
func TestForeign(t *testing.T) {
	for _, tt := range []struct{ want, head string }{
		{"pi", `{"type":"session","version":3,"id":"x","timestamp":"t","cwd":"/w"}`},
		{"pi", `{"type":"session","id":"x","timestamp":"t","cwd":"/w"}`},
		{"deepseek-harness", `{"type":"session","version":0,"id":"x","cwd":"/w","delegationDepth":0}`},
		{"gemini-cli", `{"sessionId":"x","projectHash":"h","startTime":"t","messages":[]}`},
		{"gemini-cli", "{\n \"messages\": [],\n \"lastUpdated\": \"t\"\n}"},
		{"opencode", `{"info":{"id":"ses_1"},"messages":[]}`},
		{"opencode", `{"id":"msg_1","sessionID":"ses_1","role":"user"}`},
		{"chatgpt-export", `[{"title":null,"mapping":{"a":{}}}]`},
		{"claude-ai-export", `[{"uuid":"x","name":"","chat_messages":[]}]`},
		{"aistudio", `{"runSettings":{},"chunkedPrompt":{"chunks":[]}}`},
		{"antigravity", `{"step_index":0,"source":"MODEL","type":"GENERIC"}`},
		{"qwen", `{"uuid":"a","sessionId":"s","type":"user","message":{"role":"user","parts":[{"text":"x"}]}}`},
		{"qwen", `{"uuid":"a","sessionId":"s","type":"system","systemPayload":{}}`},
		{"claude-stream-json", `{"type":"system","subtype":"init","session_id":"s","tools":[]}`},
		{"claude-history", `{"display":"x","pastedContents":{},"timestamp":1,"project":"/w"}`},
		{"codex-history", `{"session_id":"s","ts":1,"text":"x"}`},
		{"grok-cli", `{"type":"system","content":"You are"}`},
		{"copilot-cli", `{"type":"session.start","data":{"sessionId":"x"}}`},
		{"sqlite", "SQLite format 3\x00rest"},
		{"zip", "PK\x03\x04rest"},
		{"", `{"type":"user","uuid":"a","sessionId":"s","message":{"role":"user","content":"x"}}`},
		{"", `{"timestamp":"t","type":"session_meta","payload":{"id":"x","cwd":"/w"}}`},
		{"", `{"id":"x","timestamp":"t","instructions":null}`},
		{"", `{"type":"summary","summary":"x","leafUuid":"y"}`},
		{"", "just text"},
	} {
		if got := Foreign("some.jsonl", []byte(tt.head), Peek([]byte(tt.head), 12)); got != tt.want {
			t.Errorf("Foreign(%q) = %q, want %q", tt.head, got, tt.want)
		}
	}
}

// named is a format that takes files with its name in them.
type named struct {
	Format
	name string
}

func (n named) Name() string                        { return n.name }
func (n named) Sniff(path string, head []byte) bool { return strings.Contains(string(head), n.name) }

func TestIdentify(t *testing.T) {
	formats := []Format{named{name: "alpha"}, named{name: "pi"}}
	for _, tt := range []struct{ head, want string }{
		{"", "- empty file"},
		{" \n\t", "- empty file"},
		{"it is alpha", "alpha "},
		{"it is alpha and pi", "alpha "},
		{`{"type":"session","id":"pi","cwd":"/w"}`, "pi "}, // somebody reads it
		{`{"step_index":0,"source":"alpha","type":"x"}`, "- unsupported format antigravity"},
		{"nothing known", "- unknown format"},
	} {
		f, reason := Identify(formats, "f", []byte(tt.head))
		name := "-"
		if f != nil {
			name = f.Name()
		}
		if got := fmt.Sprintf("%s %s", name, reason); got != tt.want {
			t.Errorf("Identify(%q) = %q, want %q", tt.head, got, tt.want)
		}
	}
}
