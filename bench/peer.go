package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"
)

// ourName is what ours is called among engines.
const ourName = "hansard"

// A mode is what is asked of an engine.
type mode int

const (
	top   mode = iota // the ten best blocks, without a total
	count             // the number of matching blocks
)

// An answer is what an engine says to a question.
type answer struct {
	count  int64    // of mode count
	blocks []uint32 // of mode top, best first
	scores []float64
}

// An engineUnderTest answers questions about an index that is built. It belongs to one
// goroutine.
type engineUnderTest interface {
	// Name names the engine and its version.
	Name() string
	// Prepare makes of a question what the engine runs, outside of all timing.
	Prepare(q *question) (prepared, error)
	Close() error
}

// A prepared question can be asked again and again.
type prepared interface {
	// Ask answers, with the blocks' numbers if there are blocks.
	Ask(ctx context.Context, m mode) (answer, error)
	// Time answers n times and returns the CPU time that one answer took. The
	// blocks' names are found too, but not looked up in another table.
	Time(ctx context.Context, m mode, n int) (time.Duration, error)
}

// errMissing is wrapped by the error of a peer that this program or this machine
// does not have.
var errMissing = errors.New("missing")

// timed measures n calls of f with the CPU time of the process.
func timed(n int, f func() error) (time.Duration, error) {
	start := processCPU()
	for range n {
		if err := f(); err != nil {
			return 0, err
		}
	}
	return (processCPU() - start) / time.Duration(n), nil
}

// openPeer opens the index that the named peer built.
func openPeer(c config, name string) (engineUnderTest, error) {
	switch name {
	case "fts5":
		return openFTS5(c.dir)
	case "bleve":
		return openBleve(c.dir)
	case "bluge":
		return openBluge(c.dir)
	}
	return openXapian(c.dir)
}

// A sessionSearcher finds the ten best sessions by their best block, and how many
// sessions match.
type sessionSearcher interface {
	Search(ctx context.Context, q *question) (total int, scores []float64, err error)
	Close() error
}

// fts5Path is where one of FTS5's tables lies.
func fts5Path(kind string) func(dir string) string {
	return func(dir string) string { return filepath.Join(dir, "fts5"+kind+".sqlite") }
}
