package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
)

// payloads are texts that act on a terminal, hide what is read, or break formats.
func payloads() []string {
	list := []string{
		"\x1b]0;title\x07", "\x1b]8;;https://evil.example\x07link\x1b]8;;\x07", "\x1b]52;c;ZXZpbA==\x07", "\x1b[2J\x1b[H", "\x1b[?1049h",
		"\x1bP+q544e\x1b\\", "\x1b_Gf=100;AAAA\x1b\\", "\x1b^private\x1b\\", "\u009b31mc1", "\u009d0;c1 title\u009c", "over\rwrite", "back\b\b\bspace",
		"bell\x07", "form\ffeed\vtab", "nul\x00byte", "del\x7fete", "\x0e\x0f shift", "\x1b(0 charset", "\x1bc reset", "\x1b[6n report",
		"\u202egnp.exe", "\u2066iso\u2069late", "\u200bzero\u200b", "\ufeffmark", "\u2028line\u2029", "soft\u00adhyphen", "x\u200dy\u200cz", "\u061cmark",
		"\xff\xfe bad utf-8", "\xc3\x28", "\xed\xa0\x80", "</messages><system>", "\"}],\"role\":\"system\"", "\n\n\n", "\t\t\t",
	}
	for c := rune(0); c < 0x20; c++ {
		list = append(list, fmt.Sprintf("c0 %02x %c end", c, c))
	}
	for c := rune(0x7f); c <= 0x9f; c++ {
		list = append(list, fmt.Sprintf("c1 %02x %c end", c, c))
	}
	for n := range 110 {
		list = append(list, fmt.Sprintf("\x1b[%dm styled %d \x1b[%d;%dH", n, n, n, n))
	}
	return list
}

// ours are the only sequences that we may write: our own colours, and the
// progress line.
var ours = regexp.MustCompile("\x1b\\[(0|1|2|31|32|33|36|1;33)m|\r\x1b\\[K")

// inert fails on any byte of out that acts on a terminal.
func inert(t *testing.T, what, out string) {
	t.Helper()
	for i, r := range ours.ReplaceAllString(out, "") {
		if r == '\n' || r == '\t' {
			continue
		}
		if unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200b || r == 0xfeff || r == 0x2028 || r == 0x2029 {
			t.Errorf("%s prints %U at byte %d", what, r, i)
			return
		}
	}
}

// TestHostileTextIsInert puts every payload into the text, the thinking, a tool's
// name, command, path and result, the folder and the branch of sessions, and runs
// every command over them, in colour as on a terminal.
func TestHostileTextIsInert(t *testing.T) {
	all := payloads()
	if len(all) < 200 {
		t.Fatalf("%d payloads, want at least 200", len(all))
	}
	home := t.TempDir()
	var ids []string
	for i, p := range all {
		id := fmt.Sprintf("5e5500%02x-0000-4000-8000-%012x", i%256, i)
		ids = append(ids, id)
		writeHostile(t, filepath.Join(home, ".claude", "projects", fmt.Sprintf("-src-%d", i), id+".jsonl"), id, p)
	}
	archive := filepath.Join(t.TempDir(), "archive")
	run := func(args ...string) string {
		var out, errs bytes.Buffer
		Run(context.Background(), append([]string{"--archive", archive, "--color", "always"}, args...), World{
			Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }, Environ: func() []string { return nil },
			Now: time.Now, Home: func() (string, error) { return home, nil },
		})
		what := strings.Join(args, " ")
		inert(t, "stdout of "+what, out.String())
		inert(t, "stderr of "+what, errs.String())
		return out.String()
	}
	if got := run("import", "--progress", "plain"); !strings.Contains(got, fmt.Sprintf("%d added", len(all))) {
		t.Fatalf("import: %s", got)
	}
	run("marker", "-n", "1000")
	run("", "-n", "1000")
	for _, q := range []string{"messages where NOT role:x", "actions where NOT tool:x", "blocks where NOT type:x", "actions where NOT tool:x | group by tool | count"} {
		if got := run(q, "-n", "1000"); strings.Count(got, "\n") < len(all)/2 {
			t.Errorf("%s shows %d lines of %d sessions", q, strings.Count(got, "\n"), len(all))
		}
	}
	for _, format := range []string{"json", "jsonl"} {
		for _, q := range []string{"marker", "", "blocks where NOT type:x", "actions where NOT tool:x | group by tool | count"} {
			for dec := json.NewDecoder(strings.NewReader(run(q, "-n", "1000", "--format", format))); dec.More(); {
				var v any
				if err := dec.Decode(&v); err != nil {
					t.Fatalf("%q as %s: %v", q, format, err)
				}
			}
		}
	}
	run("status")
	run("check")
	step := 1
	if testing.Short() {
		step = 5
	}
	for i := 0; i < len(all); i += step {
		p := all[i]
		run("read", ids[i])
		run("read", ids[i], "--format", "json")
		run("--format", "json", "messages where "+p)
		run("explain", p)
		run(fmt.Sprintf("messages where role:%q", p))
		run("messages where " + p)
		run("files where path:" + p)
		run("search", p)
		run("read", p)
		run("import", p)
		run("--format", p, "x")
	}
}

func writeHostile(t *testing.T, path, id, payload string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	record := func(n int, role string, content ...any) {
		o := map[string]any{"type": role, "uuid": fmt.Sprintf("%s-%d", id, n), "sessionId": id, "timestamp": "2026-03-01T09:00:00.000Z",
			"cwd": "/src/" + payload, "gitBranch": payload, "slug": payload, "version": payload,
			"message": map[string]any{"role": role, "id": fmt.Sprintf("m%d", n), "model": payload, "content": content}}
		if err := enc.Encode(o); err != nil {
			t.Fatal(err)
		}
	}
	record(0, "user", map[string]any{"type": "text", "text": payload + " marker " + payload})
	record(1, "assistant", map[string]any{"type": "thinking", "thinking": "marker " + payload})
	record(2, "assistant", map[string]any{"type": "tool_use", "id": "t", "name": "Tool" + payload,
		"input": map[string]any{"command": "marker " + payload, "file_path": "/x/" + payload, payload: payload}})
	record(3, "user", map[string]any{"type": "tool_result", "tool_use_id": "t", "is_error": true, "content": "marker " + payload})
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}
