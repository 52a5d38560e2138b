package postings

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// The kinds of payload. The kind is not stored: the number of rows and the size
// of the payload imply it.
const (
	badKind    uint8 = iota
	arrayKind        // the lows, u16 each, ascending
	bitmapKind       // 1,024 words, then the rank directory
	runKind          // the number of runs, then start and length less one of each, u16 all
)

const (
	windowWords = ContainerRows / 64
	arrayMax    = 4096            // the most rows of an array
	bitmapSize  = windowWords * 8 // the words of a bitmap
	// A bitmap is followed by the number of rows before each 512 bits, so that a
	// rank costs at most eight popcounts: 3 % of a bitmap.
	rankWords = 8
	ranksSize = windowWords / rankWords * 2
)

// kindOf returns the kind of a payload, badKind if no payload of so many rows has
// this size. Runs are written only where they are smaller than the alternative.
func kindOf(card, size int) uint8 {
	plain, kind := 2*card, arrayKind
	if card > arrayMax {
		plain, kind = bitmapSize+ranksSize, bitmapKind
	}
	switch {
	case size == plain:
		return kind
	case size < plain && size >= 6 && size%4 == 2:
		return runKind
	}
	return badKind
}

// A Container is the part of a list inside one aligned range of 65,536 rows. Rows
// are named by their low 16 bits, postings by their rank, the number of rows of
// the container before them. The zero value is empty.
type Container struct {
	body
	data []byte
	base uint32 // rank of the first row in the list
	card int32
	key  uint16
	kind uint8
}

// Key is the row number of the container's range, over 65,536.
func (c Container) Key() uint16 { return c.key }

// Len is the number of rows.
func (c Container) Len() int { return int(c.card) }

// Base is the row number that low 0 stands for.
func (c Container) Base() Ord { return Ord(c.key) << 16 }

// low is the i-th 16-bit number of the payload.
func (c *Container) low(i int) uint16 { return binary.LittleEndian.Uint16(c.data[2*i:]) }

// word is the i-th word of a bitmap.
func (c *Container) word(i int) uint64 { return binary.LittleEndian.Uint64(c.data[8*i:]) }

// runs is the number of runs, run the i-th one as [lo, hi).
func (c *Container) runs() int { return (len(c.data) - 2) / 4 }

func (c *Container) run(i int) (lo, hi int) {
	r := c.data[2+4*i:][:4]
	lo = int(binary.LittleEndian.Uint16(r))
	return lo, min(lo+int(binary.LittleEndian.Uint16(r[2:]))+1, ContainerRows)
}

// OrInto adds the rows to the words of the container's range.
func (c Container) OrInto(words *[windowWords]uint64) { c.or(words[:]) }

// AndInto removes the rows that the container lacks from the words of its range.
func (c Container) AndInto(words *[windowWords]uint64) { c.and(words[:]) }

// AndNotInto removes the rows of the container from the words of its range.
func (c Container) AndNotInto(words *[windowWords]uint64) { c.andNot(words[:]) }

// CountIn is the number of rows of the container that are set in the words of its
// range.
func (c Container) CountIn(words *[windowWords]uint64) int { return c.count(words[:]) }

// AppendRows appends the lows of all rows, ascending: exactly Len of them.
func (c Container) AppendRows(dst []uint16) []uint16 {
	n := int(c.card)
	dst = slices.Grow(dst, n)
	out := dst[len(dst):][:n]
	switch c.kind {
	case arrayKind:
		readLows(out, c.data)
	case bitmapKind:
		c.readBitmap(out)
	case runKind:
		c.readRuns(out)
	}
	return dst[:len(dst)+n]
}

// readLows reads an array payload, four lows at a time.
func readLows(out []uint16, d []byte) {
	for ; len(out) >= 4 && len(d) >= 8; out, d = out[4:], d[8:] {
		x := binary.LittleEndian.Uint64(d)
		out[0], out[1], out[2], out[3] = uint16(x), uint16(x>>16), uint16(x>>32), uint16(x>>48)
	}
	for i := range out {
		out[i] = binary.LittleEndian.Uint16(d[2*i:])
	}
}

func (c *Container) readBitmap(out []uint16) {
	k := 0
	for i := range windowWords {
		for w := c.word(i); w != 0; w &= w - 1 {
			if k >= len(out) {
				return
			}
			out[k] = uint16(i<<6 + bits.TrailingZeros64(w))
			k++
		}
	}
	pad(out[k:])
}

func (c *Container) readRuns(out []uint16) {
	k := 0
	for i := range c.runs() {
		for lo, hi := c.run(i); lo < hi && k < len(out); lo++ {
			out[k] = uint16(lo)
			k++
		}
	}
	pad(out[k:])
}

// pad keeps the promised number of rows over a damaged payload, so that callers
// may walk rows and frequencies side by side.
func pad(out []uint16) {
	for i := range out {
		out[i] = ContainerRows - 1
	}
}

// Contains reports whether the row of the given low is in the container.
func (c Container) Contains(low uint16) bool {
	if c.kind == bitmapKind {
		return c.word(int(low>>6))>>(low&63)&1 != 0
	}
	_, ok := c.Rank(low)
	return ok
}

// Rank returns the rank of the row of the given low and whether it is there; if
// not, the rank it would have.
func (c Container) Rank(low uint16) (rank int, ok bool) {
	switch c.kind {
	case arrayKind:
		rank, ok = c.rankArray(low)
	case bitmapKind:
		rank, ok = c.rankBitmap(low)
	case runKind:
		rank, ok = c.rankRuns(low)
	}
	return min(rank, int(c.card)), ok && rank < int(c.card)
}

func (c *Container) rankArray(low uint16) (int, bool) {
	lo, hi := 0, int(c.card)
	for lo < hi {
		if m := int(uint(lo+hi) >> 1); c.low(m) < low {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo, lo < int(c.card) && c.low(lo) == low
}

func (c *Container) rankBitmap(low uint16) (int, bool) {
	i := int(low >> 6)
	group := i / rankWords
	rank := int(binary.LittleEndian.Uint16(c.data[bitmapSize+2*group:]))
	for j := group * rankWords; j < i; j++ {
		rank += bits.OnesCount64(c.word(j))
	}
	w := c.word(i)
	return rank + bits.OnesCount64(w&(1<<(low&63)-1)), w>>(low&63)&1 != 0
}

func (c *Container) rankRuns(low uint16) (int, bool) {
	rank := 0
	for i := range c.runs() {
		lo, hi := c.run(i)
		if int(low) < lo {
			break
		}
		if int(low) < hi {
			return rank + int(low) - lo, true
		}
		rank += hi - lo
	}
	return rank, false
}

// Freq is the number of occurrences in the row of the given rank; zero if the
// list was opened without frequencies.
func (c Container) Freq(rank int) uint32 { return c.freqAt(int(c.base) + rank) }

// AppendFreqs appends the frequencies of all rows in the order of AppendRows:
// exactly Len of them.
func (c Container) AppendFreqs(dst []uint32) []uint32 {
	return c.body.appendFreqs(dst, int(c.base), int(c.card))
}

// AppendPositions appends the positions of the term in the row of the given rank,
// ascending; none if the list was opened without positions.
func (c Container) AppendPositions(dst []uint32, rank int) []uint32 {
	return c.body.appendPositions(dst, int(c.base)+rank)
}
