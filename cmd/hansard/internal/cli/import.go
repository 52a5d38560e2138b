package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hansard-search/hansard/cmd/hansard/internal/term"
	"github.com/hansard-search/hansard/engine"
	"github.com/hansard-search/hansard/engine/owner"
)

func (a *app) importCmd() *cobra.Command {
	var home string
	var force, noRaw bool
	cmd := &cobra.Command{
		Use: "import [PATH…]", Short: "Import sessions of this machine's agents, or the named files and folders",
	}
	cmd.Flags().StringVar(&home, "home", "", "home folder to find the agents' sessions in (default: yours)")
	cmd.Flags().BoolVar(&force, "force", false, "read files again although they have not changed")
	cmd.Flags().BoolVar(&noRaw, "no-raw", false, "do not keep the source bytes")
	completeFlags(cmd, "home")
	cmd.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		if home != "" && len(args) > 0 {
			return &engine.Error{Code: codeUsage, Field: "home", Message: "--home cannot stand beside paths: they say what is imported",
				Hint: "leave out one of them, or import twice"}
		}
		req := engine.ImportRequest{Home: home, Env: agentEnv(a.Environ()), Paths: args, Force: force, DropRaw: noRaw}
		if home != "" {
			req.Env = nil // the variables speak of this user's home, not of that one
			if fi, err := os.Stat(home); err != nil || !fi.IsDir() {
				return &engine.Error{Code: engine.CodeSourceMissing, Field: "home", Message: "there is no folder " + home, Err: err}
			}
		} else if len(args) == 0 {
			h, err := a.home("home", "name the folder with --home")
			if err != nil {
				return err
			}
			req.Home = h
		}
		if err := anyThere(args); err != nil {
			return err
		}
		e, err := a.open(cmd.Context(), engine.Options{Create: true})
		if err != nil {
			return err
		}
		report, err := a.runImport(cmd, e, req)
		err = interruption(cmd.Context(), errors.Join(err, e.Close()))
		if report == nil {
			return err
		}
		return a.showReport(report, req, err)
	})
	return cmd
}

// anyThere refuses an import of which no input is there, before an archive is made for
// it. One that is there is imported, and the others are reported.
func anyThere(paths []string) error {
	if slices.Contains(paths, "") {
		return &engine.Error{Code: engine.CodeInvalidArgument, Field: "paths", Message: "a path is empty"}
	}
	for _, p := range paths {
		if _, err := os.Stat(p); err == nil {
			return nil
		}
	}
	switch len(paths) {
	case 0:
		return nil
	case 1:
		_, err := os.Stat(paths[0])
		return &engine.Error{Code: engine.CodeSourceMissing, Field: "paths", Message: fmt.Sprintf("cannot import %q: %v", paths[0], cause(err)),
			Hint: "name a session file, or a folder of them; nothing was changed", Err: err}
	}
	return &engine.Error{Code: engine.CodeSourceMissing, Field: "paths", Message: fmt.Sprintf("none of the %d paths can be read, as the first: %q", len(paths), paths[0]),
		Hint: "name session files, or folders of them; nothing was changed"}
}

// cause is what an error says without the path.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

func (a *app) runImport(cmd *cobra.Command, e *owner.Archive, req engine.ImportRequest) (*engine.Report, error) {
	p := a.startProgress()
	defer p.Done()
	req.Progress = func(now engine.Progress) {
		label := now.Path
		if now.Phase == "index" {
			label = "indexing"
		}
		p.Set(label, now.BytesDone, now.BytesTotal)
	}
	return e.Import(cmd.Context(), req)
}

// startProgress returns a progress line, or nil where there is nobody to see it.
func (a *app) startProgress() *term.Progress {
	if a.flags.progress == "none" || a.flags.machine() || a.flags.progress == "auto" && !term.IsTerminal(a.Stderr) {
		return nil
	}
	if a.flags.progress == "plain" {
		return term.PlainProgress(a.Stderr, a.Now)
	}
	return term.NewProgress(a.Stderr, a.Now)
}

// An importDocument is a report and, if the import did not end well, why.
type importDocument struct {
	*engine.Report
	Error *errorBody `json:"error"`
}

// showReport prints what an import did. An import that stopped early exits with 7
// and an unreadable named file with 8, after the report.
func (a *app) showReport(r *engine.Report, req engine.ImportRequest, err error) error {
	if a.flags.machine() {
		if err != nil && !r.Stopped {
			var known *engine.Error
			if !errors.As(err, &known) || known.Code != engine.CodeSourceMissing {
				return err
			}
		}
		doc := importDocument{Report: r}
		if err != nil {
			b, _ := body(err)
			doc.Error = &b
		}
		if printed := a.printJSON(doc); printed != nil {
			return printed
		}
		if err != nil {
			_, a.code = body(err)
			if r.Stopped {
				a.code = stoppedCode(err)
			}
		}
		return nil
	}
	st := a.style(a.Stdout)
	fmt.Fprintf(a.Stdout, "%s %d added, %d updated, %d unchanged", st.Bold("sessions"), r.Added, r.Updated, r.Unchanged)
	if r.Rejected > 0 {
		fmt.Fprintf(a.Stdout, ", %d empty", r.Rejected)
	}
	fmt.Fprintf(a.Stdout, "\n%s %d messages, %d blocks\n", st.Bold("stored  "), r.Messages, r.Blocks)
	fmt.Fprintf(a.Stdout, "%s %d read: %d stored, %d skipped, %d rejected\n", st.Bold("records "), r.Records.Read, r.Records.Stored, r.Records.Skipped, r.Records.Rejected)
	if !r.Stopped || r.Files.Found > 0 { // else it had not looked for them
		fmt.Fprintf(a.Stdout, "%s %d found: %s\n", st.Bold("files   "), r.Files.Found, fileWords(r.Files))
	}
	if r.Files.Found == 0 && req.Home != "" && !r.Stopped {
		fmt.Fprintf(a.Stdout, "         looked in %s; hansard import PATH… reads other places\n",
			term.Line(strings.Join(engine.SessionFolders(req.Home, req.Env), ", ")))
	}
	if left := leftOut(r.Sources); left != "" {
		fmt.Fprintf(a.Stdout, "         not read: %s\n", left)
	}
	a.showProblems(r)
	if len(req.Paths) > 0 {
		a.showSkips(r)
	}
	if r.Stopped && err != nil {
		b, _ := body(err)
		why := term.Line(b.Message)
		if b.Code != codeInterrupted {
			why = "stopped early: " + why
		}
		fmt.Fprintf(a.Stderr, "%s\nwhat is counted above is kept; run it again to go on\n", why)
		if b.Hint != "" {
			fmt.Fprintf(a.Stderr, "hint: %s\n", term.Line(b.Hint))
		}
		a.code = stoppedCode(err)
		return nil
	}
	return err
}

// leftOut names the formats whose files are not read, and how many each has.
func leftOut(sources []engine.SourceReport) string {
	var out []string
	for _, s := range sources {
		if s.Note != "" {
			out = append(out, fmt.Sprintf("%s %d", term.Line(strings.TrimPrefix(s.Format, "unsupported format ")), s.Files))
		}
	}
	return strings.Join(out, ", ")
}

// stoppedCode is the exit code of an import that ended early with err.
func stoppedCode(err error) int {
	if b, _ := body(err); b.Code == codeInterrupted {
		return exitInterrupted
	}
	return exitPartial
}

func fileWords(f engine.FileCounts) string {
	var out []string
	for _, p := range []struct {
		n    int
		word string
	}{{f.Read, "read"}, {f.Unchanged, "unchanged"}, {f.Skipped, "of other formats"}, {f.Unreadable, "unreadable"}} {
		if p.n > 0 {
			out = append(out, fmt.Sprintf("%d %s", p.n, p.word))
		}
	}
	switch {
	case len(out) > 0:
	case f.Found > 0:
		return "none read yet"
	default:
		return "nothing to read"
	}
	return strings.Join(out, ", ")
}

// shownProblems is how many problems a person gets to see.
const shownProblems = 10

func (a *app) showProblems(r *engine.Report) {
	for i, p := range r.Problems {
		if i == shownProblems {
			fmt.Fprintf(a.Stderr, "… and %d more; --format json lists them\n", int64(len(r.Problems)-i)+r.Omitted)
			return
		}
		where := term.Line(p.File)
		if p.Line > 0 {
			where = fmt.Sprintf("%s:%d", where, p.Line)
		}
		fmt.Fprintf(a.Stderr, "%s: %s\n", where, term.Line(p.Reason))
	}
}

// showSkips says what was left out below the named places, or of them.
func (a *app) showSkips(r *engine.Report) {
	for i, s := range r.Skips {
		if i == shownProblems {
			fmt.Fprintf(a.Stderr, "… and %d more left out; --format json lists them\n", len(r.Skips)-i)
			return
		}
		fmt.Fprintf(a.Stderr, "%s: left out: %s\n", term.Line(s.Path), term.Line(s.Reason))
	}
}

// agentEnv picks the variables by which agents move their folders.
func agentEnv(environ []string) map[string]string {
	env := map[string]string{}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if oneOf(name, "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME") {
			env[name] = value
		}
	}
	return env
}
