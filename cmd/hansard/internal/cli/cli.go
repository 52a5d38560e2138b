// Package cli is the command line of hansard: it reads arguments, calls the
// engine, and prints answers. stdout is data, stderr is talk; with a JSON format
// an error is one JSON document on stderr and nothing else is there.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/hansard-search/hansard/cmd/hansard/internal/term"
	"github.com/hansard-search/hansard/engine"
	"github.com/hansard-search/hansard/engine/owner"
)

// A World is everything outside that the command line touches.
type World struct {
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Environ        func() []string
	Now            func() time.Time
	Home           func() (string, error)

	// close, which only tests set, closes the archive of a question that has its answer.
	close func(io.Closer) error
}

// An app is one run of the command line.
type app struct {
	World
	flags globals
	verbs []string // names of the commands
	err   error    // of the command that ran
	code  int      // exit code when err is nil
}

// globals are the flags of every command.
type globals struct {
	archive  string
	format   string
	json     bool
	colour   string
	progress string
	tz       string
}

// Run runs the command line and returns the exit code.
func Run(ctx context.Context, args []string, w World) int {
	out := &output{w: w.Stdout}
	w.Stdout = out
	a := &app{World: w}
	root := a.root()
	if asksVersion(args) {
		a.flags.scan(args)
		return a.end(ctx, a.printVersion(), out)
	}
	argv, err := route(root, args)
	if err == nil {
		root.SetArgs(argv)
		err = root.ExecuteContext(ctx)
		if err != nil && a.err == nil {
			a.flags.scan(args) // parsing may have ended before the format
			err = usageError(err)
		}
	} else {
		a.flags.scan(args)
	}
	return a.end(ctx, err, out)
}

// end says what went wrong, if anything did, and returns the exit code.
func (a *app) end(ctx context.Context, err error, out *output) int {
	if errors.Is(err, syscall.EPIPE) {
		return exitOK // the reader has seen enough
	}
	if lost := out.lost(); lost != nil && (err == nil || errors.Is(err, lost)) {
		err = unwritten(lost)
	}
	if err != nil {
		return a.fail(interruption(ctx, err))
	}
	return a.code
}

// asksVersion reports whether --version is among the arguments: with it, the others do
// not matter.
func asksVersion(args []string) bool {
	for i, arg := range args {
		if i == 0 && strings.HasPrefix(arg, "__complete") {
			return false
		}
		if arg == "--" || arg == "--version" {
			return arg == "--version"
		}
	}
	return false
}

func (a *app) printVersion() error {
	if a.flags.machine() {
		return a.printJSON(map[string]string{"schema": "hansard.version/1", "version": Version})
	}
	_, err := fmt.Fprintf(a.Stdout, "hansard version %s\n", Version)
	return err
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "hansard [flags] QUERY… | VERB",
		Short:         "Search archives of AI sessions",
		Long:          longHelp,
		SilenceErrors: true, SilenceUsage: true,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	f := root.PersistentFlags()
	f.StringVar(&a.flags.archive, "archive", "", "folder of the archive (default $HANSARD_ARCHIVE, else the user's data folder)")
	formatChoice().add(root, f, &a.flags.format)
	f.BoolVar(&a.flags.json, "json", false, "short for --format json")
	colourChoice().add(root, f, &a.flags.colour)
	progressChoice().add(root, f, &a.flags.progress)
	root.Flags().Bool("version", false, "print the version")
	f.StringVar(&a.flags.tz, "tz", "UTC", "time zone of dates in queries")
	completeFlags(root, "archive")
	root.AddCommand(a.importCmd(), a.searchCmd(), a.readCmd(), a.explainCmd(), a.statusCmd(), a.checkCmd(), a.rebuildCmd(), a.doctorCmd(), a.demoCmd())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		a.verbs = append(a.verbs, c.Name())
	}
	return root
}

// run wraps a command so that its error is told from an error of usage.
func (a *app) run(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := a.flags.check(); err != nil {
			return err
		}
		a.err = f(cmd, args)
		return a.err
	}
}

// check validates the global flags.
func (g *globals) check() error {
	if g.json {
		g.format = "json"
	}
	if err := cmp.Or(formatChoice().check(g.format), colourChoice().check(g.colour), progressChoice().check(g.progress)); err != nil {
		return err
	}
	if _, err := time.LoadLocation(g.tz); err != nil {
		return badFlag("tz", g.tz, "the name of a time zone: UTC, Europe/Warsaw, …")
	}
	return nil
}

// scan finds the output format among arguments that could not be parsed.
func (g *globals) scan(args []string) {
	for i, a := range args {
		name, value, inline := strings.Cut(a, "=")
		if !inline && i+1 < len(args) {
			value = args[i+1]
		}
		switch {
		case a == "--":
			return
		case a == "--json":
			g.format = "json"
		case (name == "--format" || name == "-f") && oneOf(value, "json", "jsonl"):
			g.format = value
		}
	}
}

func (g *globals) machine() bool { return g.json || g.format == "json" || g.format == "jsonl" }

func (a *app) style(w io.Writer) term.Style {
	return term.Style{On: term.Colour(a.flags.colour, a.Getenv, term.IsTerminal(w))}
}

func (a *app) zone() *time.Location {
	loc, err := time.LoadLocation(a.flags.tz)
	if err != nil {
		return time.UTC // check has refused it already
	}
	return loc
}

// open attaches to the archive of the flags and the environment. Whether this process
// then owns it or another one that runs, the answers are the same.
func (a *app) open(ctx context.Context, o engine.Options) (*owner.Archive, error) {
	dir, err := a.archiveDir()
	if err != nil {
		return nil, err
	}
	o.Now = a.Now
	return owner.Attach(ctx, dir, owner.Options{Engine: o, Version: Version, TempDir: os.TempDir()})
}

func oneOf(s string, words ...string) bool {
	for _, w := range words {
		if s == w {
			return true
		}
	}
	return false
}

const longHelp = `hansard searches archives of AI sessions: what was said and done, exactly.

  hansard import                      bring in the sessions of this machine's agents
  hansard timeout proxy               sessions with a block that holds both words
  hansard '"connection reset" -proxy' a phrase, without a word
  hansard 'retry repo:harbor since:30d tool:shell'
  hansard ''                          all sessions, the newest first
  hansard 'actions where is_error:true'
                                      rows: messages, actions or blocks
  hansard read REF                    one session, message or block
  hansard demo                        try it on a small invented archive

An argument that is a verb is the verb if it comes first; 'hansard search status report'
and hansard 'status report' search for such words.
Flags may stand before or after the query; '--' ends them. Those of a search (-n, -e,
--offset, --cursor and others) are in 'hansard search --help'.`

// Version of this build.
var Version = "0.1.0-dev"
