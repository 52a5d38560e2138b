package codex

import (
	"fmt"
	"strings"
	"time"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/source"
)

// dump writes what was read in a form that people can review.
func dump(c *collector, n source.Records) string {
	var b strings.Builder
	torn := ""
	if n.Torn {
		torn = " torn"
	}
	fmt.Fprintf(&b, "records read=%d stored=%d skipped=%d rejected=%d consumed=%d%s\n", n.Read, n.Stored, n.Skipped, n.Rejected, n.Consumed, torn)
	for _, p := range c.problems {
		fmt.Fprintf(&b, "problem line=%d offset=%d %s\n", p.Line, p.Offset, p.Reason)
	}
	for _, s := range c.sessions {
		dumpHead(&b, &s.head)
		for i := range s.messages {
			dumpMessage(&b, &s.messages[i])
		}
	}
	return b.String()
}

// fields writes the pairs whose value is not empty.
func fields(b *strings.Builder, indent string, pairs ...string) {
	b.WriteString(indent)
	first := true
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			continue
		}
		if !first {
			b.WriteByte(' ')
		}
		first = false
		b.WriteString(pairs[i] + "=" + pairs[i+1])
	}
	b.WriteByte('\n')
}

func quote(s string) string {
	if s == "" {
		return ""
	}
	return fmt.Sprintf("%q", s)
}

func at(t int64) string {
	if t == archive.NoTime {
		return "?"
	}
	return time.UnixMilli(t).UTC().Format("2006-01-02T15:04:05.000")
}

func dumpHead(b *strings.Builder, s *archive.Session) {
	title := ""
	if s.Title != "" {
		title = fmt.Sprintf("%q(%s,%s,%v)", s.Title, s.TitleSource, s.TitleRef, s.TitleConfidence)
	}
	fields(b, "session ", "id", string(s.ID()), "title", title, "name", s.DisplayName, "branch", string(s.Branch), "parent", s.Parent,
		"version", s.Version, "created", at(s.Created), "updated", at(s.Updated))
	fields(b, "  ", "dirs", strings.Join(s.WorkDirs, ","), "git", s.GitBranch, "repo", s.RepoURL, "commit", s.Commit, "instructions", quote(s.Instructions))
	for _, l := range s.Links {
		fields(b, "  link ", "type", l.Type, "parent", l.Parent, "method", quote(l.Method))
	}
	for _, u := range s.Usage {
		fmt.Fprintf(b, "  usage %s in=%d out=%d cached=%d reasoning=%d\n", u.Model, u.Input, u.Output, u.CacheRead, u.Reasoning)
	}
	for _, e := range s.Events {
		fields(b, "  event ", "kind", e.Kind, "time", at(e.Time), "summary", quote(e.Summary), "payload", e.Payload)
	}
}

func dumpMessage(b *strings.Builder, m *archive.Message) {
	tokens := ""
	if m.Tokens != (archive.Tokens{}) {
		tokens = fmt.Sprintf("%d/%d/%d", m.Tokens.Input, m.Tokens.Output, m.Tokens.CacheRead)
	}
	var list []string
	if m.Inherited {
		list = append(list, "inherited")
	}
	if m.Abandoned {
		list = append(list, "abandoned")
	}
	flags := strings.Join(list, ",")
	fields(b, fmt.Sprintf("#%d %s ", m.Position, m.Role), "native", m.Native, "parent", m.Parent, "type", string(m.Type), "material", string(m.Material),
		"model", m.Model, "effort", m.Effort, "from", m.Sender, "to", m.Recipient, "time", at(m.Time), "tokens", tokens, "flags", flags)
	for _, a := range m.Attachments {
		size := ""
		if a.Size > 0 {
			size = fmt.Sprint(a.Size)
		}
		fields(b, "  attachment ", "id", shorten(a.ID, 12), "name", quote(a.Name), "media", a.Media, "size", size, "url", a.SourceURL)
	}
	for i := range m.Blocks {
		k := &m.Blocks[i]
		fields(b, "  "+string(k.Type)+" ", "tool", k.ToolName, "id", k.ToolID, "input", k.ToolInput, "media", k.Media,
			"outcome", outcomeText(k), "paths", strings.Join(k.Paths, ","), "text", quote(k.Text))
	}
}

func outcomeText(b *archive.Block) string {
	if b.Type != archive.BlockToolResult {
		return ""
	}
	s := [...]string{"unknown", "ok", "error"}[b.Outcome.IsError]
	if b.Outcome.Reason != "" {
		s += "(" + b.Outcome.Reason + ")"
	}
	if b.Outcome.ExitCode.Known {
		s += fmt.Sprintf(" exit=%d", b.Outcome.ExitCode.Value)
	}
	return s
}
