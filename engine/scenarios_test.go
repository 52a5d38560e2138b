package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/query"
)

// TestScenarios plays the transcripts; the archive is checked after every step.
// `go test -rewrite` writes what happens into them.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata/scenarios", play)
}

func play(t *testing.T, file string) {
	s := &scene{world: newWorld(t, Options{NoMerge: true, NoHeal: true}), scripts: map[string]*script{}}
	datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
		return s.do(t, d) + s.faults()
	})
}

// A scene is a world with named session files.
type scene struct {
	*world
	scripts map[string]*script
}

// faults lists what the check finds, nothing in a sound archive.
func (s *scene) faults() string {
	r, err := s.Check(context.Background())
	if err != nil {
		return s.failed(err)
	}
	var b strings.Builder
	for _, f := range r.Faults {
		fmt.Fprintf(&b, "fault: %s: %s\n", f.Where, f.What)
	}
	return s.neutral(b.String())
}

// neutral replaces the folder of the test.
func (s *scene) neutral(text string) string { return strings.ReplaceAll(text, s.src, "SRC") }

func (s *scene) failed(err error) string {
	var e *Error
	var q *query.Error
	switch {
	case errors.As(err, &e):
		return s.neutral(fmt.Sprintf("error %s: %s\nhint: %s\n", e.Code, e.Message, e.Hint))
	case errors.As(err, &q):
		return fmt.Sprintf("error %s: %s\n", q.Code, q.Message)
	}
	return s.neutral(fmt.Sprintf("error: %v\n", err))
}

func (s *scene) do(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "session":
		return s.session(t, d)
	case "copy":
		from := s.scripts[d.CmdArgs[0].Key]
		_, content := from.file()
		s.write(d.CmdArgs[1].Key, content)
		return "ok\n"
	case "lose":
		name, _ := s.scripts[d.CmdArgs[0].Key].file()
		if err := os.Remove(filepath.Join(s.src, name)); err != nil {
			t.Fatal(err)
		}
		return "ok\n"
	case "raw-file":
		s.write(d.CmdArgs[0].Key, []byte(d.Input))
		return "ok\n"
	case "import":
		return s.imports(d)
	case "search":
		return s.searches(t, d)
	case "read":
		return s.reads(d)
	case "raw":
		return s.raw(d)
	case "reopen":
		s.reopen(s.opts)
		return "ok\n"
	case "damage":
		return s.damage(t, d.HasArg("middle"))
	case "rebuild":
		r, err := s.Rebuild(context.Background(), nil)
		if err != nil {
			return s.failed(err)
		}
		return fmt.Sprintf("rebuilt %d sessions\n", r.Sessions)
	}
	t.Fatalf("unknown command %s", d.Cmd)
	return ""
}

// session writes or grows a session file. Each line of input is a turn: its kind,
// a colon, and its text; a call has the tool and the command. With torn, half of
// the last line is missing. at is the hour of a new session.
func (s *scene) session(t *testing.T, d *datadriven.TestData) string {
	native := d.CmdArgs[0].Key
	sc := s.scripts[native]
	if sc == nil {
		sc = &script{native: native, cwd: "/srv/shop", codex: d.HasArg("codex"), start: testNow.Add(time.Duration(len(s.scripts)) * time.Hour)}
		s.scripts[native] = sc
	}
	if d.HasArg("at") {
		var hours int
		d.ScanArgs(t, "at", &hours)
		sc.start = testNow.Add(time.Duration(hours) * time.Hour)
	}
	if d.HasArg("title") {
		d.ScanArgs(t, "title", &sc.title)
	}
	for line := range strings.Lines(d.Input) {
		kind, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		now := turn{kind: kind, text: text}
		if kind == "call" {
			tool, command, _ := strings.Cut(text, " ")
			now = turn{kind: kind, tool: tool, input: map[string]any{"command": command}}
		}
		sc.turns = append(sc.turns, now)
	}
	name, content := sc.file()
	if d.HasArg("torn") {
		content = content[:len(content)-40]
	}
	s.write(name, content)
	return "ok\n"
}

func (s *scene) imports(d *datadriven.TestData) string {
	req := ImportRequest{Paths: []string{s.src}}
	if len(d.CmdArgs) > 0 {
		req.Paths = nil
	}
	for _, a := range d.CmdArgs {
		req.Paths = append(req.Paths, filepath.Join(s.src, a.Key))
	}
	r, err := s.Import(context.Background(), req)
	if err != nil && r == nil {
		return s.failed(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "added %d, updated %d, unchanged %d, rejected %d; records read %d, stored %d, skipped %d, rejected %d; files read %d, unchanged %d, skipped %d, unreadable %d\n",
		r.Added, r.Updated, r.Unchanged, r.Rejected, r.Records.Read, r.Records.Stored, r.Records.Skipped, r.Records.Rejected,
		r.Files.Read, r.Files.Unchanged, r.Files.Skipped, r.Files.Unreadable)
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "problem %s line %d: %s\n", p.File, p.Line, p.Reason)
	}
	for _, k := range r.Skips {
		fmt.Fprintf(&b, "skipped %s: %s\n", k.Path, k.Reason)
	}
	if err != nil {
		b.WriteString(s.failed(err))
	}
	return s.neutral(b.String())
}

func (s *scene) searches(t *testing.T, d *datadriven.TestData) string {
	req := SearchRequest{Query: d.Input}
	if d.HasArg("lane") {
		d.ScanArgs(t, "lane", &req.Lane)
	}
	if d.HasArg("limit") {
		d.ScanArgs(t, "limit", &req.Limit)
	}
	if d.HasArg("cursor") {
		d.ScanArgs(t, "cursor", &req.Cursor)
	}
	env, err := s.Search(context.Background(), req)
	if err != nil {
		return s.failed(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d (%s)\n", env.Returned, env.Total, env.TotalIs)
	for _, h := range env.Hits {
		fmt.Fprintf(&b, "  %s %q", h.Session.ID, h.Session.Title)
		if m := h.Match; m != nil && m.Score != nil {
			fmt.Fprintf(&b, " %.6f", *m.Score)
		}
		if m := h.Match; m != nil {
			fmt.Fprintf(&b, " %s %q", m.BlockType, m.Snippet)
		}
		b.WriteByte('\n')
	}
	for _, m := range env.Missing {
		fmt.Fprintf(&b, "missing: %s with %d sessions: %s\n", m.File, m.Sessions, m.Reason)
	}
	if env.Diagnostics != nil {
		fmt.Fprintf(&b, "%s\n", env.Diagnostics.Message)
		for _, r := range env.Diagnostics.Reasons {
			fmt.Fprintf(&b, "  %s: %s\n", r.Code, r.Summary)
		}
	}
	return b.String()
}

func (s *scene) reads(d *datadriven.TestData) string {
	r, err := s.Read(context.Background(), strings.TrimSpace(d.Input))
	if err != nil {
		return s.failed(err)
	}
	defer r.Close()
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s, %d messages in all\n", r.Head.NormalizedRef, r.Head.Session.ID, r.Head.TotalMessages)
	if r.Head.Payload != nil {
		fmt.Fprintf(&b, "payload %T\n", r.Head.Payload)
	}
	for m, err := range r.Messages() {
		if err != nil {
			return b.String() + s.failed(err)
		}
		fmt.Fprintf(&b, "  %d %s %s\n", m.Position, m.Role, m.ID)
		for _, k := range m.Blocks {
			fmt.Fprintf(&b, "    %s %s %q\n", k.Type, k.ToolName, k.Text+k.Detail())
		}
	}
	return b.String()
}

// raw shows the source bytes that are kept.
func (s *scene) raw(d *datadriven.TestData) string {
	in, err := s.Raw(context.Background(), strings.TrimSpace(d.Input))
	if err != nil {
		return s.failed(err)
	}
	bytes, err := io.ReadAll(in)
	if err = errors.Join(err, in.Close()); err != nil {
		return s.failed(err)
	}
	return fmt.Sprintf("%d lines\n", strings.Count(string(bytes), "\n"))
}

// damage turns over a byte of the first segment file, in its middle or its end, and
// opens the archive again.
func (s *scene) damage(t *testing.T, middle bool) string {
	s.close()
	dir := s.opts.FS.PathJoin("archive", "segments")
	names, err := s.opts.FS.List(dir)
	if err != nil || len(names) == 0 {
		t.Fatalf("no segment to damage: %v", err)
	}
	path := s.opts.FS.PathJoin(dir, slices.Min(names))
	f, err := s.opts.FS.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	at := len(content) - 3
	if middle {
		at = len(content) / 2
	}
	content[at] ^= 0xff
	out, err := s.opts.FS.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	_, err = out.Write(content)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		t.Fatal(err)
	}
	s.open()
	return "ok\n"
}
