package postings

import (
	"cmp"
	"slices"
)

// The kernels of seq(A -> B -> …). Each takes the rows on which a sequence may have
// arrived so far and yields those on which it may arrive by one more step; rows of
// one parent follow each other in transcript order, and no sequence leaves its
// parent. All ways to get there are kept, so that a later step never has to go back.

// Follow adds to out the rows of next that come after a row of prev of the same
// parent. All three cover the same rows.
func Follow(prev, next, out *Bits, s Spans) {
	p := 0
	for c, ok := prev.Next(0); ok; {
		p = gallop(s.offsets, p, uint32(c))
		if p+1 >= len(s.offsets) {
			return
		}
		end := Ord(s.offsets[p+1])
		out.orRange(next, c+1, end)
		c, ok = prev.Next(end)
	}
}

// FollowNext adds to out the rows of next that come right after a row of prev of the
// same parent: no live row lies between. next holds live rows only.
func FollowNext(prev, next, live, out *Bits, s Spans) {
	p := 0
	for c, ok := prev.Next(0); ok; c, ok = prev.Next(c + 1) {
		p = gallop(s.offsets, p, uint32(c))
		if p+1 >= len(s.offsets) {
			return
		}
		if n, any := live.Next(c + 1); any && n < Ord(s.offsets[p+1]) && next.Has(n) {
			out.Add(n)
		}
	}
}

// FollowWithin adds to out the rows of next that come after a row of prev of the same
// parent and whose time is at most span, and no less than nothing, after that row's.
// A row without a time is on neither side. Times and span are in the unit of times;
// they need not ascend with the rows.
func FollowWithin(prev, next, out *Bits, s Spans, times Numbers, span int64) error {
	var from, to []moment
	p := 0
	for c, ok := prev.Next(0); ok; {
		p = gallop(s.offsets, p, uint32(c))
		if p+1 >= len(s.offsets) {
			return nil
		}
		end := Ord(s.offsets[p+1])
		var err error
		if from, err = appendMoments(from[:0], prev, c, end, times); err != nil {
			return err
		}
		if to, err = appendMoments(to[:0], next, c+1, end, times); err != nil {
			return err
		}
		within(from, to, out, span)
		c, ok = prev.Next(end)
	}
	return nil
}

// A moment is a row and its time.
type moment struct {
	time int64
	row  Ord
}

// appendMoments appends the rows of b in [lo, hi) that have a time, ascending by it.
func appendMoments(dst []moment, b *Bits, lo, hi Ord, times Numbers) ([]moment, error) {
	for c, ok := b.Next(lo); ok && c < hi; c, ok = b.Next(c + 1) {
		t, known, err := times.At(c)
		if err != nil {
			return nil, err
		}
		if known {
			dst = append(dst, moment{t, c})
		}
	}
	slices.SortFunc(dst, func(a, b moment) int { return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.row, b.row)) })
	return dst, nil
}

// within adds the rows of to that a row of from precedes in time by at most span. It
// slides over both in the order of time and keeps, of the rows of from inside the
// span, those that no earlier row with a later time makes needless: the first of them
// is the earliest. from is overwritten.
func within(from, to []moment, out *Bits, span int64) {
	kept, first, read := 0, 0, 0 // from[first:kept] are kept, from[read:] not yet seen
	for _, m := range to {
		for ; read < len(from) && from[read].time <= m.time; read++ {
			for kept > first && from[kept-1].row >= from[read].row {
				kept--
			}
			from[kept] = from[read]
			kept++
		}
		// Unsigned, because the difference of two times may not fit an int64.
		for first < kept && uint64(m.time)-uint64(from[first].time) > uint64(span) {
			first++
		}
		if first < kept && from[first].row < m.row {
			out.Add(m.row)
		}
	}
}

// orRange adds the rows of o in [lo, hi).
func (b *Bits) orRange(o *Bits, lo, hi Ord) {
	if lo >= hi {
		return
	}
	first, last := lo>>6, (hi-1)>>6
	head := ^uint64(0) << (lo & 63)
	tail := ^uint64(0) >> (63 - (hi-1)&63)
	if first == last {
		b.words[first] |= o.words[first] & head & tail
		return
	}
	b.words[first] |= o.words[first] & head
	for i := first + 1; i < last; i++ {
		b.words[i] |= o.words[i]
	}
	b.words[last] |= o.words[last] & tail
}
