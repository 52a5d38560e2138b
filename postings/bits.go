package postings

import "math/bits"

// Bits is a dense, mutable bitset over the rows [0, Len()): what predicates
// produce and operators combine. The zero value is empty; [Bits.Reset] sizes it
// and reuses its memory. Bits beyond Len are always zero.
type Bits struct {
	n     int
	words []uint64
}

// NewBits returns an empty bitset over n rows.
func NewBits(n int) *Bits {
	b := new(Bits)
	b.Reset(n)
	return b
}

// Reset makes b an empty bitset over n rows.
func (b *Bits) Reset(n int) {
	w := (n + 63) / 64
	if cap(b.words) < w {
		b.words = make([]uint64, w)
	} else {
		b.words = b.words[:w]
		clear(b.words)
	}
	b.n = n
}

// Len is the number of rows that b covers, set or not.
func (b *Bits) Len() int { return b.n }

// Words are the bits, row 0 in the lowest bit of the first word. Callers may
// write through it but must leave the bits beyond Len zero.
func (b *Bits) Words() []uint64 { return b.words }

// Add sets row o, which must be below Len.
func (b *Bits) Add(o Ord) { b.words[o>>6] |= 1 << (o & 63) }

// Remove clears row o, which must be below Len.
func (b *Bits) Remove(o Ord) { b.words[o>>6] &^= 1 << (o & 63) }

// Has reports whether row o is set; a row beyond Len is not.
func (b *Bits) Has(o Ord) bool {
	return uint(o) < uint(b.n) && b.words[o>>6]&(1<<(o&63)) != 0
}

// AddRange sets the rows [lo, hi).
func (b *Bits) AddRange(lo, hi Ord) {
	if lo >= hi {
		return
	}
	first, last := lo>>6, (hi-1)>>6
	head := ^uint64(0) << (lo & 63)
	tail := ^uint64(0) >> (63 - (hi-1)&63)
	if first == last {
		b.words[first] |= head & tail
		return
	}
	b.words[first] |= head
	for i := first + 1; i < last; i++ {
		b.words[i] = ^uint64(0)
	}
	b.words[last] |= tail
}

// Fill sets every row.
func (b *Bits) Fill() { b.AddRange(0, Ord(b.n)) }

// Invert flips every row.
func (b *Bits) Invert() {
	for i := range b.words {
		b.words[i] = ^b.words[i]
	}
	if r := b.n & 63; r != 0 {
		b.words[len(b.words)-1] &= 1<<r - 1
	}
}

// Copy makes b equal to o.
func (b *Bits) Copy(o *Bits) {
	b.Reset(o.n)
	copy(b.words, o.words)
}

// And keeps the rows that o has too. Both cover the same rows.
func (b *Bits) And(o *Bits) {
	for i, w := range o.words {
		b.words[i] &= w
	}
}

// Or adds the rows of o. Both cover the same rows.
func (b *Bits) Or(o *Bits) {
	for i, w := range o.words {
		b.words[i] |= w
	}
}

// AndNot removes the rows of o. Both cover the same rows.
func (b *Bits) AndNot(o *Bits) {
	for i, w := range o.words {
		b.words[i] &^= w
	}
}

// Count is the number of set rows.
func (b *Bits) Count() int {
	n := 0
	for _, w := range b.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// Any reports whether a row is set.
func (b *Bits) Any() bool {
	for _, w := range b.words {
		if w != 0 {
			return true
		}
	}
	return false
}

// Next returns the first set row at or after o.
func (b *Bits) Next(o Ord) (Ord, bool) {
	i := int(o >> 6)
	if i >= len(b.words) {
		return 0, false
	}
	if w := b.words[i] >> (o & 63) << (o & 63); w != 0 {
		return Ord(i<<6 + bits.TrailingZeros64(w)), true
	}
	for j, w := range b.words[i+1:] {
		if w != 0 {
			return Ord((i+1+j)<<6 + bits.TrailingZeros64(w)), true
		}
	}
	return 0, false
}

// All yields the set rows in ascending order.
func (b *Bits) All() func(yield func(Ord) bool) {
	return func(yield func(Ord) bool) {
		for i, w := range b.words {
			for ; w != 0; w &= w - 1 {
				if !yield(Ord(i<<6 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}
