package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hansard-search/hansard/cmd/hansard/internal/term"
	"github.com/hansard-search/hansard/engine"
)

func (a *app) doctorCmd() *cobra.Command {
	fix, settle := false, false
	cmd := &cobra.Command{Use: "doctor", Short: "Say what is wrong with the archive, what it means, and what to do", Args: cobra.NoArgs, Annotations: alone,
		Long: `doctor checks the whole archive and explains what it finds: what is wrong, what
that means for your data, and the commands that help. It works on archives that
cannot be opened, too. It changes nothing; with --fix it puts damaged parts of the
index aside and makes the index anew from the stored sessions, takes damaged blocks out
of the store for good, or writes a missing file FORMAT again. What was found missing from the store is told, in answers too,
until --settle says that you know and have imported again what could be.`,
		RunE: a.run(func(cmd *cobra.Command, _ []string) error {
			dir, err := a.archiveDir()
			if err != nil {
				return err
			}
			d, err := a.diagnose(cmd.Context(), dir)
			if err == nil && fix && d.NeedsFormat() {
				d, err = a.restoreFormat(cmd.Context(), dir)
			} else if err == nil && fix && d.Fixable() {
				d, err = a.treat(cmd.Context(), dir)
			}
			if err == nil && settle && d.Unsettled() {
				d, err = a.settle(cmd.Context(), dir, d.Fixed)
			}
			if err != nil {
				return err
			}
			a.code = exitOf(d)
			if a.flags.machine() {
				return a.printJSON(d)
			}
			a.printDiagnosis(d, fix)
			return nil
		})}
	cmd.Flags().BoolVar(&fix, "fix", false, "put damaged parts of the index aside and make the index anew")
	cmd.Flags().BoolVar(&settle, "settle", false, "forget what was found missing; answers are no longer called partial for it")
	return cmd
}

// restoreFormat writes the file FORMAT again and looks again.
func (a *app) restoreFormat(ctx context.Context, dir string) (*engine.Diagnosis, error) {
	if err := engine.RestoreFormat(dir, engine.Options{Now: a.Now}); err != nil {
		return nil, err
	}
	d, err := a.diagnose(ctx, dir)
	if err == nil {
		d.Fixed = append(d.Fixed, "wrote the file FORMAT again, as the database says")
	}
	return d, err
}

// settle forgets what was found missing and looks again. before is what was done
// already.
func (a *app) settle(ctx context.Context, dir string, before []string) (*engine.Diagnosis, error) {
	e, err := engine.Open(dir, engine.Options{Now: a.Now})
	if err != nil {
		return nil, err
	}
	was, err := e.Settle(ctx)
	if err := errors.Join(err, e.Close()); err != nil {
		return nil, err
	}
	d, err := a.diagnose(ctx, dir)
	if err != nil {
		return nil, err
	}
	d.Fixed = append(d.Fixed, before...)
	for _, l := range was {
		d.Fixed = append(d.Fixed, fmt.Sprintf("settled what was found on %s: %s", l.FoundAt[:10], l.What))
	}
	return d, nil
}

// diagnose looks at the archive; through the process that has it open, if one has.
func (a *app) diagnose(ctx context.Context, dir string) (*engine.Diagnosis, error) {
	o := engine.Options{Now: a.Now}
	d, err := engine.Diagnose(ctx, dir, o)
	if err != nil || d.Error == nil || d.Error.Code != engine.CodeArchiveBusy {
		return d, err
	}
	o.ReadOnly = true
	e, attachErr := a.open(ctx, o)
	if attachErr != nil {
		return busyWith(d, attachErr), nil
	}
	d, err = engine.DiagnoseOpen(ctx, dir, o, e)
	return d, a.closing(e, err)
}

// busyWith is d, of an archive that is open elsewhere, as who tried to reach that process
// says it: with its id.
func busyWith(d *engine.Diagnosis, err error) *engine.Diagnosis {
	var busy *engine.Error
	if errors.As(err, &busy) && busy.Code == engine.CodeArchiveBusy && len(d.Findings) == 1 {
		d.Error, d.Findings[0].What = busy, busy.Message
	}
	return d
}

// treat makes the index anew and looks again.
func (a *app) treat(ctx context.Context, dir string) (*engine.Diagnosis, error) {
	e, err := a.open(ctx, engine.Options{NoHeal: true})
	if err != nil {
		return nil, err
	}
	p := a.startProgress()
	r, err := e.Rebuild(ctx, func(now engine.Progress) { p.Set("rebuilding", now.BytesDone, now.BytesTotal) })
	p.Done()
	if err := errors.Join(err, e.Close()); err != nil {
		return nil, err
	}
	d, err := a.diagnose(ctx, dir)
	if err != nil {
		return nil, err
	}
	d.Treated()
	for _, block := range r.Dropped {
		d.Fixed = append(d.Fixed, "dropped a damaged block of the store: "+block)
	}
	d.Fixed = append(d.Fixed, fmt.Sprintf("indexed %s anew: %s", plural(r.Sessions, "session"), plural(r.Segments, "segment")))
	for _, u := range r.Unreadable {
		d.Fixed = append(d.Fixed, fmt.Sprintf("left out %s, which the next import of its source replaces", u.Session))
	}
	return d, nil
}

// exitOf is the exit code of a diagnosis: that of the error which kept the archive
// closed, or 5 if anything is wrong.
func exitOf(d *engine.Diagnosis) int {
	switch {
	case d.Sound:
		return exitOK
	case d.Error != nil:
		if code, ok := exits[d.Error.Code]; ok {
			return code
		}
		return exitInternal
	}
	return exitDamaged
}

func (a *app) printDiagnosis(d *engine.Diagnosis, fix bool) {
	st := a.style(a.Stdout)
	say := func(format string, args ...any) { fmt.Fprintf(a.Stdout, format+"\n", args...) }
	for _, f := range d.Fixed {
		say("done: %s", term.Line(f))
	}
	switch {
	case d.Sound:
		say("%s: %s and %s, every byte checked", st.Bold("sound"), plural(d.Sessions, "session"), plural(d.Segments, "segment"))
	case len(d.Findings) == 1:
		say("1 thing is wrong with %s", term.Line(d.Archive))
	default:
		say("%d things are wrong with %s", len(d.Findings), term.Line(d.Archive))
	}
	for i, f := range d.Findings {
		say("\n%s %s", st.Bold(fmt.Sprintf("%d.", i+1)), term.Line(f.What))
		for _, p := range f.Places {
			say("     %s", term.Line(p))
		}
		if f.Count > len(f.Places) && len(f.Places) > 0 {
			say("     (%s; hansard check lists all)", plural(f.Count, "fault"))
		}
		say("   what it means: %s", term.Line(f.Means))
		say("   what to do:")
		for _, s := range f.Do {
			say("     %s", term.Line(s.Text))
			if s.Command != nil {
				say("       %s", st.Bold(term.Line(shellLine(s.Command))))
			}
		}
	}
	if len(d.Evidence) > 0 {
		var size int64
		for _, e := range d.Evidence {
			size += e.Bytes
		}
		say("\n%s of the index put aside earlier (%s), as evidence; nothing needs them:", plural(len(d.Evidence), "damaged file"), term.Bytes(size))
		for _, e := range d.Evidence {
			say("     %s  %s", term.Line(e.File), term.Line(e.Reason))
		}
	}
	if fix && !d.Sound && len(d.Fixed) == 0 {
		say("\nnothing of this can be repaired by --fix")
	}
}

// shellLine is a command as it can be typed.
func shellLine(args []string) string {
	if len(args) == 3 && args[0] == "sh" && args[1] == "-c" {
		return args[2]
	}
	words := make([]string, len(args))
	for i, w := range args {
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$`*?[]{}()<>|&;!#~") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		words[i] = w
	}
	return strings.Join(words, " ")
}
