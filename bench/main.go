// Command bench measures hansard beside its peers on one machine, in one process
// and on one generated corpus. See README.md for what is compared and how.
//
//	go run -tags sqlite_fts5 . first -blocks 250000
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
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

const usage = "usage: bench first [-blocks N] [-queries N] [-rounds N] [-seed N] [-format text|json] [-dir TMP] [-profile DIR]"

func run(ctx context.Context, args []string) error {
	if len(args) == 0 || args[0] != "first" {
		return fmt.Errorf("no such benchmark; %s", usage)
	}
	var c config
	fs := flag.NewFlagSet("first", flag.ContinueOnError)
	fs.IntVar(&c.blocks, "blocks", 250_000, "blocks of the corpus")
	fs.IntVar(&c.queries, "queries", 200, "queries of each class")
	fs.IntVar(&c.rounds, "rounds", 3, "rounds over all queries; the best counts")
	fs.Uint64Var(&c.seed, "seed", 1, "seed of the corpus and of the queries")
	fs.StringVar(&c.dir, "dir", "", "folder for the corpus and both indexes, removed at the end (default: a temporary one)")
	fs.StringVar(&c.profiles, "profile", "", "write CPU profiles of the import and of each query class into this folder")
	format := fs.String("format", "text", "text or json")
	if err := fs.Parse(args[1:]); err != nil {
		return err
	}
	if *format != "text" && *format != "json" {
		return fmt.Errorf("format %q is neither text nor json", *format)
	}
	if c.blocks < 1 || c.queries < 1 || c.rounds < 1 {
		return fmt.Errorf("blocks, queries and rounds must be at least 1")
	}
	c.log = func(f string, args ...any) { fmt.Fprintf(os.Stderr, f+"\n", args...) }
	r, err := first(ctx, c)
	if r == nil {
		return err
	}
	if *format == "json" {
		if printed := r.writeJSON(os.Stdout); printed != nil {
			return printed
		}
	} else if printed := r.writeText(os.Stdout); printed != nil {
		return printed
	}
	return err
}
