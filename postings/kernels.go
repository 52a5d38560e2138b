package postings

import (
	"encoding/binary"
	"math/bits"
)

// The kernels below work on the words of a container's range. The last range of
// a unit may have fewer than 1,024 words; rows beyond them are left out.

// Window returns the words of the aligned range of 65,536 rows with the given key:
// 1,024 of them, fewer in the last range, none beyond Len.
func (b *Bits) Window(key uint16) []uint64 {
	lo := min(int(key)*windowWords, len(b.words))
	return b.words[lo:min(lo+windowWords, len(b.words))]
}

// trim clears the bits beyond Len.
func (b *Bits) trim() {
	if r := b.n & 63; r != 0 {
		b.words[len(b.words)-1] &= 1<<r - 1
	}
}

func (c *Container) or(w []uint64) {
	switch c.kind {
	case arrayKind:
		orArray(w, c.data)
	case bitmapKind:
		d := c.data[:8*len(w)]
		for i := range w {
			w[i] |= binary.LittleEndian.Uint64(d[8*i:])
		}
	case runKind:
		for i := range c.runs() {
			lo, hi := c.run(i)
			setRange(w, lo, hi)
		}
	}
}

// orArray adds the lows of an array payload. A whole window, which all but the last
// are, needs no check per row.
func orArray(w []uint64, d []byte) {
	if len(w) == windowWords {
		all := (*[windowWords]uint64)(w)
		for ; len(d) >= 8; d = d[8:] {
			x := binary.LittleEndian.Uint64(d)
			all[x>>6&1023] |= 1 << (x & 63)
			all[x>>22&1023] |= 1 << (x >> 16 & 63)
			all[x>>38&1023] |= 1 << (x >> 32 & 63)
			all[x>>54] |= 1 << (x >> 48 & 63)
		}
	}
	for ; len(d) >= 2; d = d[2:] {
		low := binary.LittleEndian.Uint16(d)
		if i := int(low >> 6); i < len(w) {
			w[i] |= 1 << (low & 63)
		}
	}
}

// countArray counts the lows of an array payload that are set in w.
func countArray(w []uint64, d []byte) int {
	n := uint64(0)
	if len(w) == windowWords {
		all := (*[windowWords]uint64)(w)
		for ; len(d) >= 8; d = d[8:] {
			x := binary.LittleEndian.Uint64(d)
			n += all[x>>6&1023]>>(x&63)&1 + all[x>>22&1023]>>(x>>16&63)&1
			n += all[x>>38&1023]>>(x>>32&63)&1 + all[x>>54]>>(x>>48&63)&1
		}
	}
	for ; len(d) >= 2; d = d[2:] {
		low := binary.LittleEndian.Uint16(d)
		if i := int(low >> 6); i < len(w) {
			n += w[i] >> (low & 63) & 1
		}
	}
	return int(n)
}

func (c *Container) andNot(w []uint64) {
	switch c.kind {
	case arrayKind:
		for d := c.data; len(d) >= 2; d = d[2:] {
			low := binary.LittleEndian.Uint16(d)
			if i := int(low >> 6); i < len(w) {
				w[i] &^= 1 << (low & 63)
			}
		}
	case bitmapKind:
		d := c.data[:8*len(w)]
		for i := range w {
			w[i] &^= binary.LittleEndian.Uint64(d[8*i:])
		}
	case runKind:
		for i := range c.runs() {
			lo, hi := c.run(i)
			clearRange(w, lo, hi)
		}
	}
}

// and keeps what the container holds. For an array it collects the kept bits of
// one word at a time and clears the words between.
func (c *Container) and(w []uint64) {
	switch c.kind {
	case bitmapKind:
		d := c.data[:8*len(w)]
		for i := range w {
			w[i] &= binary.LittleEndian.Uint64(d[8*i:])
		}
	case arrayKind:
		at, keep := 0, uint64(0)
		for d := c.data; len(d) >= 2; d = d[2:] {
			low := binary.LittleEndian.Uint16(d)
			i := int(low >> 6)
			if i >= len(w) {
				break
			}
			if i > at {
				w[at] &= keep
				clear(w[at+1 : i])
				at, keep = i, 0
			}
			keep |= 1 << (low & 63)
		}
		if at < len(w) {
			w[at] &= keep
			clear(w[at+1:])
		}
	case runKind:
		at := 0
		for i := range c.runs() {
			lo, hi := c.run(i)
			if lo > at {
				clearRange(w, at, lo)
			}
			at = max(at, hi)
		}
		clearRange(w, at, ContainerRows)
	default:
		clear(w)
	}
}

func (c *Container) count(w []uint64) int {
	n := 0
	switch c.kind {
	case arrayKind:
		n = countArray(w, c.data)
	case bitmapKind:
		d := c.data[:8*len(w)]
		for i := range w {
			n += bits.OnesCount64(w[i] & binary.LittleEndian.Uint64(d[8*i:]))
		}
	case runKind:
		for i := range c.runs() {
			lo, hi := c.run(i)
			n += countRange(w, lo, hi)
		}
	}
	return n
}

// edges returns the words that [lo, hi) touches and the masks of the first and
// the last; ok is false if it touches none.
func edges(n, lo, hi int) (first, last int, head, tail uint64, ok bool) {
	hi = min(hi, n<<6)
	if lo >= hi {
		return 0, 0, 0, 0, false
	}
	first, last = lo>>6, (hi-1)>>6
	head, tail = ^uint64(0)<<(lo&63), ^uint64(0)>>(63-(hi-1)&63)
	if first == last {
		head &= tail
		tail = head
	}
	return first, last, head, tail, true
}

func setRange(w []uint64, lo, hi int) {
	first, last, head, tail, ok := edges(len(w), lo, hi)
	if !ok {
		return
	}
	w[first] |= head
	w[last] |= tail
	for i := first + 1; i < last; i++ {
		w[i] = ^uint64(0)
	}
}

func clearRange(w []uint64, lo, hi int) {
	first, last, head, tail, ok := edges(len(w), lo, hi)
	if !ok {
		return
	}
	w[first] &^= head
	w[last] &^= tail
	if first < last {
		clear(w[first+1 : last])
	}
}

func countRange(w []uint64, lo, hi int) int {
	first, last, head, tail, ok := edges(len(w), lo, hi)
	if !ok {
		return 0
	}
	n := bits.OnesCount64(w[first] & head)
	if first == last {
		return n
	}
	n += bits.OnesCount64(w[last] & tail)
	for _, x := range w[first+1 : last] {
		n += bits.OnesCount64(x)
	}
	return n
}

// CountIn is the number of rows of l that are set in mask.
func CountIn(l List, mask *Bits) int {
	n := 0
	for i := range int(l.count) {
		w := mask.Window(l.keyAt(i))
		if len(w) == 0 {
			break
		}
		c := l.container(i)
		n += c.count(w)
	}
	return n
}
