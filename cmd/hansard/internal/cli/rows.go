package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hansard-search/hansard/cmd/hansard/internal/term"
	"github.com/hansard-search/hansard/engine"
	"github.com/hansard-search/hansard/query"
)

// unitOf is the kind of row that a query asks for. Whoever asks has parsed it before.
func unitOf(text string) query.Unit {
	q, err := query.Parse(text)
	if err != nil {
		return query.UnitSession
	}
	return q.Unit
}

// noFlagsOf refuses the flags of a search for sessions that say nothing of rows: left
// out in silence they would look obeyed.
func noFlagsOf(cmd *cobra.Command, unit query.Unit) error {
	for _, name := range []string{"retrieval-lane", "lexical"} {
		if cmd.Flags().Changed(name) {
			return &engine.Error{Code: codeUsage, Field: name, Message: fmt.Sprintf("--%s cannot stand beside a query for %s, which are not ranked", name, unit.Plural()),
				Hint: "leave it out, or search for sessions"}
		}
	}
	return nil
}

// nothing reports whether no row matched: to count them all is to have one group of none.
func nothing(env *engine.UnitEnvelope) bool {
	if len(env.Items) == 1 {
		g, ok := env.Items[0].(*engine.GroupItem)
		return ok && g.Count == 0
	}
	return env.Total == 0
}

// answerRows answers a query for rows of a unit.
func (a *app) answerRows(ctx context.Context, req engine.SearchRequest, status bool) error {
	e, err := a.open(ctx, engine.Options{})
	if err != nil {
		return err
	}
	env, err := e.Units(ctx, engine.UnitRequest{Expression: req.Query, Limit: req.Limit, Offset: req.Offset, Continuation: req.Cursor, Zone: req.Zone})
	if err := a.closing(e, err); err != nil {
		return locate(req.Query, err)
	}
	switch {
	case env.Partial:
		a.code = exitPartial
	case nothing(env) && status:
		a.code = exitNoMatch
	}
	switch a.flags.format {
	case "json":
		return a.printJSON(env)
	case "jsonl":
		return a.printRowLines(env)
	}
	return a.printRows(env)
}

// printRowLines writes one row or group a line between a line that begins and one that
// ends, as printHitLines does.
func (a *app) printRowLines(env *engine.UnitEnvelope) error {
	enc := json.NewEncoder(term.JSON(a.Stdout))
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]any{"type": "begin", "schema": env.Schema, "unit": env.Unit, "expression": env.Query}); err != nil {
		return err
	}
	kind := "row"
	if inGroups(env) {
		kind = "group"
	}
	for _, item := range env.Items {
		var b bytes.Buffer
		line := json.NewEncoder(&b)
		line.SetEscapeHTML(false)
		if err := line.Encode(item); err != nil {
			return err
		}
		if _, err := io.WriteString(term.JSON(a.Stdout), `{"type":"`+kind+`",`+strings.TrimPrefix(b.String(), "{")); err != nil {
			return err
		}
	}
	return enc.Encode(map[string]any{"type": "end", "total": env.Total, "total_is": env.TotalIs, "returned": env.Returned, "exact": env.Exact,
		"partial": env.Partial, "missing": env.Missing, "warnings": env.Warnings, "read_only": env.ReadOnly, "continuation": env.Continuation,
		"next_offset": env.NextOffset, "pipeline": env.Pipeline})
}

// printRows shows an answer to a person, a row a line: the reference to read it by, what
// it is, and the beginning of what it says.
func (a *app) printRows(env *engine.UnitEnvelope) error {
	st := a.style(a.Stdout)
	out := bufio.NewWriter(a.Stdout)
	for _, item := range env.Items {
		if g, ok := item.(*engine.GroupItem); ok {
			fmt.Fprintln(out, groupLine(g))
			continue
		}
		ref, kind, detail := rowLine(item)
		fmt.Fprintf(out, "%s %s", st.Cyan(term.Line(ref)), st.Faint("["+shown(kind, longestKind)+"]"))
		if text := shown(detail, longestDetail); text != "" {
			fmt.Fprintf(out, " %s", text)
		}
		fmt.Fprintln(out)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	a.printRowFooter(env)
	return nil
}

// How many characters of a row are shown.
const (
	longestKind   = 40
	longestDetail = 160
)

// shown is text as a part of a line, at most n characters of it. What is cut off is not
// looked at: a row may be long.
func shown(text string, n int) string {
	const most = 16 << 10 // bytes, of which spaces may be many
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	r := []rune(term.Line(text))
	if len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return string(r)
}

// rowLine is the reference of a row, its kind and its detail.
func rowLine(item any) (ref, kind, detail string) {
	switch it := item.(type) {
	case *engine.MessageItem:
		return "message:" + it.MessageID, it.Role, it.Text
	case *engine.ActionItem:
		return "block:" + it.UseBlockID, toolKind(it.Semantic, it.ToolName), firstText(it.Path, it.Command, it.Output)
	case *engine.BlockItem:
		return "block:" + it.BlockID, it.Type, firstText(it.Text, it.Path, it.Command)
	}
	return "", "", ""
}

// groupLine is a group with its count and its metrics.
func groupLine(g *engine.GroupItem) string {
	by, key := "all", "all"
	if g.GroupBy != nil {
		by = *g.GroupBy
	}
	if g.GroupKey != nil {
		key = *g.GroupKey
	}
	line := fmt.Sprintf("%s=%s count=%d", by, shown(key, longestDetail), g.Count)
	for _, label := range slices.Sorted(maps.Keys(g.Metrics)) {
		if label == "count" {
			continue // is there already
		}
		value := "null"
		if v := g.Metrics[label]; v != nil {
			value = strconv.FormatFloat(*v, 'f', -1, 64)
		}
		line += " " + term.Line(label) + "=" + value
	}
	return line
}

// inGroups reports whether the items are groups of rows.
func inGroups(env *engine.UnitEnvelope) bool {
	return env.PipelineStages[len(env.PipelineStages)-1].Action != "rows"
}

// toolKind is what an action does or, where that is not known, the tool.
func toolKind(semantic, tool *string) string {
	if semantic != nil && *semantic != "other" {
		return *semantic
	}
	return firstText(tool, semantic)
}

// firstText is the first of the texts that says anything.
func firstText(of ...*string) string {
	for _, s := range of {
		if s != nil && strings.TrimSpace(*s) != "" {
			return *s
		}
	}
	return ""
}

// printRowFooter says on stderr how many there are, what is missing, and what next.
func (a *app) printRowFooter(env *engine.UnitEnvelope) {
	st := a.style(a.Stderr)
	for _, w := range env.Warnings {
		fmt.Fprintf(a.Stderr, "%s %s\n", st.Yellow("warning:"), term.Line(w))
	}
	if env.Total == 0 && !env.Partial {
		fmt.Fprintf(a.Stderr, "No %ss matched.\n", env.Unit)
		for i, f := range env.FiltersApplied {
			if i > 0 { // the first stands in every answer
				fmt.Fprintf(a.Stderr, "  filter: %s\n", term.Line(f))
			}
		}
	} else {
		fmt.Fprintf(a.Stderr, "\n%s\n", st.Faint(rowsLine(env)))
	}
	a.sayReadOnly(env.ReadOnly)
	a.sayMissing(env.Missing)
}

// rowsLine says which part of the rows the page is.
func rowsLine(env *engine.UnitEnvelope) string {
	what := env.Unit
	if inGroups(env) {
		what = "group"
	}
	all := plural(env.Total, what)
	if env.TotalIs != "exact" {
		all = "at least " + all
	}
	switch {
	case env.Continuation != nil:
		return fmt.Sprintf("%d of %s; --limit N or --offset %d for more, or the next page with\n--cursor %s", env.Returned, all, *env.NextOffset, *env.Continuation)
	case env.NextOffset != nil:
		return fmt.Sprintf("%d of %s; --limit N or --offset %d for more", env.Returned, all, *env.NextOffset)
	case env.Returned == 0 && env.Offset > 0:
		return fmt.Sprintf("%s; the page begins after the last", all)
	case env.Offset > 0:
		return fmt.Sprintf("%d of %s, the last", env.Returned, all)
	}
	return all
}
