package engine

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkGrownFile imports a session file of 50 MB again after one message was
// appended to it.
func BenchmarkGrownFile(b *testing.B) {
	dir := b.TempDir()
	writeRollouts(b, dir, rand.New(rand.NewPCG(5, 5)), 1, 50_000, 170)
	path := filepath.Join(dir, "rollout-bulk-000000.jsonl")
	e, err := Open(filepath.Join(b.TempDir(), "archive"), Options{Create: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = e.Close() })
	load := func() {
		if r, err := e.Import(b.Context(), ImportRequest{Paths: []string{path}}); err != nil || r.Added+r.Updated != 1 {
			b.Fatalf("%+v, %v", r, err)
		}
	}
	load()
	if info, err := os.Stat(path); err == nil {
		b.SetBytes(info.Size())
	}
	for i := 0; b.Loop(); i++ {
		appendMessage(b, path, fmt.Sprintf("message %d", i))
		load()
	}
}

// TestNothingNew: a file that was touched or copied, or at whose end a record is being
// written, is not read again; one with news or with other bytes is.
func TestNothingNew(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(content []byte) []byte
		read   bool
	}{
		{"touched", func(b []byte) []byte { return b }, false},
		{"half a record", func(b []byte) []byte { return append(b, `{"type":"response_item","payl`...) }, false},
		{"blank lines", func(b []byte) []byte { return append(b, "\n\n  \n"...) }, false},
		{"a record", func(b []byte) []byte { return append(b, b[bytes.LastIndexByte(b[:len(b)-1], '\n')+1:]...) }, true},
		{"a record without an end of line", func(b []byte) []byte { return append(b, `{"type":"event_msg"}`...) }, true},
		{"a broken line", func(b []byte) []byte { return append(b, "{\"type\":\n{"...) }, true},
		{"other bytes", func(b []byte) []byte { b[len(b)/2] ^= 1; return b }, true},
		{"other bytes, and half a record", func(b []byte) []byte { b[len(b)/2] ^= 1; return append(b, "{"...) }, true},
		{"cut", func(b []byte) []byte { return b[:bytes.LastIndexByte(b[:len(b)-1], '\n')+1] }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, Options{})
			s := randomScript(seeded(t), 1)
			s.grow(rand.New(rand.NewPCG(1, 1)))
			name, content := s.file()
			path := w.write(name, content)
			w.load()
			before := w.answer(SearchRequest{})
			w.write(name, c.change(content))
			if err := os.Chtimes(path, time.Time{}, testNow.Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			if got := w.load(); (got.Files.Read == 1) != c.read || got.Files.Unchanged+got.Files.Read != 1 {
				t.Errorf("files: %+v, want read: %v", got.Files, c.read)
			}
			if after := w.answer(SearchRequest{}); !c.read && after != before {
				t.Errorf("the archive answers\n%s\nwas\n%s", after, before)
			}
			if err := os.WriteFile(path, append(content, "{}\n"...), 0o644); err != nil {
				t.Fatal(err)
			}
			if got := w.load(); got.Files.Read != 1 {
				t.Errorf("with news, files: %+v", got.Files)
			}
		})
	}
}

// appendMessage appends a record to a rollout.
func appendMessage(t testing.TB, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, `{"type":"response_item","timestamp":%q,"payload":{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}}`+"\n",
		testNow.UTC().Format(time.RFC3339), text); err != nil {
		t.Fatal(err)
	}
}
