// Command hansard searches archives of AI sessions.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/hansard-search/hansard/cmd/hansard/internal/cli"
)

// softHeap is where the collector begins to work harder. Imports hold less than half
// of it, so this only bounds what garbage may pile up; the user's GOMEMLIMIT wins.
const softHeap = 160 << 20

func main() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softHeap)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
	code := cli.Run(ctx, os.Args[1:], cli.World{
		Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Environ: os.Environ, Now: time.Now, Home: os.UserHomeDir,
	})
	stop()
	os.Exit(code)
}
