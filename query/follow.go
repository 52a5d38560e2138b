package query

import "github.com/hansard-search/hansard/postings"

// follow finds the rows in which the terms of heads stand side by side and, with
// prefix, one of the terms of tails behind them. The frequency of a row is the
// number of places.
//
// Per container: the rows that hold every head (and any tail) come from bitmaps,
// and one walk through each container gives the ranks of these rows; positions are
// decoded for them alone, those of the rarest term first. The places of the heads
// are kept, and each tail is then compared with them: every tail in turn, so that
// ten thousand tails cost their own rows and not ten thousand times the rows of the
// heads.
func follow(m *matches, heads, tails []postings.List, prefix bool, s *scratch) error {
	if prefix && len(tails) == 0 {
		return nil
	}
	if prefix {
		s.count()
	}
	s.order(heads)
	rarest := &heads[s.offsets[0]]
	for i := range rarest.Containers() {
		key := rarest.Key(i)
		if !s.candidates(heads, tails, key) {
			continue
		}
		if err := s.placeHeads(); err != nil {
			return err
		}
		if len(s.placeRows) == 0 {
			continue
		}
		before := len(m.rows)
		if prefix {
			if err := s.placeTails(m, tails, key, uint32(len(heads))); err != nil {
				return err
			}
		} else {
			begin := int32(0)
			for k, r := range s.placeRows {
				m.rows = append(m.rows, r)
				m.freqs = append(m.freqs, uint32(s.placeEnds[k]-begin))
				begin = s.placeEnds[k]
			}
		}
		m.closePart(key)
		if err := s.step(len(m.rows) - before); err != nil {
			return err
		}
	}
	return nil
}

// placeHeads leaves the rows where the heads stand side by side in s.placeRows,
// with the positions of the first head in s.places.
func (s *scratch) placeHeads() error {
	s.placeRows, s.placeEnds, s.places = s.placeRows[:0], s.placeEnds[:0], s.places[:0]
	for k, r := range s.rows {
		if k&1023 == 1023 {
			if err := s.budget.alive(); err != nil {
				return err
			}
		}
		begin := len(s.places)
		s.places = s.conts[0].AppendPositions(s.places, int(s.ranks[0][k]))
		s.places = s.places[:begin+stepBack(s.places[begin:], uint32(s.offsets[0]))]
		for i := 1; i < len(s.conts) && len(s.places) > begin; i++ {
			s.positions = s.conts[i].AppendPositions(s.positions[:0], int(s.ranks[i][k]))
			kept := keepFollowed(s.places[begin:], s.positions, uint32(s.offsets[i]))
			s.places = s.places[:begin+kept]
		}
		if len(s.places) == begin {
			continue
		}
		s.placeRows = append(s.placeRows, r)
		s.placeEnds = append(s.placeEnds, int32(len(s.places)))
	}
	return nil
}

// placeTails appends to m the rows of s.placeRows where a tail of container key
// stands the given distance behind the first head.
func (s *scratch) placeTails(m *matches, tails []postings.List, key uint16, distance uint32) error {
	clear(s.union[:])
	for _, r := range s.placeRows {
		s.union[r>>6] |= 1 << (r & 63)
	}
	for i := range tails {
		if c, ok := tails[i].Find(key); ok {
			s.followTail(&c, distance)
		}
		if i&63 == 63 {
			if err := s.budget.alive(); err != nil {
				return err
			}
		}
	}
	for _, r := range s.placeRows {
		if n := s.counts[r]; n > 0 {
			m.rows = append(m.rows, r)
			m.freqs = append(m.freqs, n)
			s.counts[r] = 0
		}
	}
	return nil
}

// stepBack moves places ahead by distance and leaves out those that are less far
// from the start of the text. It returns how many are left.
func stepBack(places []uint32, distance uint32) int {
	if distance == 0 {
		return len(places)
	}
	n := 0
	for _, p := range places {
		if p >= distance {
			places[n] = p - distance
			n++
		}
	}
	return n
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
// stands behind at the given distance. The rows with places are set in s.union.
func (s *scratch) followTail(c *postings.Container, distance uint32) {
	s.tailRanks = s.rank(c, s.tailRanks[:0])
	k := 0
	for i, r := range s.rows {
		k = gallop(s.placeRows, k, r)
		if k == len(s.placeRows) {
			return
		}
		if s.placeRows[k] != r { // in a damaged segment
			continue
		}
		begin := int32(0)
		if k > 0 {
			begin = s.placeEnds[k-1]
		}
		s.positions = c.AppendPositions(s.positions[:0], int(s.tailRanks[i]))
		s.counts[r] += countFollowed(s.places[begin:s.placeEnds[k]], s.positions, distance)
	}
}

// gallop returns the first i at or after from with rows[i] >= r, or the length. It is
// near for the tails that are frequent and far for the many that are not.
func gallop(rows []uint16, from int, r uint16) int {
	lo, step := from, 1
	for lo < len(rows) && rows[lo] < r {
		lo += step
		step *= 2
	}
	if lo == from {
		return lo
	}
	lo, hi := lo-step/2+1, min(lo, len(rows))
	for lo < hi {
		if m := int(uint(lo+hi) >> 1); rows[m] < r {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
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
