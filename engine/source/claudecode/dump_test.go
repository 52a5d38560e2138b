package claudecode

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/jsonx"
	"github.com/hansard-search/hansard/engine/source"
)

// A recorder is a sink that keeps what it is given.
type recorder struct {
	sessions []*recorded
	problems []source.Problem
	broken   []string // laws of a sink that the reader broke
}

type recorded struct {
	r        *recorder
	native   string
	messages []archive.Message
	head     *archive.Session
}

func (r *recorder) Session(o archive.Origin, native string) (source.SessionSink, error) {
	if o != archive.ClaudeCode || native == "" || native != archive.NormalNative(native) {
		r.broken = append(r.broken, fmt.Sprintf("session %q of %q", native, o))
	}
	for _, s := range r.sessions {
		if s.native == native {
			r.broken = append(r.broken, fmt.Sprintf("session %q opened twice", native))
		}
	}
	s := &recorded{r: r, native: native}
	r.sessions = append(r.sessions, s)
	return s, nil
}

func (r *recorder) Problem(p source.Problem) { r.problems = append(r.problems, p) }

func (s *recorded) Message(m *archive.Message) error {
	if s.head != nil {
		s.r.broken = append(s.r.broken, "message after the end of "+s.native)
	}
	if m.Position != len(s.messages) {
		s.r.broken = append(s.r.broken, fmt.Sprintf("%s: position %d after %d messages", s.native, m.Position, len(s.messages)))
	}
	c := *m
	c.Blocks, c.Aliases = slices.Clone(m.Blocks), slices.Clone(m.Aliases)
	c.Pastes, c.Attachments = slices.Clone(m.Pastes), slices.Clone(m.Attachments)
	s.messages = append(s.messages, c)
	return nil
}

func (s *recorded) Finish(h *archive.Session) error {
	if s.head != nil || h.Native != s.native {
		s.r.broken = append(s.r.broken, fmt.Sprintf("%s finished as %q", s.native, h.Native))
	}
	c := *h
	s.head = &c
	return nil
}

// memFile is a file of the given name and content.
func memFile(name string, content []byte) source.File {
	return source.File{Path: name, Size: int64(len(content)), ModTime: archive.NoTime,
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }}
}

// read parses a file and checks the laws that hold for every file.
func read(t testing.TB, f source.File, lim source.Limits) (*recorder, source.Records) {
	t.Helper()
	var r recorder
	n, err := Format{}.Read(context.Background(), f, lim, &r)
	if err != nil {
		t.Fatalf("%s: %v", f.Path, err)
	}
	check(t, f.Path, &r, n)
	return &r, n
}

func check(t testing.TB, name string, r *recorder, n source.Records) {
	t.Helper()
	for _, b := range r.broken {
		t.Errorf("%s: %s", name, b)
	}
	if n.Read != n.Stored+n.Skipped+n.Rejected {
		t.Errorf("%s: records do not add up: %+v", name, n)
	}
	if int64(len(r.problems)) != n.Rejected {
		t.Errorf("%s: %d problems for %d rejected records", name, len(r.problems), n.Rejected)
	}
	for _, s := range r.sessions {
		if s.head == nil {
			t.Errorf("%s: session %s has no end", name, s.native)
		}
		if len(s.messages) == 0 {
			t.Errorf("%s: session %s has no message", name, s.native)
		}
		var seqs []int
		for _, m := range s.messages {
			if m.Role == "" || m.Type == "" || m.Material == "" {
				t.Errorf("%s: %s/%d: role %q, type %q, material %q", name, s.native, m.Position, m.Role, m.Type, m.Material)
			}
			for _, b := range m.Blocks {
				seqs = append(seqs, b.Seq)
				if archive.CleanText(b.Text) != b.Text {
					t.Errorf("%s: %s/%d: text is not clean", name, s.native, m.Position)
				}
			}
		}
		if s.head != nil {
			checkEvents(t, name, s.head)
		}
		slices.Sort(seqs)
		for i, seq := range seqs {
			if seq != i {
				t.Errorf("%s: %s: block ranks are not dense: %v", name, s.native, seqs)
				break
			}
		}
	}
}

// checkEvents holds payloads to canonical JSON of bounded size.
func checkEvents(t testing.TB, name string, h *archive.Session) {
	t.Helper()
	var p jsonx.Parser
	for _, e := range h.Events {
		if e.Payload == "" {
			continue
		}
		v, err := p.ParseString(e.Payload)
		if err != nil || v.Type() != jsonx.Object || v.Canonical() != e.Payload {
			t.Errorf("%s: payload of %s is not canonical (%v): %s", name, e.Kind, err, e.Payload)
		}
		if len(e.Payload) > 24<<10 || len(e.Summary) > maxSummary+4 {
			t.Errorf("%s: event %s of %d and %d bytes", name, e.Kind, len(e.Payload), len(e.Summary))
		}
	}
}

// dump prints sessions for goldens: one line per fact, empty facts left out.
func dump(r *recorder, n source.Records) string {
	var b strings.Builder
	fmt.Fprintf(&b, "records read %d stored %d skipped %d rejected %d consumed %d", n.Read, n.Stored, n.Skipped, n.Rejected, n.Consumed)
	if n.Torn {
		b.WriteString(" torn")
	}
	b.WriteByte('\n')
	for _, p := range r.problems {
		fmt.Fprintf(&b, "problem line %d offset %d: %s\n", p.Line, p.Offset, p.Reason)
	}
	for _, s := range r.sessions {
		dumpHead(&b, s.head)
		for i := range s.messages {
			dumpMessage(&b, &s.messages[i])
		}
		for _, e := range s.head.Events {
			fmt.Fprintf(&b, "  event %s%s %q %s\n", e.Kind, stamp(e.Time), e.Summary, e.Payload)
		}
	}
	return b.String()
}

func stamp(t int64) string {
	if t == archive.NoTime {
		return ""
	}
	return fmt.Sprintf(" @%d", t)
}

func fact(b *strings.Builder, name, value string) {
	if value != "" {
		fmt.Fprintf(b, " %s=%q", name, value)
	}
}

func dumpHead(b *strings.Builder, h *archive.Session) {
	fmt.Fprintf(b, "\nsession %s\n ", h.ID())
	fact(b, "branch", string(h.Branch))
	fact(b, "parent", h.Parent)
	if h.Title != "" {
		fmt.Fprintf(b, " title=%q (%s, %s, %g)", h.Title, h.TitleSource, h.TitleRef, h.TitleConfidence)
	}
	fact(b, "name", h.DisplayName)
	fact(b, "cwd", strings.Join(h.WorkDirs, " "))
	fact(b, "git", h.GitBranch)
	fact(b, "version", h.Version)
	if h.ReportedMS.Known {
		fmt.Fprintf(b, " ms=%d", h.ReportedMS.Value)
	}
	if h.CostKnown {
		fmt.Fprintf(b, " cost=%g", h.ReportedCost)
	}
	b.WriteByte('\n')
	for _, u := range h.Usage {
		fmt.Fprintf(b, "  usage %s %d/%d/%d/%d\n", u.Model, u.Input, u.Output, u.CacheRead, u.CacheWrite)
	}
	for _, l := range h.Links {
		fmt.Fprintf(b, "  link %+v\n", l)
	}
	for _, r := range h.Refs {
		fmt.Fprintf(b, "  ref %+v\n", r)
	}
}

func dumpMessage(b *strings.Builder, m *archive.Message) {
	fmt.Fprintf(b, "  %d %s %s/%s/%s%s", m.Position, cmp.Or(m.Native, "-"), m.Role, m.Type, m.Material, stamp(m.Time))
	fact(b, "parent", m.Parent)
	fact(b, "aliases", strings.Join(m.Aliases, " "))
	fact(b, "model", m.Model)
	fact(b, "effort", m.Effort)
	fact(b, "stop", m.StopReason)
	if m.Duration.Known {
		fmt.Fprintf(b, " ms=%d", m.Duration.Value)
	}
	if t := m.Tokens; t != (archive.Tokens{}) {
		fmt.Fprintf(b, " tokens=%d/%d/%d/%d", t.Input, t.Output, t.CacheRead, t.CacheWrite)
	}
	if m.Inherited {
		b.WriteString(" inherited")
	}
	for _, p := range m.Pastes {
		fmt.Fprintf(b, " paste=#%d[%d:%d]", p.Position, p.Start, p.End)
	}
	b.WriteByte('\n')
	for i := range m.Blocks {
		dumpBlock(b, &m.Blocks[i])
	}
	for _, a := range m.Attachments {
		fmt.Fprintf(b, "      attachment name=%q media=%q size=%d id=%q url=%q\n", a.Name, a.Media, a.Size, a.ID, a.SourceURL)
	}
}

func dumpBlock(b *strings.Builder, k *archive.Block) {
	fmt.Fprintf(b, "    #%d %s", k.Seq, k.Type)
	fact(b, "tool", k.ToolName)
	fact(b, "id", k.ToolID)
	fact(b, "input", k.ToolInput)
	fact(b, "media", k.Media)
	fact(b, "language", k.Language)
	fact(b, "signature", k.Signature)
	fact(b, "paths", strings.Join(k.Paths, " "))
	if k.Type == archive.BlockToolResult {
		fmt.Fprintf(b, " error=%s", []string{"unknown", "false", "true"}[k.Outcome.IsError])
		fact(b, "because", k.Outcome.Reason)
		if k.Outcome.ExitCode.Known {
			fmt.Fprintf(b, " exit=%d", k.Outcome.ExitCode.Value)
		}
	}
	fact(b, "text", k.Text)
	b.WriteByte('\n')
}

// corpusFiles are the real files of the format, or none.
func corpusFiles(t testing.TB) []string {
	t.Helper()
	root := os.Getenv("HANSARD_CORPUS")
	if root == "" {
		t.Skip("HANSARD_CORPUS is not set")
	}
	manifest, err := os.ReadFile(filepath.Join(root, "MANIFEST.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for line := range strings.Lines(string(manifest)) {
		if f := strings.Split(line, "\t"); len(f) > 2 && f[1] == "claude-code" {
			files = append(files, filepath.Join(root, f[0]))
		}
	}
	return files
}
