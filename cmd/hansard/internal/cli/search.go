package cli

import (
	"encoding/json"
	"errors"
	"fmt"
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
		Use: "search QUERY…", Short: "Search sessions (the same as hansard QUERY…)",
		Annotations: map[string]string{"query": "1"},
	}
	f := cmd.Flags()
	f.IntVarP(&req.Limit, "limit", "n", 20, "how many sessions to show")
	f.IntVar(&req.Offset, "offset", 0, "how many to skip")
	f.StringVar(&req.Cursor, "cursor", "", "continue after a page (next_cursor of the last answer)")
	f.StringVar(&req.Lane, "retrieval-lane", "auto", "auto, dialogue or actions")
	f.BoolVar(&lexical, "lexical", false, "match words only: the lane dialogue")
	f.BoolVarP(&status, "exit-status", "e", false, "exit with 1 when nothing matched")
	cmd.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		req.Query, req.Zone = strings.Join(args, " "), a.zone()
		if lexical {
			req.Lane = "dialogue"
		}
		e, err := a.open(cmd.Context(), engine.Options{})
		if err != nil {
			return err
		}
		env, err := e.Search(cmd.Context(), req)
		if err := errors.Join(locate(req.Query, err), e.Close()); err != nil {
			return err
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
	enc := json.NewEncoder(a.Stdout)
	enc.SetEscapeHTML(false)
	if a.flags.format != "jsonl" {
		enc.SetIndent("", "  ")
	}
	return enc.Encode(v)
}

// printHitLines writes one hit a line between a line that begins and one that
// ends, so that a cut stream is seen to be cut.
func (a *app) printHitLines(env *engine.SearchEnvelope) error {
	enc := json.NewEncoder(a.Stdout)
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
	return enc.Encode(map[string]any{"type": "end", "total": env.Total, "returned": env.Returned, "exact": env.Exact, "next_cursor": env.NextCursor})
}

func (a *app) explainCmd() *cobra.Command {
	return &cobra.Command{
		Use: "explain QUERY…", Short: "Say how a query is understood and executed; needs no archive",
		Annotations: map[string]string{"query": "1"},
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
