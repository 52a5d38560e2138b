package query

import (
	"sync"

	"github.com/hansard-search/hansard/postings"
)

// scratch is the memory of one worker: some 850 KiB that a query would otherwise
// allocate per segment. Between uses counts is zero; the rest holds garbage.
type scratch struct {
	union     window
	nodes     []window // rows of the nodes of the text expression in one container
	gates     []window // by depth: rows where a node counts
	scores    [postings.ContainerRows]float64
	counts    [postings.ContainerRows]uint32
	rows      []uint16
	freqs     []uint32
	positions []uint32
	places    []uint32 // starts of phrases, row by row
	placeRows []uint16
	placeEnds []int32
	conts     []postings.Container
	ids       []int
}

var scratchPool = sync.Pool{New: func() any { return new(scratch) }}

func (s *scratch) size(nodes int) {
	if len(s.nodes) < nodes {
		s.nodes = make([]window, nodes)
		s.gates = make([]window, nodes)
	}
}
