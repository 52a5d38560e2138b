package query

import (
	"math/bits"

	"github.com/hansard-search/hansard/postings"
)

// follow finds the rows in which the terms of heads stand side by side and, with
// prefix, one of the terms of tails behind them. The frequency of a row is the
// number of places.
//
// Per container: the rows that hold every head (and any tail) come from bitmaps;
// positions are decoded for those alone. The places of the heads are kept, and
// each tail is then compared with them: every tail in turn, so that ten thousand
// tails cost their own rows and not ten thousand times the rows of the heads.
func follow(m *matches, heads, tails []postings.List, prefix bool, s *scratch) {
	if prefix && len(tails) == 0 {
		return
	}
	rarest := 0
	for i := range heads {
		if heads[i].Len() < heads[rarest].Len() {
			rarest = i
		}
	}
	for i := range heads[rarest].Containers() {
		key := heads[rarest].Key(i)
		if !candidates(heads, tails, key, s) {
			continue
		}
		s.placeRows, s.placeEnds, s.places = s.placeRows[:0], s.placeEnds[:0], s.places[:0]
		for i, word := range s.union {
			for ; word != 0; word &= word - 1 {
				s.placeRow(uint16(i<<6 + bits.TrailingZeros64(word)))
			}
		}
		if !prefix {
			begin := int32(0)
			for k, r := range s.placeRows {
				m.rows = append(m.rows, r)
				m.freqs = append(m.freqs, uint32(s.placeEnds[k]-begin))
				begin = s.placeEnds[k]
			}
			m.closePart(key)
			continue
		}
		for _, l := range tails {
			if c, ok := l.Find(key); ok {
				s.followTail(c, uint32(len(heads)))
			}
		}
		for _, r := range s.placeRows {
			if n := s.counts[r]; n > 0 {
				m.rows = append(m.rows, r)
				m.freqs = append(m.freqs, n)
				s.counts[r] = 0
			}
		}
		m.closePart(key)
	}
}

// candidates leaves in s.union the rows of container key that every head and,
// if there are tails, any of them holds, and the containers of the heads in
// s.conts. It reports whether there is a row.
func candidates(heads, tails []postings.List, key uint16, s *scratch) bool {
	s.conts = s.conts[:0]
	for _, l := range heads {
		c, ok := l.Find(key)
		if !ok {
			return false
		}
		s.conts = append(s.conts, c)
	}
	clear(s.union[:])
	for _, l := range tails {
		if c, ok := l.Find(key); ok {
			c.OrInto((*[windowWords]uint64)(&s.union))
		}
	}
	rest := s.conts
	if len(tails) == 0 {
		rest[0].OrInto((*[windowWords]uint64)(&s.union))
		rest = rest[1:]
	}
	for _, c := range rest {
		c.AndInto((*[windowWords]uint64)(&s.union))
	}
	for _, w := range s.union {
		if w != 0 {
			return true
		}
	}
	return false
}

// placeRow appends the places of the heads in row r, if there are any.
func (s *scratch) placeRow(r uint16) {
	begin := len(s.places)
	rank, _ := s.conts[0].Rank(r)
	s.places = s.conts[0].AppendPositions(s.places, rank)
	for i := 1; i < len(s.conts) && len(s.places) > begin; i++ {
		rank, _ := s.conts[i].Rank(r)
		s.positions = s.conts[i].AppendPositions(s.positions[:0], rank)
		kept := keepFollowed(s.places[begin:], s.positions, uint32(i))
		s.places = s.places[:begin+kept]
	}
	if len(s.places) > begin {
		s.placeRows = append(s.placeRows, r)
		s.placeEnds = append(s.placeEnds, int32(len(s.places)))
	}
}

// keepFollowed keeps in places those p for which p+distance is in positions, and
// returns how many. Both ascend.
func keepFollowed(places, positions []uint32, distance uint32) int {
	n, j := 0, 0
	for _, p := range places {
		for j < len(positions) && positions[j] < p+distance {
			j++
		}
		if j == len(positions) {
			break
		}
		if positions[j] == p+distance {
			places[n] = p
			n++
		}
	}
	return n
}

// followTail adds to s.counts, for each row with places, how many of them c
// stands behind at the given distance. Rows of both ascend.
func (s *scratch) followTail(c postings.Container, distance uint32) {
	s.rows = c.AppendRows(s.rows[:0])
	k, begin := 0, int32(0)
	for rank, r := range s.rows {
		for k < len(s.placeRows) && s.placeRows[k] < r {
			begin = s.placeEnds[k]
			k++
		}
		if k == len(s.placeRows) {
			return
		}
		if s.placeRows[k] != r {
			continue
		}
		s.positions = c.AppendPositions(s.positions[:0], rank)
		s.counts[r] += countFollowed(s.places[begin:s.placeEnds[k]], s.positions, distance)
	}
}

func countFollowed(places, positions []uint32, distance uint32) uint32 {
	n, j := uint32(0), 0
	for _, p := range places {
		for j < len(positions) && positions[j] < p+distance {
			j++
		}
		if j == len(positions) {
			break
		}
		if positions[j] == p+distance {
			n++
		}
	}
	return n
}
