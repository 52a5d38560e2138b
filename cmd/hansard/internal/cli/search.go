package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hansard-search/hansard/cmd/hansard/internal/term"
	"github.com/hansard-search/hansard/engine"
	"github.com/hansard-search/hansard/query"
)

func (a *app) searchCmd() *cobra.Command {
	var req engine.SearchRequest
	var status, lexical bool
	cmd := &cobra.Command{
		Use: "search QUERY…", Short: "Search sessions, or rows of them (the same as hansard QUERY…)",
		Annotations: map[string]string{"query": "1"},
	}
	f := cmd.Flags()
	f.IntVarP(&req.Limit, "limit", "n", engine.DefaultLimit, fmt.Sprintf("how many sessions or rows to show, from 1 to %d", engine.MaxLimit))
	f.IntVar(&req.Offset, "offset", 0, "how many to skip")
	f.StringVar(&req.Cursor, "cursor", "", "continue after a page (next_cursor or continuation of the last answer)")
	laneChoice().add(cmd, f, &req.Lane)
	f.BoolVar(&lexical, "lexical", false, "match words only: the lane dialogue")
	f.BoolVarP(&status, "exit-status", "e", false, "exit with 1 when nothing matched")
	completeFlags(cmd)
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	cmd.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		req.Query, req.Zone = strings.Join(args, " "), a.zone()
		if !oneOf(req.Lane, engine.LaneHybrid, engine.LaneSemantic) { // those the engine answers
			if err := laneChoice().check(req.Lane); err != nil {
				return err
			}
		}
		if lexical {
			req.Lane = engine.LaneDialogue
		}
		if err := checkPage(req); err != nil {
			return err
		}
		if _, err := engine.Explain(req.Query, engine.ExplainOptions{Now: a.Now(), Zone: req.Zone}); err != nil {
			return locate(req.Query, err) // whatever is wrong with the archive
		}
		if unit := unitOf(req.Query); unit != query.UnitSession {
			if err := noFlagsOf(cmd, unit); err != nil {
				return err
			}
			return a.answerRows(cmd.Context(), req, status)
		}
		e, err := a.open(cmd.Context(), engine.Options{})
		if err != nil {
			return err
		}
		env, err := e.Search(cmd.Context(), req)
		if err := a.closing(e, err); err != nil {
			return locate(req.Query, err)
		}
		switch {
		case env.Partial:
			a.code = exitPartial
		case env.Total == 0 && status:
			a.code = exitNoMatch
		}
		return a.showHits(env)
	})
	return cmd
}

// closing closes the archive of a question that ended with err, and returns that. What
// has its answer has it all the same if the archive does not close: stderr says so.
func (a *app) closing(e io.Closer, err error) error {
	closeArchive := io.Closer.Close
	if a.close != nil {
		closeArchive = a.close
	}
	if closed := closeArchive(e); closed != nil && err == nil {
		fmt.Fprintf(a.Stderr, "%s the archive was not closed as it should be: %s\n", a.style(a.Stderr).Yellow("warning:"), term.Line(closed.Error()))
	}
	return err
}

// sayMissing says on stderr what an answer lacks, and how many sessions that is where it
// is known.
func (a *app) sayMissing(list []engine.Damage) {
	for _, m := range list {
		what := m.File + " could not be read"
		switch {
		case m.File == "store" && m.Session == "":
			what = m.Reason + "; hansard doctor says what to do"
		case m.Session != "":
			what = "session " + m.Session + " could not be read: " + m.Reason
		case m.Sessions == 1:
			what += ", and 1 session is missing for it: " + m.Reason
		case m.Sessions > 1:
			what += fmt.Sprintf(", and %d sessions are missing for it: %s", m.Sessions, m.Reason)
		default:
			what += ": " + m.Reason
		}
		fmt.Fprintf(a.Stderr, "%s %s\n", a.style(a.Stderr).Yellow("incomplete:"), term.Line(what))
	}
}

// checkPage refuses a page that cannot be, before anything is opened. The engine takes
// no limit for its own.
func checkPage(req engine.SearchRequest) error {
	bad := func(flag, format string, args ...any) error {
		return &engine.Error{Code: codeUsage, Field: flag, Message: fmt.Sprintf("--"+flag+" "+format, args...)}
	}
	switch {
	case req.Limit < 1 || req.Limit > engine.MaxLimit:
		return &engine.Error{Code: codeUsage, Field: "limit", Message: fmt.Sprintf("--limit cannot be %d: it is from 1 to %d", req.Limit, engine.MaxLimit),
			Hint: "the total is in every answer; --offset or --cursor shows what follows"}
	case req.Offset < 0:
		return bad("offset", "cannot be %d: it is 0 or more", req.Offset)
	case req.Offset > 0 && req.Cursor != "":
		return bad("offset", "cannot stand beside --cursor, which says where the page begins")
	}
	return nil
}

// locate keeps the text of a query with the fault found in it.
func locate(text string, err error) error {
	var q *query.Error
	if errors.As(err, &q) {
		return &located{text, err}
	}
	return err
}

func (a *app) showHits(env *engine.SearchEnvelope) error {
	switch a.flags.format {
	case "json":
		return a.printJSON(env)
	case "jsonl":
		return a.printHitLines(env)
	}
	return a.printHits(env)
}

// printJSON writes one document, indented unless lines are asked for. "<", ">" and "&"
// stay readable.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(term.JSON(a.Stdout))
	enc.SetEscapeHTML(false)
	if a.flags.format != "jsonl" {
		enc.SetIndent("", "  ")
	}
	return enc.Encode(v)
}

// printHitLines writes one hit a line between a line that begins and one that
// ends, so that a cut stream is seen to be cut.
func (a *app) printHitLines(env *engine.SearchEnvelope) error {
	enc := json.NewEncoder(term.JSON(a.Stdout))
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]any{"type": "begin", "schema": env.Schema, "expression": env.Expression}); err != nil {
		return err
	}
	for _, h := range env.Hits {
		if err := enc.Encode(struct {
			Type string `json:"type"`
			engine.Hit
		}{"hit", h}); err != nil {
			return err
		}
	}
	return enc.Encode(map[string]any{"type": "end", "total": env.Total, "total_is": env.TotalIs, "returned": env.Returned, "exact": env.Exact,
		"partial": env.Partial, "missing": env.Missing, "warnings": env.Warnings, "read_only": env.ReadOnly, "next_cursor": env.NextCursor,
		"diagnostics": env.Diagnostics})
}

func (a *app) explainCmd() *cobra.Command {
	return &cobra.Command{
		Use: "explain QUERY…", Short: "Say how a query is understood and executed; needs no archive",
		Annotations: map[string]string{"query": "1"}, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.run(func(cmd *cobra.Command, args []string) error {
			text := strings.Join(args, " ")
			doc, err := engine.Explain(text, engine.ExplainOptions{Now: a.Now(), Zone: a.zone()})
			if err != nil {
				return locate(text, err)
			}
			if a.flags.machine() {
				return a.printJSON(doc)
			}
			a.printExplanation(doc)
			return nil
		}),
	}
}

func (a *app) printExplanation(doc *query.Explanation) {
	st := a.style(a.Stdout)
	fmt.Fprintf(a.Stdout, "%s %s\n", st.Bold("query"), term.Line(doc.Canonical))
	fmt.Fprintf(a.Stdout, "%s  %s\n", st.Bold("form"), doc.AST.Entry)
	for _, c := range doc.Clauses {
		fmt.Fprintf(a.Stdout, "  %-11s %s\n", c.Kind, term.Line(c.Text))
	}
	fmt.Fprintln(a.Stdout, st.Bold("plan"))
	for i, step := range doc.PlanDescription {
		fmt.Fprintf(a.Stdout, "  %d. %s\n", i+1, term.Line(step))
	}
	for _, w := range doc.Warnings {
		fmt.Fprintf(a.Stdout, "%s %s\n", st.Yellow("warning:"), term.Line(w))
	}
}
