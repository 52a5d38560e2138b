package archive

import (
	"strings"
	"testing"
)

func TestMessageAndBlockID(t *testing.T) {
	s := MakeSessionID(Codex, "a:b")
	for _, c := range []struct {
		m    Message
		dup  []string
		want string
	}{
		{Message{Native: "m1"}, nil, "codex-session:a:b:n:m1"},
		{Message{Native: "  m1\n"}, nil, "codex-session:a:b:n:m1"},
		{Message{Native: " ", Position: 3}, nil, "codex-session:a:b:p:3.0"},
		{Message{Native: "m1", Position: 4, Variant: 2}, []string{"m1"}, "codex-session:a:b:p:4.2"},
		{Message{Native: "m\x00\xff"}, nil, "codex-session:a:b:n:m\uFFFD\uFFFD"},
		{Message{Native: "m2"}, []string{"m1", "m3"}, "codex-session:a:b:n:m2"},
	} {
		got := MessageID(s, &c.m, c.dup)
		if got != c.want {
			t.Errorf("MessageID(%q, %v) = %s, want %s", c.m.Native, c.dup, got, c.want)
		}
		if b := BlockID(got, 7); b != c.want+":7" {
			t.Errorf("BlockID = %s", b)
		}
	}
}

func TestParseRef(t *testing.T) {
	for _, c := range []struct{ in, want string }{ // want: session/native or position/block/name/index, one per reading
		{"session:codex-session:a", "codex-session:a"},
		{"session:codex-session:a:b", "codex-session:a:b"},
		{"run:codex-session:a", "codex-session:a"},
		{"message:codex-session:a:n:m1", "codex-session:a m1"},
		{"message:codex-session:a:p:3.1", "codex-session:a 3.1"},
		{"message:codex-session:a:n:m:1", "codex-session:a m:1"},
		{"message:codex-session:a:n:b:n:m1", "codex-session:a b:n:m1 | codex-session:a:n:b m1"},
		{"message:codex-session:a:n:b:p:1.0", "codex-session:a b:p:1.0 | codex-session:a:n:b 1.0"},
		{"message:o:n:n:n:x", "o:n n:x | o:n:n x"},
		{"block:codex-session:a:n:m1:0", "codex-session:a m1 0"},
		{"block:codex-session:a:p:1.0:12", "codex-session:a 1.0 12"},
		{"context-snapshot:pi-session:x:session_start", "pi-session:x session_start"},
		{"context-snapshot:pi-session:x:compaction:2", "pi-session:x compaction 2"},
		{"observed-event:pi-session:x:session_started", "pi-session:x session_started"},
		{"observed-event:pi-session:x:n:m:4:tool_finished", "pi-session:x m 4 tool_finished"},
		{"observed-event:pi-session:x:compaction:0", "pi-session:x compaction 0"},
	} {
		refs, err := ParseRef(c.in)
		if err != nil {
			t.Errorf("ParseRef(%q): %v", c.in, err)
			continue
		}
		var got []string
		for _, r := range refs {
			if r.String() != c.in {
				t.Errorf("ParseRef(%q) prints as %q", c.in, r)
			}
			got = append(got, describeRef(r))
		}
		if g := strings.Join(got, " | "); g != c.want {
			t.Errorf("ParseRef(%q) = %s, want %s", c.in, g, c.want)
		}
	}
}

func describeRef(r Ref) string {
	words := []string{string(r.Session)}
	if r.Kind == RefMessage || r.Kind == RefBlock || r.Name == EventToolFinished {
		_, id, _ := strings.Cut(r.Message.ID(""), ":")
		words = append(words, id[2:])
	}
	tail := r
	tail.Session, tail.Message = "", MessageKey{}
	switch {
	case r.Kind == RefBlock || r.Name == EventToolFinished:
		words = append(words, strings.Split(BlockID("", r.Block), ":")[1])
	}
	if r.Name != "" {
		words = append(words, r.Name)
	}
	if r.Name == BoundaryCompaction {
		words = append(words, strings.Split(BlockID("", r.Index), ":")[1])
	}
	return strings.Join(words, " ")
}

func TestParseRefRejects(t *testing.T) {
	for _, in := range []string{
		"", "session", "session:", "session:codex-session", "session::x", "session:o:", "thing:o:x",
		"message:o:x", "message:o:x:n:", "message:o:x:p:01.0", "message:o:x:p:1", "message:o:x:p:-1.0", "message:o:n:x",
		"block:o:x:n:m", "block:o:x:n:m:01", "block:o:x:n:m:-1", "context-snapshot:o:x:later", "context-snapshot:o:x:compaction",
		"observed-event:o:x", "observed-event:o:x:tool_finished", "observed-event:o:x::1", "message:o:x:p:99999999999999999999.0",
	} {
		if refs, err := ParseRef(in); err == nil {
			t.Errorf("ParseRef(%q) = %v, want an error", in, refs)
		}
	}
}

func FuzzParseRef(f *testing.F) {
	for _, s := range []string{
		"message:codex-session:a:n:b:n:m1", "block:o:x:p:1.0:2", "observed-event:o:x:n:m:4:tool_finished",
		"context-snapshot:o:x:compaction:2", "observed-event:o:x:compaction:0", "session:o:x", "message:o:x:p:1.0:n:y",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		refs, err := ParseRef(in)
		if (err == nil) != (len(refs) > 0) {
			t.Fatalf("ParseRef(%q) = %v, %v", in, refs, err)
		}
		for i, r := range refs {
			if r.String() != in {
				t.Fatalf("ParseRef(%q) prints as %q", in, r)
			}
			if i > 0 && len(r.Session) <= len(refs[i-1].Session) {
				t.Fatalf("ParseRef(%q): readings out of order", in)
			}
			if _, _, ok := r.Session.Split(); !ok {
				t.Fatalf("ParseRef(%q): bad session %q", in, r.Session)
			}
		}
	})
}

// FuzzRefRoundTrip builds references from hostile native ids and demands that
// one of the readings be the one that was meant.
func FuzzRefRoundTrip(f *testing.F) {
	f.Add("a", "m", 1, 0, 2)
	f.Add("a:n:b", "x:p:1.0", 0, 3, 9)
	f.Fuzz(func(t *testing.T, session, native string, pos, variant, block int) {
		native = NormalNative(native)
		if session == "" || pos < 0 || variant < 0 || block < 0 {
			return
		}
		want := Ref{Kind: RefBlock, Session: MakeSessionID(Codex, session), Block: block, Message: MessageKey{Native: native}}
		if native == "" {
			want.Message = MessageKey{Position: pos, Variant: variant}
		}
		refs, err := ParseRef(want.String())
		if err != nil {
			t.Fatalf("%v: %v", want, err)
		}
		for _, r := range refs {
			if r == want {
				return
			}
		}
		t.Fatalf("%v is not among the readings %v", want, refs)
	})
}
