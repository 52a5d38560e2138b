package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hansard-search/hansard/cmd/hansard/internal/term"
	"github.com/hansard-search/hansard/engine"
)

// alone marks verbs that take no words: followed by some, they are an error.
var alone = map[string]string{"alone": "1"}

func (a *app) statusCmd() *cobra.Command {
	return &cobra.Command{Use: "status", Short: "Say what the archive holds and how its index is", Args: cobra.NoArgs, Annotations: alone,
		RunE: a.run(func(cmd *cobra.Command, _ []string) error {
			e, err := a.open(cmd.Context(), engine.Options{})
			if err != nil {
				return err
			}
			s, err := e.Stats(cmd.Context())
			if err := a.closing(e, err); err != nil {
				return err
			}
			if len(s.Damaged) > 0 {
				a.code = exitDamaged
			}
			if a.flags.machine() {
				return a.printJSON(s)
			}
			a.printStats(s)
			a.sayReadOnly(s.ReadOnly)
			return nil
		})}
}

func (a *app) printStats(s *engine.Stats) {
	st := a.style(a.Stdout)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(a.Stdout, "%s %s\n", st.Bold(fmt.Sprintf("%-10s", name)), term.Line(fmt.Sprintf(format, args...)))
	}
	row("archive", "%s", s.Archive)
	row("sessions", "%d", s.Sessions)
	for _, o := range s.Origins {
		fmt.Fprintf(a.Stdout, "  %8d  %s\n", o.Sessions, term.Line(o.Origin))
	}
	row("messages", "%d", s.Messages)
	row("blocks", "%d, %d with text, %d words in the index", s.Blocks, s.SearchableBlocks, s.Tokens)
	row("actions", "%d", s.Actions)
	if s.Oldest != nil && s.Newest != nil {
		row("time", "%s to %s", (*s.Oldest)[:10], (*s.Newest)[:10])
	}
	row("index", "%s, %s, analyzer %s", plural(len(s.Segments), "segment"), term.Bytes(s.IndexBytes), s.Analyzer)
	row("store", "%s", term.Bytes(int64(s.StoreBytes)))
	state := "ready: every acknowledged session is in it"
	if len(s.Damaged) > 0 {
		state = "damaged: hansard doctor says what to do"
	}
	row("readiness", "%s", state)
	for _, d := range s.Damaged {
		fmt.Fprintf(a.Stdout, "  %s\n", term.Line(d.File+": "+d.Reason))
	}
	for _, l := range s.Losses {
		if l.Code != "STORE_LOST_COMMITS" { // that is among the damage
			fmt.Fprintf(a.Stdout, "  %s\n", term.Line(l.What))
		}
	}
}

func (a *app) checkCmd() *cobra.Command {
	deep := false
	cmd := &cobra.Command{Use: "check", Short: "Verify every byte of the archive and its index; nothing is changed", Args: cobra.NoArgs, Annotations: alone,
		RunE: a.run(func(cmd *cobra.Command, _ []string) error {
			r, err := a.checkReport(cmd.Context(), deep)
			if err != nil {
				return err
			}
			if len(r.Faults) > 0 {
				a.code = exitDamaged
			}
			if a.flags.machine() {
				return a.printJSON(r)
			}
			for _, f := range r.Faults {
				fmt.Fprintf(a.Stdout, "%s  %s: %s\n", f.Code, term.Line(f.Where), term.Line(f.What))
			}
			if len(r.Faults) == 0 {
				fmt.Fprintf(a.Stdout, "no fault in %s and %s (%v)\n", plural(r.Sessions, "session"), plural(r.Segments, "segment"), time.Duration(r.DurationMS)*time.Millisecond)
			} else {
				fmt.Fprintf(a.Stderr, "%s; hansard doctor says what to do\n", plural(len(r.Faults), "fault"))
			}
			a.sayReadOnly(r.ReadOnly)
			return nil
		})}
	cmd.Flags().BoolVar(&deep, "deep", false, "also make each segment anew in memory and compare it byte for byte")
	return cmd
}

// checkReport checks the archive as a reader, so that nothing is repaired before it is
// seen. A deep check is not asked of another process.
func (a *app) checkReport(ctx context.Context, deep bool) (*engine.CheckReport, error) {
	o := engine.Options{ReadOnly: true, Now: a.Now}
	if deep {
		dir, err := a.archiveDir()
		if err != nil {
			return nil, err
		}
		e, err := engine.Open(dir, o)
		if err != nil {
			return nil, err
		}
		r, err := e.CheckWith(ctx, engine.CheckOptions{Deep: true})
		return r, a.closing(e, err)
	}
	e, err := a.open(ctx, o)
	if err != nil {
		return nil, err
	}
	r, err := e.Check(ctx)
	return r, a.closing(e, err)
}

func (a *app) rebuildCmd() *cobra.Command {
	return &cobra.Command{Use: "rebuild", Short: "Make the index anew from the stored sessions", Args: cobra.NoArgs, Annotations: alone,
		RunE: a.run(func(cmd *cobra.Command, _ []string) error {
			e, err := a.open(cmd.Context(), engine.Options{})
			if err != nil {
				return err
			}
			p := a.startProgress()
			r, err := e.Rebuild(cmd.Context(), func(now engine.Progress) { p.Set("rebuilding", now.BytesDone, now.BytesTotal) })
			p.Done()
			if err := errors.Join(err, e.Close()); err != nil {
				return err
			}
			if len(r.Unreadable) > 0 {
				a.code = exitPartial
			}
			if a.flags.machine() {
				return a.printJSON(r)
			}
			fmt.Fprintf(a.Stdout, "indexed %s anew: %s, %s\n", plural(r.Sessions, "session"), plural(r.Segments, "segment"), term.Bytes(r.IndexBytes))
			for _, block := range r.Dropped {
				fmt.Fprintf(a.Stdout, "dropped a damaged block of the store: %s\n", term.Line(block))
			}
			for _, d := range r.Unreadable {
				fmt.Fprintf(a.Stderr, "left out: %s: %s\n", term.Line(d.Session), term.Line(d.Reason))
			}
			return nil
		})}
}
