package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hansard-search/hansard/cmd/hansard/internal/demo"
	"github.com/hansard-search/hansard/cmd/hansard/internal/term"
	"github.com/hansard-search/hansard/engine"
)

// tour is what the demo asks, and why that is worth asking.
var tour = []struct{ query, why string }{
	{`timeout upload`, "Bare words: sessions with a block that holds both, the best match first."},
	{`"null pointer exception" -deadlock`, "A phrase, and a word that must not occur anywhere in the session."},
	{`retry* repo:harbor tool:shell since:2026-02-01`, "A prefix, in sessions of one repository that ran a shell command since February."},
}

// tourHits is how many answers of each question the tour shows.
const tourHits = 2

func (a *app) demoCmd() *cobra.Command {
	var keep string
	cmd := &cobra.Command{Use: "demo", Short: "Try hansard on a small invented archive", Args: cobra.NoArgs, Annotations: alone}
	cmd.Flags().StringVar(&keep, "keep", "", "make the demo in this folder and leave it there: the archive is in its subfolder archive")
	completeFlags(cmd, "keep")
	cmd.RunE = a.run(func(cmd *cobra.Command, _ []string) (err error) {
		dir := keep
		if dir == "" {
			if dir, err = os.MkdirTemp("", "hansard-demo-"); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		}
		return a.runDemo(cmd, dir, keep != "")
	})
	return cmd
}

func (a *app) runDemo(cmd *cobra.Command, dir string, kept bool) error {
	home, archive := filepath.Join(dir, "home"), filepath.Join(dir, "archive")
	n, err := demo.Write(home)
	if err != nil {
		return err
	}
	e, err := engine.Open(archive, engine.Options{Create: true, Now: a.Now})
	if err != nil {
		return err
	}
	report, err := e.Import(cmd.Context(), engine.ImportRequest{Home: home})
	if err == nil {
		err = a.guide(cmd, e, n, report, kept)
	}
	if err := errors.Join(err, e.Close()); err != nil {
		return err
	}
	switch {
	case a.flags.machine():
	case !kept:
		fmt.Fprintln(a.Stdout, "\nThis archive is gone now; hansard demo --keep FOLDER makes one that stays.")
	default:
		fmt.Fprintf(a.Stdout, "\nThe archive is in %s; ask it more with\n  hansard --archive %s QUERY…\n", archive, shellQuote(archive))
	}
	return nil
}

// guide asks the questions of the tour and shows the first two answers of each.
func (a *app) guide(cmd *cobra.Command, e *engine.Engine, n int, r *engine.Report, kept bool) error {
	if !a.flags.machine() {
		into := "a temporary archive"
		if kept {
			into = "the archive " + term.Line(e.Dir())
		}
		if r.Added+r.Updated > 0 {
			fmt.Fprintf(a.Stdout, "Imported %d invented sessions (%d messages, %d blocks) into %s.\n", n, r.Messages, r.Blocks, into)
		} else {
			fmt.Fprintf(a.Stdout, "The %d invented sessions are in %s already.\n", n, into)
		}
	}
	var answers []*engine.SearchEnvelope
	for _, t := range tour {
		env, err := e.Search(cmd.Context(), engine.SearchRequest{Query: t.query, Limit: tourHits, Zone: a.zone()})
		if err != nil {
			return fmt.Errorf("%s: %w", t.query, err)
		}
		answers = append(answers, env)
		if a.flags.machine() {
			continue
		}
		fmt.Fprintf(a.Stdout, "\n%s\n$ hansard -n %d %s\n\n", a.style(a.Stdout).Faint(t.why), tourHits, shellQuote(t.query))
		if err := a.printHits(env); err != nil {
			return err
		}
	}
	if a.flags.machine() {
		return a.printJSON(map[string]any{"schema": "hansard.demo/1", "report": r, "searches": answers})
	}
	return nil
}
