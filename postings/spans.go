package postings

import "sort"

// Spans maps the rows of a parent unit to the contiguous run of their children
// (session → messages, message → blocks, …) and back. It is a view over the
// offsets array of a segment: parent p owns the children
// [offsets[p], offsets[p+1]).
type Spans struct{ offsets []uint32 }

// NewSpans views offsets, which has one entry more than there are parents, never
// decreases, and starts at zero.
func NewSpans(offsets []uint32) Spans { return Spans{offsets} }

// Parents is the number of parent rows.
func (s Spans) Parents() int { return max(len(s.offsets)-1, 0) }

// Children is the number of child rows.
func (s Spans) Children() int {
	if len(s.offsets) == 0 {
		return 0
	}
	return int(s.offsets[len(s.offsets)-1])
}

// Run returns the children of parent p as [lo, hi).
func (s Spans) Run(p Ord) (lo, hi Ord) {
	return Ord(s.offsets[p]), Ord(s.offsets[p+1])
}

// Of returns the parent of child c in O(log parents).
func (s Spans) Of(c Ord) Ord {
	return Ord(sort.Search(len(s.offsets), func(i int) bool { return s.offsets[i] > uint32(c) }) - 1)
}

// Offsets is the array behind the spans; it must not be written.
func (s Spans) Offsets() []uint32 { return s.offsets }
