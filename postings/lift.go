package postings

import "math/bits"

// Lift adds to parents every parent of a row of children. It walks both sides
// once: a parent's other children are skipped as soon as one is found.
func Lift(children, parents *Bits, s Spans) {
	p, offsets := 0, s.offsets
	for c, ok := children.Next(0); ok; {
		p = gallop(offsets, p, uint32(c))
		if p+1 >= len(offsets) || p >= parents.n {
			return
		}
		parents.Add(Ord(p))
		c, ok = children.Next(Ord(offsets[p+1]))
	}
}

// gallop returns the i at or after p with offsets[i] <= c < offsets[i+1], or the
// last index. offsets[p] must be at most c. Neighbours are near in dense sets and
// far in sparse ones, so the step doubles.
func gallop(offsets []uint32, p int, c uint32) int {
	lo, step := p, 1
	for lo+step < len(offsets) && offsets[lo+step] <= c {
		lo += step
		step *= 2
	}
	hi := min(lo+step, len(offsets))
	for lo+1 < hi {
		if m := int(uint(lo+hi) >> 1); offsets[m] <= c {
			lo = m
		} else {
			hi = m
		}
	}
	return lo
}

// Lower adds to children the whole run of every row of parents. Neighbouring
// parents own neighbouring runs, so a stretch of parents costs one fill.
func Lower(parents, children *Bits, s Spans) {
	n := Ord(min(s.Parents(), parents.n))
	for p, ok := parents.Next(0); ok && p < n; {
		q := min(parents.nextClear(p), n)
		children.AddRange(Ord(s.offsets[p]), min(Ord(s.offsets[q]), Ord(children.n)))
		p, ok = parents.Next(q)
	}
}

// nextClear returns the first row at or after o that is not set, at most Len.
func (b *Bits) nextClear(o Ord) Ord {
	i := int(o >> 6)
	if i >= len(b.words) {
		return Ord(b.n)
	}
	if w := ^b.words[i] >> (o & 63) << (o & 63); w != 0 {
		return min(Ord(i<<6+bits.TrailingZeros64(w)), Ord(b.n))
	}
	for j, w := range b.words[i+1:] {
		if w != ^uint64(0) {
			return min(Ord((i+1+j)<<6+bits.TrailingZeros64(^w)), Ord(b.n))
		}
	}
	return Ord(b.n)
}
