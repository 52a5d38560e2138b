// Package query is the language and its execution: text → parse → bind → plan →
// execute. It reads an index only through [Source].
//
// [Parse] makes a syntax tree, [Bind] checks its values against the table of
// fields and makes a [Plan], [Run] answers it from sources.
//
// Laws:
//
//   - a query prints as text that parses to an equal query;
//   - a known form that cannot run is a typed error, and an unknown field is one
//     too: neither is ever read as text;
//   - logic is two-valued: a missing value makes a field false and its negation true;
//   - an answer depends on the live rows alone: not on how they are spread over
//     sources, on dead rows, or on the number of workers, to the last bit of a score;
//   - a live block or action belongs to a live session.
//
// An operator on values is one file, op_*.go; what it is called and which column it
// reads is one entry in fields.go, which also feeds errors, explain and docs/query.md.
package query

import (
	"context"
	"iter"

	"github.com/hansard-search/hansard/postings"
)

// A Source is one segment of a snapshot as the executor sees it. It is immutable
// and safe for concurrent use; what it returns stays valid as long as the
// snapshot. An error means damage or an ended snapshot, never a missing value:
// an absent term, value or column is empty.
type Source interface {
	// Rows is the number of rows of u, dead and inherited ones included.
	Rows(u postings.Unit) int
	// Spans maps the rows of parent to those of child: Session to Message, Block
	// or Action, and Message to Block.
	Spans(parent, child postings.Unit) (postings.Spans, error)
	// Live are the rows of u that are neither dead nor inherited. Shared: not to
	// be written. For Session these are the rows that are not dead.
	Live(u postings.Unit) (*postings.Bits, error)
	// AllLive reports whether Live is every row of every unit.
	AllLive() bool
	// Term returns the posting list of an exact term over blocks.
	Term(term []byte, need postings.Need) (postings.List, error)
	// Prefix yields the posting lists of the terms that begin with prefix, in
	// byte order. An error ends the sequence.
	Prefix(prefix []byte, need postings.Need) iter.Seq2[postings.List, error]
	// Lengths are the token counts of the blocks.
	Lengths() (postings.Lengths, error)
	// Totals are the number of live searchable blocks and of their tokens.
	Totals() (blocks, tokens int64, err error)
	// Keywords opens a keyword column by its name ("session.repo").
	Keywords(column string) (postings.Dictionary, error)
	// Numbers opens a numeric column by its name ("session.words").
	Numbers(column string) (postings.Numbers, error)
}

// A TextSource is a source that can read the stored texts of its rows. Without one,
// predicates over stored text fail.
type TextSource interface {
	Source
	// Matching yields the posting lists over blocks of the terms that match accepts. A
	// term lives until match returns. An error ends the sequence.
	Matching(match func(term []byte) bool, need postings.Need) iter.Seq2[postings.List, error]
	// Texts calls visit with the stored texts of the rows of u, which ascend, and goes on
	// to the next row when visit returns false. A text lives until visit returns. Rows
	// whose texts cannot be read are passed over; the source remembers them.
	Texts(ctx context.Context, u postings.Unit, rows *postings.Bits, part Part, visit func(row postings.Ord, text string) bool) error
}

// A Part names the stored texts of a row that a predicate looks at. A row can have
// several: nothing is found across two of them.
type Part uint8

const (
	// SearchText of a block: its text, tool name, command and paths, as indexed.
	SearchText Part = iota
	// Command of an action, or of the action that a block begins.
	Command
	// Output of the result of an action, or of the action that a block begins.
	Output
	// ActionText is all that an action says: tool name, semantic type, command, paths,
	// the keys and strings of its input, and its output.
	ActionText
	// FileText is what an action says of the files it touches: paths, tool name, semantic
	// type and command.
	FileText
)

func (p Part) String() string {
	return [...]string{"search text", "command", "output", "action text", "file text"}[p]
}
