package source

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/hansard-search/hansard/engine/internal/zstdx"
)

func content(t *testing.T, o *Opened) string {
	t.Helper()
	r, err := o.Open()
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if e := r.Close(); err == nil {
		err = e
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func write(t *testing.T, name string, b []byte) string {
	t.Helper()
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func mustOpen(t *testing.T, name string) *Opened {
	t.Helper()
	o, err := OpenFile(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
	return o
}

func frame(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := zstdx.NewWriter(&out, zstdx.Default)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func utf16Bytes(order binary.AppendByteOrder, s string) []byte {
	b := order.AppendUint16(nil, 0xfeff)
	for _, u := range utf16.Encode([]rune(s)) {
		b = order.AppendUint16(b, u)
	}
	return b
}

func TestOpenViews(t *testing.T) {
	dir := t.TempDir()
	const text = "{\"a\":\"naïve 😀\"}\n"
	long := strings.Repeat(text, 20_000)
	odd := append(utf16Bytes(binary.LittleEndian, "x"), 0x00, 0xd8, 'y', 0, 'z') // a lone surrogate, half a unit
	for _, tt := range []struct {
		name string
		raw  []byte
		want string
		head string
		size int64
	}{
		{"plain", []byte(text), text, text, int64(len(text))},
		{"empty", nil, "", "", 0},
		{"mark", []byte("\ufeff" + text), "\ufeff" + text, text, int64(len(text)) + 3},
		{"any-name", frame(t, []byte(text)), text, text, -1},
		{"long.zst", frame(t, []byte(long)), long, long[:HeadBytes], -1},
		{"little", utf16Bytes(binary.LittleEndian, text), text, text, -1},
		{"big", utf16Bytes(binary.BigEndian, long), long, long[:HeadBytes], -1},
		{"odd", odd, "x\ufffdy\ufffd", "x\ufffdy\ufffd", -1},
	} {
		o := mustOpen(t, write(t, filepath.Join(dir, tt.name), tt.raw))
		head, err := o.Head()
		if err != nil || string(head) != tt.head {
			t.Errorf("%s: head of %d bytes, %v; want %d", tt.name, len(head), err, len(tt.head))
		}
		for range 2 {
			if got := content(t, o); got != tt.want {
				t.Errorf("%s: %d bytes, want %d", tt.name, len(got), len(tt.want))
			}
		}
		if o.Size != tt.size || o.Stat.Size != int64(len(tt.raw)) {
			t.Errorf("%s: size %d and %d on disk, want %d and %d", tt.name, o.Size, o.Stat.Size, tt.size, len(tt.raw))
		}
	}
}

// What happens to the file after it was opened does not show, except that it is cut.
func TestOpenIsFixed(t *testing.T) {
	dir := t.TempDir()
	name := write(t, filepath.Join(dir, "f"), []byte("one\n"))
	o := mustOpen(t, name)
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("two\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got := content(t, o); got != "one\n" {
		t.Errorf("after an append: %q", got)
	}
	grown := mustOpen(t, name)
	if same, err := grown.SameStart(o.Stat); err != nil || !same {
		t.Errorf("a grown file is not known again: %v, %v", same, err)
	}
	if same, err := o.SameStart(grown.Stat); err != nil || same {
		t.Errorf("a shorter file is taken for the longer one: %v, %v", same, err)
	}
	write(t, filepath.Join(dir, "new"), []byte("other content\n"))
	if err := os.Rename(filepath.Join(dir, "new"), name); err != nil {
		t.Fatal(err)
	}
	if got := content(t, o); got != "one\n" {
		t.Errorf("after another file took the name: %q", got)
	}
	other := mustOpen(t, name)
	if same, err := other.SameStart(o.Stat); err != nil || same {
		t.Errorf("a rewritten file is taken for the old one: %v, %v", same, err)
	}
	if err := os.Truncate(name, 3); err != nil {
		t.Fatal(err)
	}
	r, err := other.Open()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(r); !errors.Is(err, ErrChanged) {
		t.Errorf("reading a file that was cut: %v, want ErrChanged", err)
	}
}

func TestNotRegular(t *testing.T) {
	if _, err := OpenFile(t.TempDir()); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a folder: %v, want ErrNotRegular", err)
	}
	if _, err := OpenFile(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// A sidecar is reached within its project and nowhere else.
func TestSidecar(t *testing.T) {
	root := tree(t,
		"p/s-1.jsonl", "p/s-1/tool-results/r.txt", "p/s-1/subagents/agent-9.jsonl", "p/s-1/subagents/agent-9.meta.json",
		"q/secret.txt", "outside.txt", "p/link.txt -> ../outside.txt", "p/inner.txt -> s-1.jsonl",
	)
	agent := Candidate{Path: filepath.Join(root, "p/s-1/subagents/agent-9.jsonl"), Root: root, Rel: "p/s-1/subagents/agent-9.jsonl"}
	main := Candidate{Path: filepath.Join(root, "p/s-1.jsonl"), Root: root, Rel: "p/s-1.jsonl"}
	named := Candidate{Path: agent.Path}
	for _, tt := range []struct {
		from Candidate
		side string
		want string
	}{
		{main, "s-1/tool-results/r.txt", "p/s-1/tool-results/r.txt"},
		{agent, "agent-9.meta.json", "p/s-1/subagents/agent-9.meta.json"},
		{agent, "../tool-results/r.txt", "p/s-1/tool-results/r.txt"},
		{named, "agent-9.meta.json", "p/s-1/subagents/agent-9.meta.json"},
		{named, "../tool-results/r.txt", "p/s-1/tool-results/r.txt"},
		{main, "../q/secret.txt", ""},
		{main, "../outside.txt", ""},
		{main, "../../../../etc/passwd", ""},
		{main, "/etc/passwd", ""},
		{main, "link.txt", ""},
		{main, "inner.txt", ""},
		{main, "s-1", ""},
		{main, "missing.txt", ""},
		{named, "../../../outside.txt", ""},
	} {
		o, err := tt.from.Open()
		if err != nil {
			t.Fatal(err)
		}
		got, err := o.Sidecar(tt.side, 1000)
		if string(got) != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s from %s = %q, %v; want %q", tt.side, tt.from.Rel, got, err, tt.want)
		}
		if short, err := o.Sidecar(tt.side, 3); err == nil && len(short) != 3 {
			t.Errorf("%s: %d bytes under a limit of 3", tt.side, len(short))
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A file that was swapped for a link out of the folder after it was found is refused.
func TestCandidateDoesNotEscape(t *testing.T) {
	root := tree(t, "in/a.jsonl -> ../secret", "secret", "in/dir/b.jsonl")
	c := Candidate{Path: filepath.Join(root, "in", "a.jsonl"), Root: filepath.Join(root, "in"), Rel: "a.jsonl"}
	if o, err := c.Open(); err == nil {
		o.Close()
		t.Error("a link out of the folder was followed")
	}
}
