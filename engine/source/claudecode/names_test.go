package claudecode

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hansard-search/hansard/engine/internal/zstdx"
	"github.com/hansard-search/hansard/engine/source"
)

// A file's records, written "sessionId:uuid<parent", and the sessions they make,
// written "native>parent=uuids".
func TestNames(t *testing.T) {
	for _, tt := range []struct{ file, records, want string }{
		{"own.jsonl", "own:a own:b<a", "own=a,b"},
		{"other-name.jsonl", "own:a own:b<a", "own=a,b"},
		{"own.jsonl", ":a own:b :c", "own=a,b,c"},
		{"alone.jsonl", ":a :b", "alone=a,b"},
		{"alone.jsonl.zst", ":a", "alone=a"},
		{"own.jsonl", "old:a own:b<a old:c own:d", "old:own>old=a,c own=b,d"},
		{"own.jsonl", "own:a side:b<a side:c<b", "own=a side:own>side=b,c"},
		{"own.jsonl", "own:a far:b<z", "own=a far=b"},
		{"own.jsonl", "own:a far:b own:c :d", "own=a,c,d far=b"},
		{"neither.jsonl", "one:a two:b<a", "one=a two=b"},
		{"agent-7f.jsonl", "s:a s:b<a", "s:agent-7f>s=a,b"},
		{"agent-7f.jsonl", "s:a far:b", "s:agent-7f>s=a far=b"},
		{"own.jsonl", "old:a old:own:b own:c", "old:own>old=a old:own:own>old:own=b own=c"},
	} {
		var in strings.Builder
		for f := range strings.FieldsSeq(tt.records) {
			rest, parent, _ := strings.Cut(f, "<")
			i := strings.LastIndexByte(rest, ':')
			sid, uuid := rest[:i], rest[i+1:]
			fmt.Fprintf(&in, `{"type":"user","uuid":%q,"parentUuid":%q,"message":{"content":"text"}`, uuid, parent)
			if sid != "" {
				fmt.Fprintf(&in, `,"sessionId":%q`, sid)
			}
			in.WriteString("}\n")
		}
		r, _ := read(t, memFile("/p/"+tt.file, []byte(in.String())), source.Limits{})
		var got []string
		for _, s := range r.sessions {
			var uuids []string
			for _, m := range s.messages {
				uuids = append(uuids, m.Native)
			}
			name := s.native
			if s.head.Parent != "" {
				name += ">" + s.head.Parent
			}
			got = append(got, name+"="+strings.Join(uuids, ","))
		}
		if g := strings.Join(got, " "); g != tt.want {
			t.Errorf("%s with %s: %s, want %s", tt.file, tt.records, g, tt.want)
		}
	}
}

// Ids that differ in white space only must not open one session twice.
func TestNamesClash(t *testing.T) {
	in := `{"type":"user","uuid":"a","sessionId":"x","message":{"content":"one"}}
{"type":"user","uuid":"b","sessionId":" x","message":{"content":"two"}}
`
	r, _ := read(t, memFile("f.jsonl", []byte(in)), source.Limits{})
	if len(r.sessions) != 2 || r.sessions[0].native != "x" || r.sessions[1].native != "x:2" {
		t.Errorf("%d sessions", len(r.sessions))
	}
}

func TestSniff(t *testing.T) {
	for _, tt := range []struct {
		head string
		want bool
	}{
		{`{"parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","content":"x"},"uuid":"a"}`, true},
		{`{"type":"assistant","message":{"role":"assistant","content":"x"},"cwd":"/w"}`, true},
		{`{"type":"summary","summary":"x","leafUuid":"y"}`, true},
		{`{"type":"file-history-snapshot","messageId":"m","snapshot":{}}`, true},
		{`{"type":"queue-operation","operation":"dequeue","sessionId":"s"}`, true},
		{`{"type":"brand-new","sessionId":"s","uuid":"a"}`, true},
		{"{\"broken\n" + `{"type":"user","sessionId":"s","message":{}}`, true},
		{`{"parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","content":"` + strings.Repeat("x", 1000), true},
		{`{"timestamp":"t","type":"response_item","payload":{"type":"message"}}`, false},
		{`{"timestamp":"t","type":"event_msg","payload":{},"sessionId":"s"}`, false},
		{`{"type":"system","subtype":"init","session_id":"s"}` + "\n" + `{"type":"assistant","message":{},"session_id":"s","uuid":"a"}`, false},
		{`{"type":"session","version":3,"id":"x","cwd":"/w"}`, false},
		{`{"uuid":"a","sessionId":"s","type":"user","message":{"parts":[]}}`, false},
		{`{"type":"user","content":"x"}`, false},
		{`{"type":"message","role":"user"}`, false},
		{"no JSON at all", false},
		{"", false},
	} {
		if got := (Format{}).Sniff("f.jsonl", []byte(tt.head)); got != tt.want {
			t.Errorf("Sniff(%.80q) = %v, want %v", tt.head, got, tt.want)
		}
	}
}

// A compressed file reads like the plain one, whatever its name.
func TestCompressed(t *testing.T) {
	plain, err := os.ReadFile(filepath.Join("testdata", "streamed.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w, err := zstdx.NewWriter(&packed, zstdx.Default)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "streamed.jsonl")
	if err := os.WriteFile(name, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := source.OpenFile(name)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	want, n := read(t, memFile(name, plain), source.Limits{})
	got, m := read(t, o.File, source.Limits{})
	if dump(got, m) != dump(want, n) {
		t.Errorf("compressed:\n%s\nplain:\n%s", dump(got, m), dump(want, n))
	}
}
