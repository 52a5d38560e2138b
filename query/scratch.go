package query

import (
	"sync"
	"unsafe"

	"github.com/hansard-search/hansard/postings"
)

// scratch is the memory of one worker: up to some 850 KiB that a query would
// otherwise allocate per segment. Between uses counts is zero; the rest holds garbage.
type scratch struct {
	budget    *budget // of the run that uses it now
	union     window
	held      window                           // rows of one container
	nodes     []window                         // rows of the nodes of the text expression in one container
	gates     []window                         // by depth: rows where a node counts
	scores    *[postings.ContainerRows]float64 // nil before the first ranked query
	counts    *[postings.ContainerRows]uint32  // nil before the first prefix
	rows      []uint16
	freqs     []uint32
	positions []uint32
	places    []uint32 // starts of phrases, row by row
	placeRows []uint16
	placeEnds []int32
	conts     []postings.Container
	offsets   []int      // of the terms of a phrase, the rarest first
	ranks     [][]uint16 // in conts, of rows
	tailRanks []uint16
	ids       []int
}

var scratchPool = sync.Pool{New: func() any { return new(scratch) }}

// size makes room for a text expression of so many nodes and its scores.
func (s *scratch) size(nodes int) {
	if len(s.nodes) < nodes {
		s.nodes = make([]window, nodes)
		s.gates = make([]window, nodes)
	}
	if s.scores == nil {
		s.scores = new([postings.ContainerRows]float64)
	}
}

// scratchBytes is what a ranked query of so many nodes takes of a scratch.
func scratchBytes(nodes int) int64 {
	return int64(nodes)*2*int64(unsafe.Sizeof(window{})) + postings.ContainerRows*(8+4+3*(2+4))
}

// count makes room for counts by row.
func (s *scratch) count() {
	if s.counts == nil {
		s.counts = new([postings.ContainerRows]uint32)
	}
}
