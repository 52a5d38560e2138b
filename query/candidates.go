package query

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/hansard-search/hansard/postings"
)

// fewRows is the number of rows up to which a search for each of them beats a walk
// through a container.
const fewRows = 4

// arrayRows is the most rows that a container lists one by one.
const arrayRows = 4096

// order leaves the offsets of the heads in s.offsets, the rarest first, and makes
// room for their ranks.
func (s *scratch) order(heads []postings.List) {
	s.offsets = s.offsets[:0]
	for i := range heads {
		s.offsets = append(s.offsets, i)
	}
	slices.SortStableFunc(s.offsets, func(a, b int) int { return cmp.Compare(heads[a].Len(), heads[b].Len()) })
	for len(s.ranks) < len(heads) {
		s.ranks = append(s.ranks, nil)
	}
}

// candidates leaves in s.rows the rows of container key that every head and, if
// there are tails, any of them may hold, and by head, rarest first, the containers
// in s.conts and the ranks of the rows in s.ranks. It reports whether there is a row.
func (s *scratch) candidates(heads, tails []postings.List, key uint16) bool {
	s.conts = s.conts[:0]
	for _, i := range s.offsets {
		c, ok := heads[i].Find(key)
		if !ok {
			return false
		}
		s.conts = append(s.conts, c)
	}
	if s.conts[0].Len() <= fewRows {
		s.searchRows()
	} else {
		s.walkRows(tails, key)
	}
	return len(s.rows) > 0
}

// searchRows looks the rows of the first container up in the others. Tails are
// left to placeTails.
func (s *scratch) searchRows() {
	s.rows = s.conts[0].AppendRows(s.rows[:0])
	for i := range s.conts {
		s.ranks[i] = s.ranks[i][:0]
	}
	kept := 0
next:
	for k, r := range s.rows {
		for i := 1; i < len(s.conts); i++ {
			rank, ok := s.conts[i].Rank(r)
			if !ok {
				continue next
			}
			s.ranks[i] = append(s.ranks[i][:kept], uint16(rank))
		}
		s.ranks[0] = append(s.ranks[0], uint16(k))
		s.rows[kept] = r
		kept++
	}
	s.rows = s.rows[:kept]
}

// walkRows intersects the containers as bitmaps and walks each of them once.
func (s *scratch) walkRows(tails []postings.List, key uint16) {
	w := (*[windowWords]uint64)(&s.union)
	clear(w[:])
	rest := s.conts
	if len(tails) == 0 {
		rest[0].OrInto(w)
		rest = rest[1:]
	}
	for i := range tails {
		if c, ok := tails[i].Find(key); ok {
			c.OrInto(w)
		}
	}
	for i := range rest {
		rest[i].AndInto(w)
	}
	n := postings.ContainerRows
	for i := range s.conts {
		s.ranks[i] = s.rank(&s.conts[i], s.ranks[i][:0])
		n = min(n, len(s.rows)) // equal unless the segment is damaged
	}
	s.rows = s.rows[:n]
}

// rank leaves in s.rows the rows of c that are set in s.union, and appends their
// ranks to dst. A container of many rows may be made of runs; as a bitmap, its ranks
// cost the counting of bits and not a step per row.
func (s *scratch) rank(c *postings.Container, dst []uint16) []uint16 {
	if c.Len() <= arrayRows {
		s.rows, dst = c.AppendMatches(s.rows[:0], dst, s.union[:])
		return dst
	}
	clear(s.held[:])
	c.OrInto((*[windowWords]uint64)(&s.held))
	s.rows = s.rows[:0]
	before := 0
	for i, own := range s.held {
		for w := own & s.union[i]; w != 0; w &= w - 1 {
			bit := bits.TrailingZeros64(w)
			s.rows = append(s.rows, uint16(i<<6+bit))
			dst = append(dst, uint16(before+bits.OnesCount64(own&(1<<bit-1))))
		}
		before += bits.OnesCount64(own)
	}
	return dst
}
