// Package postings holds sets of rows and the posting lists of terms.
//
// A row is an [Ord]: its ordinal inside one segment, dense from zero, one space
// per unit (sessions, messages, blocks, actions). Rows of a session are one
// contiguous run of ordinals in transcript order; [Spans] says which.
//
// Laws: a [Set] and a [List] are immutable and safe for concurrent readers; a
// [Bits] belongs to one goroutine; nothing here touches a file. Rows come in
// ascending order. Adding a set or a list to a bitset leaves out the rows beyond
// its length. Stored bytes, damaged ones included, never make a reader panic:
// opening refuses a damaged directory with [ErrCorrupt], and over damaged payloads
// a list yields garbage of the promised length, which [Cursor.Err] and
// [List.Validate] report.
//
// A [Set] is a roaring bitmap of the library; a [List] has containers with the same
// payloads but kernels of its own, since the library allocates per operation.
// All numbers are little-endian and need no alignment.
package postings

import "errors"

// ErrCorrupt is wrapped by every error that says stored bytes are not what a
// writer here would have written.
var ErrCorrupt = errors.New("corrupt postings")

// Ord is the ordinal of a row of one unit inside one segment.
type Ord uint32

// ContainerRows is the number of rows that one roaring container covers.
const ContainerRows = 1 << 16

// Unit is a kind of row.
type Unit uint8

const (
	Session Unit = iota
	Message
	Block
	Action
	Units = 4 // how many there are
)

func (u Unit) String() string {
	return [Units]string{"session", "message", "block", "action"}[u]
}

// Need says which parts of a posting list a caller will read.
type Need uint8

const (
	Rows      Need = iota // the rows alone: Boolean work
	Freqs                 // and the term frequencies: scoring
	Positions             // and the positions: phrases
)

// A Dictionary is the view of a keyword column of one segment: its distinct
// values in byte order, each with the rows that hold it. A row may hold several
// values or none.
type Dictionary interface {
	// Len is the number of distinct values.
	Len() int
	// Value is the i-th value in byte order.
	Value(i int) (string, error)
	// Seek returns the first i whose value is at or after v, or Len.
	Seek(v string) (int, error)
	// Count is the number of rows that hold the i-th value, dead ones included.
	Count(i int) (int, error)
	// AddRows adds the rows that hold the i-th value to b, which covers the unit.
	AddRows(i int, b *Bits) error
	// AppendOf appends the indexes of the values that row o holds, ascending.
	AppendOf(dst []int, o Ord) ([]int, error)
}

// Numbers is the view of a numeric column of one segment. A row holds one number
// or none.
type Numbers interface {
	// At returns the number of row o and whether it has one.
	At(o Ord) (int64, bool, error)
	// Bounds returns the least and the greatest number, and false if there is none.
	Bounds() (lo, hi int64, any bool)
	// AddRange adds the rows whose number lies in [lo, hi] to b. A row without a
	// number is never added.
	AddRange(lo, hi int64, b *Bits) error
}

// Lengths are the numbers of tokens of the blocks of one segment.
type Lengths interface {
	// Slice returns the lengths of the rows [lo, hi); it must not be written.
	Slice(lo, hi Ord) ([]uint32, error)
}
