package postings

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// body is what a list and its containers share: frequencies and positions, which
// are addressed by the rank of a posting in the whole list.
//
// freq is four bits per row, of two rows to a byte the first in the low ones; 15
// stands for an entry in the escapes that follow the last byte: rank and frequency,
// u32 each, ascending by rank. A list whose frequencies are all 1 stores none.
//
// pos is the index, then per row the first position and the gaps between the
// others as uvarints. The index is the offset of every 64th posting but the
// first, u32 each, counted from the end of the index.
type body struct {
	freq []byte
	pos  []byte
	rows uint32
	ones bool // every frequency is 1
}

const (
	escapeFreq  = 15
	escapeSize  = 8
	indexStride = 64 // postings per entry of the index of positions
)

// FreqBytes is the size of the frequencies of a list without escapes.
func FreqBytes(rows int) int { return (rows + 1) / 2 }

// indexSize is the number of bytes of the index of positions.
func indexSize(rows uint32) int {
	if rows == 0 {
		return 0
	}
	return int((rows-1)/indexStride) * 4
}

func (b *body) freqAt(g int) uint32 {
	if b.ones {
		return 1
	}
	if g < 0 || g >= int(b.rows) || len(b.freq) == 0 {
		return 0
	}
	if f := b.nibble(g); f != escapeFreq {
		return f
	}
	return b.escape(g)
}

func (b *body) nibble(g int) uint32 { return uint32(b.freq[g>>1] >> (g & 1 << 2) & 15) }

// escapes is the number of escapes, escapeAt the rank and frequency of the i-th.
func (b *body) escapes() int { return (len(b.freq) - FreqBytes(int(b.rows))) / escapeSize }

func (b *body) escapeAt(i int) (g int, freq uint32) {
	e := b.freq[FreqBytes(int(b.rows))+escapeSize*i:][:escapeSize]
	return int(binary.LittleEndian.Uint32(e)), binary.LittleEndian.Uint32(e[4:])
}

// seekEscape returns the first escape at or after posting g, or escapes().
func (b *body) seekEscape(g int) int {
	lo, hi := 0, b.escapes()
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if at, _ := b.escapeAt(m); at < g {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// escape is the frequency of a posting whose four bits are 15.
func (b *body) escape(g int) uint32 {
	if i := b.seekEscape(g); i < b.escapes() {
		if at, freq := b.escapeAt(i); at == g {
			return freq
		}
	}
	return escapeFreq
}

// appendFreqs appends the frequencies of the postings [g, g+n): first the bits,
// then what escapes say, which are few.
func (b *body) appendFreqs(dst []uint32, g, n int) []uint32 {
	dst = slices.Grow(dst, n)
	out := dst[len(dst):][:n]
	dst = dst[:len(dst)+n]
	if b.ones || len(b.freq) == 0 {
		f := uint32(0)
		if b.ones {
			f = 1
		}
		for i := range out {
			out[i] = f
		}
		return dst
	}
	b.unpack(out, g)
	for i := b.seekEscape(g); i < b.escapes(); i++ {
		at, freq := b.escapeAt(i)
		if at < g || at >= g+n {
			break
		}
		if out[at-g] == escapeFreq {
			out[at-g] = freq
		}
	}
	return dst
}

// unpack writes the four bits of the postings from g on, without a branch per row.
func (b *body) unpack(out []uint32, g int) {
	if g&1 != 0 && len(out) > 0 {
		out[0] = b.nibble(g)
		out, g = out[1:], g+1
	}
	pairs := b.freq[g>>1:][:len(out)/2]
	even := out[:2*len(pairs)]
	for i, f := range pairs {
		if 2*i+1 < len(even) { // always; it spares two checks
			even[2*i], even[2*i+1] = uint32(f&15), uint32(f>>4)
		}
	}
	if i := len(even); i < len(out) {
		out[i] = b.nibble(g + i)
	}
}

// occurrences is the sum of the frequencies of the postings [g, h).
func (b *body) occurrences(g, h int) uint64 {
	if b.ones {
		return uint64(h - g)
	}
	n := b.sumNibbles(g, h)
	if b.escapes() == 0 {
		return n
	}
	for i := b.seekEscape(g); i < b.escapes(); i++ {
		at, freq := b.escapeAt(i)
		if at < g || at >= h {
			break
		}
		if b.nibble(at) == escapeFreq {
			n += uint64(freq) - escapeFreq
		}
	}
	return n
}

// sumNibbles is the sum of the four bits of the postings [g, h), sixteen at a time.
func (b *body) sumNibbles(g, h int) uint64 {
	const low, ones = 0x0f0f0f0f0f0f0f0f, 0x0101010101010101
	if g >= h {
		return 0
	}
	n := uint64(0)
	if g&1 != 0 {
		n, g = uint64(b.nibble(g)), g+1
	}
	if h&1 != 0 && g < h {
		h--
		n += uint64(b.nibble(h))
	}
	s := b.freq[g>>1 : h>>1]
	for ; len(s) >= 8; s = s[8:] {
		x := binary.LittleEndian.Uint64(s)
		n += (x&low + x>>4&low) * ones >> 56
	}
	for _, x := range s {
		n += uint64(x&15 + x>>4)
	}
	return n
}

func (b *body) appendPositions(dst []uint32, g int) []uint32 {
	if g < 0 || g >= int(b.rows) || len(b.pos) == 0 {
		return dst
	}
	return appendGaps(dst, b.positionsFrom(g), b.freqAt(g))
}

// positionsFrom is the stored positions from those of posting g on.
func (b *body) positionsFrom(g int) []byte {
	block := g / indexStride
	data := b.pos[indexSize(b.rows):]
	if block > 0 {
		off := binary.LittleEndian.Uint32(b.pos[4*(block-1):])
		if uint64(off) > uint64(len(data)) {
			return nil
		}
		data = data[off:]
	}
	size, _ := skipUvarints(data, b.occurrences(block*indexStride, g))
	return data[size:]
}

// skipUvarints is the size of the first n uvarints of b; if it holds fewer, all of
// it and false.
func skipUvarints(b []byte, n uint64) (size int, ok bool) {
	const high = 0x8080808080808080 // a byte without it ends a uvarint
	if n == 0 {
		return 0, true
	}
	i := 0
	for ; len(b)-i >= 8; i += 8 {
		ends := ^binary.LittleEndian.Uint64(b[i:]) & high
		in := uint64(bits.OnesCount64(ends))
		if in >= n {
			for ; n > 1; n-- {
				ends &= ends - 1
			}
			return i + bits.TrailingZeros64(ends)>>3 + 1, true
		}
		n -= in
	}
	for ; n > 0 && i < len(b); i++ {
		if b[i] < 0x80 {
			n--
		}
	}
	return i, n == 0
}

// appendGaps appends the n positions that b begins with, fewer if it is cut off.
func appendGaps(dst []uint32, b []byte, n uint32) []uint32 {
	at := uint32(0)
	for ; n > 0 && len(b) > 0; n-- {
		if b[0] < 0x80 {
			at += uint32(b[0])
			b = b[1:]
		} else {
			gap, w := binary.Uvarint(b)
			if w <= 0 {
				return dst
			}
			at += uint32(gap)
			b = b[w:]
		}
		dst = append(dst, at)
	}
	return dst
}

// AppendGaps appends the stored form of the ascending positions of one row: the
// first, then the gaps, as uvarints.
func AppendGaps(dst []byte, positions []uint32) []byte {
	last := uint32(0)
	for _, p := range positions {
		if gap := p - last; gap < 0x80 {
			dst = append(dst, byte(gap))
		} else {
			dst = binary.AppendUvarint(dst, uint64(gap))
		}
		last = p
	}
	return dst
}
