package cli

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/hansard-search/hansard/cmd/hansard/internal/term"
	"github.com/hansard-search/hansard/engine"
)

// printHits shows an answer to a person: per session a headline, the place of the
// match with the words marked, and how to go on from there.
func (a *app) printHits(env *engine.SearchEnvelope) error {
	st := a.style(a.Stdout)
	out := bufio.NewWriter(a.Stdout)
	for i, h := range env.Hits {
		if i > 0 {
			fmt.Fprintln(out)
		}
		rank := env.Offset + i + 1
		if h.Match != nil {
			rank = h.Match.Rank
		}
		fmt.Fprintf(out, "%s  %s\n", st.Bold(fmt.Sprintf("%2d", rank)), st.Bold(term.Cut(term.Line(title(h.Session)), 96)))
		fmt.Fprintf(out, "    %s\n", st.Faint(term.Line(headline(h.Session))))
		if h.Match != nil {
			fmt.Fprintf(out, "    %s\n", marked(h.Match, st))
			fmt.Fprintf(out, "    %s\n", st.Cyan(term.Line("hansard read block:"+h.Match.BlockID)))
		} else {
			fmt.Fprintf(out, "    %s\n", st.Cyan(term.Line("hansard read session:"+h.Session.ID)))
		}
		if hint := resumeHint(h.Session); hint != "" {
			fmt.Fprintf(out, "    %s\n", st.Faint(term.Line(hint)))
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	a.printFooter(env)
	return nil
}

// printFooter says on stderr how many there are, what is missing, and what next.
func (a *app) printFooter(env *engine.SearchEnvelope) {
	st := a.style(a.Stderr)
	for _, w := range env.Warnings {
		fmt.Fprintf(a.Stderr, "%s %s\n", st.Yellow("warning:"), term.Line(w))
	}
	if d := env.Diagnostics; d != nil {
		fmt.Fprintln(a.Stderr, term.Escape(d.Message))
		for i, f := range d.Filters {
			if i > 0 { // the first stands in every answer
				fmt.Fprintf(a.Stderr, "  filter: %s\n", term.Line(f))
			}
		}
		for _, r := range d.Reasons {
			fmt.Fprintf(a.Stderr, "  %s\n", term.Line(r.Summary))
		}
		if verb := a.nearVerb(env.Expression); verb != "" {
			fmt.Fprintf(a.Stderr, "did you mean the command hansard %s?\n", verb)
		}
	} else {
		fmt.Fprintf(a.Stderr, "\n%s\n", st.Faint(pageLine(env)))
	}
	a.sayReadOnly(env.ReadOnly)
	a.sayMissing(env.Missing)
}

// pageLine says which part of the hits the page is.
func pageLine(env *engine.SearchEnvelope) string {
	all := plural(env.Total, "session")
	switch {
	case env.Truncated:
		return fmt.Sprintf("%d of %s; --limit N or --offset %d for more", env.Returned, all, env.Offset+env.Returned)
	case env.Returned == 0 && env.Offset > 0:
		return fmt.Sprintf("%s; the page begins after the last", all)
	case env.Offset > 0:
		return fmt.Sprintf("%d of %s, the last", env.Returned, all)
	}
	return all
}

// nearVerb is the verb that a query of one word resembles, as a misspelled one does.
func (a *app) nearVerb(text string) string {
	for _, verb := range a.verbs {
		if d := distance(text, verb); d > 0 && d <= 2 && d < len(verb)/2 {
			return verb
		}
	}
	return ""
}

// sayReadOnly says on stderr why nothing can be imported.
func (a *app) sayReadOnly(why *engine.ReadOnly) {
	if why != nil {
		fmt.Fprintf(a.Stderr, "%s nothing can be imported: %s\nhint: %s\n", a.style(a.Stderr).Yellow("read-only:"), term.Line(why.Reason), term.Line(why.Hint))
	}
}

func title(s engine.SessionSummary) string {
	if s.Title != "" {
		return s.Title
	}
	return s.ID
}

// headline is where and when: origin, day, repository or folder, size.
func headline(s engine.SessionSummary) string {
	parts := []string{s.Origin}
	if day := s.UpdatedAt; day != nil {
		parts = append(parts, (*day)[:10])
	} else if s.CreatedAt != nil {
		parts = append(parts, (*s.CreatedAt)[:10])
	}
	if s.Repo != nil {
		parts = append(parts, *s.Repo)
	} else if s.CwdDisplay != nil {
		parts = append(parts, *s.CwdDisplay)
	}
	return strings.Join(append(parts, plural(int(s.MessageCount), "message")), " · ")
}

// marked is the snippet with its matched words marked instead of in brackets.
func marked(m *engine.Match, st term.Style) string {
	if !st.On {
		return term.Line(m.Snippet)
	}
	var b strings.Builder
	last := 0
	for _, h := range m.Highlights {
		b.WriteString(term.Piece(m.Snippet[last : h[0]-1]))
		b.WriteString(st.Hit(term.Piece(m.Snippet[h[0]:h[1]])))
		last = h[1] + 1
	}
	b.WriteString(term.Piece(m.Snippet[last:]))
	return b.String()
}

// resumeHint is the command that takes the session up again in its own agent.
func resumeHint(s engine.SessionSummary) string {
	_, native, _ := strings.Cut(s.ID, ":")
	if strings.ContainsAny(native, ": ") {
		return ""
	}
	command := ""
	switch s.Origin {
	case "claude-code-session":
		command = "claude --resume " + native
	case "codex-session":
		command = "codex resume " + native
	default:
		return ""
	}
	if s.CwdDisplay != nil {
		command = "cd " + shellQuote(*s.CwdDisplay) + " && " + command
	}
	return "resume: " + command
}

// shellQuote makes a path one word of a POSIX shell.
func shellQuote(s string) string {
	safe := strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+@%", r))
	}) < 0
	if safe && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
