package query

import (
	"fmt"
	"strings"

	"github.com/hansard-search/hansard/postings"
)

// DefaultLimit is the number of hits that a zero RunOptions asks for.
const DefaultLimit = 20

// RunOptions say which part of an answer is wanted. The zero value is the first
// page.
type RunOptions struct {
	Limit   int     // most hits; 0 means DefaultLimit, below 0 all
	Offset  int     // hits to leave out, counted behind After
	After   *Anchor // only hits that come after this one
	Stats   *Stats  // score with these instead of those of the sources
	Workers int     // sources read at once; below 2 means one
	// BlockTypes are the types of blocks that the text may match, in which document
	// frequencies are counted too; nil means all. Lengths, and the numbers of blocks
	// and tokens behind the average length, are always those of all blocks.
	BlockTypes []string
	Limits     Limits
}

// An Anchor is the place of a hit in the order of an answer: score ascending,
// time descending with unknown last, id ascending.
type Anchor struct {
	Score   float64 // zero if the answer is not ranked
	Time    int64   // of the session, in ms since the epoch; zero if unknown
	HasTime bool
	ID      string // of the session
}

// A Hit is a session and, if the answer is ranked, its best block.
type Hit struct {
	Anchor
	Source  int // index of the source
	Session postings.Ord
	Block   postings.Ord // zero if the answer is not ranked
}

// A Result is an answer. Equal sources and plans give equal results, whatever
// the number of workers; Hits, Total and Stats do not depend on how the rows are
// spread over sources either.
type Result struct {
	Hits   []Hit
	Total  int64 // matching sessions, on this page or not; exact
	Blocks int64 // matching blocks; zero if the answer is not ranked
	Ranked bool
	Stats  Stats
}

// A SourceError says that one source failed: damaged, ended, or panicking. The
// others are not affected, and a run without it is an honest partial answer.
type SourceError struct {
	Source   int // index of the source
	Panicked bool
	Stack    string // of a panic
	Err      error
}

func (e *SourceError) Error() string {
	if e.Panicked {
		return fmt.Sprintf("query: source %d panicked: %v", e.Source, e.Err)
	}
	return fmt.Sprintf("query: source %d: %v", e.Source, e.Err)
}

func (e *SourceError) Unwrap() error { return e.Err }

// before reports whether a comes before b but for the id, and whether they tie.
func (a *Anchor) before(b *Anchor) (before, tie bool) {
	switch {
	case a.Score != b.Score:
		return a.Score < b.Score, false
	case a.HasTime != b.HasTime:
		return a.HasTime, false
	case a.Time != b.Time:
		return a.Time > b.Time, false
	}
	return false, true
}

// better is the order of hits. Two hits of one id, which a sound snapshot never
// has, go by source and row, so that the order is total.
func better(a, b Hit) bool {
	if before, tie := a.before(&b.Anchor); !tie {
		return before
	}
	if c := strings.Compare(a.ID, b.ID); c != 0 {
		return c < 0
	}
	if a.Source != b.Source {
		return a.Source < b.Source
	}
	return a.Session < b.Session
}
