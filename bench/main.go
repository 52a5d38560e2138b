// Command bench measures hansard beside its peers on one machine, on one generated
// corpus, with checked answers. See README.md for what is compared and how.
//
//	go run -tags sqlite_fts5 . compare -blocks 250000 -format json
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

const usage = "usage: bench compare [flags]; bench compare -h lists them"

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	switch args[0] {
	case "compare":
		return runCompare(ctx, args[1:])
	case childCommand:
		return runChild(ctx, args[1:])
	}
	return fmt.Errorf("no such benchmark: %s; %s", args[0], usage)
}

func runCompare(ctx context.Context, args []string) (err error) {
	c := config{log: logTo(os.Stderr)}
	fs := flag.NewFlagSet("compare", flag.ContinueOnError)
	fs.IntVar(&c.blocks, "blocks", 250_000, "blocks of the corpus")
	fs.IntVar(&c.queries, "queries", 200, "queries of each class")
	fs.IntVar(&c.rounds, "rounds", 5, "rounds over all queries; the least CPU time of a query counts")
	fs.Uint64Var(&c.seed, "seed", 1, "seed of the corpus and of the queries")
	peers := fs.String("peers", strings.Join(peerNames, ","), "engines to compare with")
	rows := fs.String("rows", "", "ids of the rows to measure, as Q1,Q2,I1 (default: all)")
	fs.StringVar(&c.dir, "work", "", "folder for corpus and indexes (default: a temporary one)")
	keep := fs.Bool("keep", false, "keep the folder of -work, and reuse what an earlier run built there")
	fs.StringVar(&c.profiles, "profile", "", "write a CPU profile of ours for each measured row into this folder")
	out := fs.String("out", "", "append the results to this file, one JSON object a line (results/NAME.jsonl)")
	format := fs.String("format", "text", "text or json")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if c.peers, c.rows = list(*peers), list(*rows); *format != "text" && *format != "json" {
		return fmt.Errorf("format %q is neither text nor json", *format)
	}
	if err := c.check(); err != nil {
		return err
	}
	remove, err := c.folder(*keep)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	r, err := compare(ctx, c)
	if r == nil {
		return err
	}
	write := r.writeText
	if *format == "json" {
		write = r.writeJSON
	}
	err = errors.Join(err, write(os.Stdout))
	if *out != "" {
		err = errors.Join(err, r.appendLines(*out))
	}
	return err
}

// folder makes the work folder, a new one below the given one unless it is kept,
// and returns what to call at the end.
func (c *config) folder(keep bool) (remove func() error, err error) {
	if keep {
		if c.dir == "" {
			return nil, errors.New("-keep needs -work")
		}
		return func() error { return nil }, os.MkdirAll(c.dir, 0o755)
	}
	if c.dir != "" {
		if err := os.MkdirAll(c.dir, 0o755); err != nil {
			return nil, err
		}
	}
	c.dir, err = os.MkdirTemp(c.dir, "hansard-bench-")
	return func() error { return os.RemoveAll(c.dir) }, err
}
