package postings

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Scoring works in windows of about a thousand rows, or on the rows that other
// predicates have left; both read a part of a container.

// AppendRowsIn appends the lows in [lo, hi), ascending, and returns the rank of
// the first of them, so that AppendFreqsIn yields their frequencies.
func (c Container) AppendRowsIn(dst []uint16, lo, hi int) (rows []uint16, rank int) {
	if lo >= hi || lo >= ContainerRows || c.card == 0 {
		return dst, 0
	}
	hi = min(hi, ContainerRows)
	rank, _ = c.Rank(uint16(lo))
	left := int(c.card) - rank
	switch c.kind {
	case arrayKind:
		for d := c.data[2*rank:]; len(d) >= 2; d = d[2:] {
			low := binary.LittleEndian.Uint16(d)
			if int(low) >= hi {
				break
			}
			dst = append(dst, low)
		}
	case bitmapKind:
		first, last, head, tail, _ := edges(windowWords, lo, hi)
		for i := first; i <= last; i++ {
			w := c.word(i)
			if i == first {
				w &= head
			}
			if i == last {
				w &= tail
			}
			for ; w != 0 && left > 0; w &= w - 1 {
				dst = append(dst, uint16(i<<6+bits.TrailingZeros64(w)))
				left--
			}
		}
	case runKind:
		for i := range c.runs() {
			from, to := c.run(i)
			for x := max(from, lo); x < min(to, hi) && left > 0; x++ {
				dst = append(dst, uint16(x))
				left--
			}
		}
	}
	return dst, rank
}

// AppendFreqsIn appends the frequencies of the n rows from the given rank on.
func (c Container) AppendFreqsIn(dst []uint32, rank, n int) []uint32 {
	rank = min(max(rank, 0), int(c.card))
	n = min(n, int(c.card)-rank)
	return c.body.appendFreqs(dst, int(c.base)+rank, n)
}

// AppendMatches appends the lows and the ranks of the rows that are set in the
// words of the container's range, ascending: what is left of a term after the
// other predicates, with the way to its frequencies and positions. It appends
// equally many of both.
func (c Container) AppendMatches(rows, ranks []uint16, words []uint64) (_, _ []uint16) {
	switch c.kind {
	case arrayKind:
		return c.matchArray(rows, ranks, words)
	case bitmapKind:
		return c.matchBitmap(rows, ranks, words)
	case runKind:
		rank := 0
		for i := range c.runs() {
			lo, hi := c.run(i)
			for x := lo; x < min(hi, len(words)<<6) && rank+x-lo < int(c.card); x++ {
				if words[x>>6]>>(x&63)&1 != 0 {
					rows = append(rows, uint16(x))
					ranks = append(ranks, uint16(rank+x-lo))
				}
			}
			rank += hi - lo
		}
	}
	return rows, ranks
}

// matchArray writes each row and advances only past those that match, which costs
// no branch per row.
func (c *Container) matchArray(rows, ranks []uint16, words []uint64) (_, _ []uint16) {
	n := int(c.card)
	rows, ranks = slices.Grow(rows, n), slices.Grow(ranks, n)
	r, k, found := rows[len(rows):][:n], ranks[len(ranks):][:n], 0
	for i := range n {
		low := c.low(i)
		w := int(low >> 6)
		if w >= len(words) || found >= n {
			continue
		}
		r[found], k[found] = low, uint16(i)
		found += int(words[w] >> (low & 63) & 1)
	}
	return rows[:len(rows)+found], ranks[:len(ranks)+found]
}

func (c *Container) matchBitmap(rows, ranks []uint16, words []uint64) (_, _ []uint16) {
	rank := 0
	for i, m := range words[:min(len(words), windowWords)] {
		own := c.word(i)
		for w := own & m; w != 0; w &= w - 1 {
			bit := bits.TrailingZeros64(w)
			r := rank + bits.OnesCount64(own&(1<<bit-1))
			if r >= int(c.card) {
				return rows, ranks
			}
			rows = append(rows, uint16(i<<6+bit))
			ranks = append(ranks, uint16(r))
		}
		rank += bits.OnesCount64(own)
	}
	return rows, ranks
}
