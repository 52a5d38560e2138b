package postings

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// A long list carries bounds on what it can add to a score, so that whole ranges
// of rows can be passed over: for each aligned range of 1,024 rows that holds
// postings, the greatest frequency and the least length among them.
//
// The bounds of a list are, per container in the order of the directory, a mask of
// its 64 ranges that hold postings (u64) and the number of entries before it
// (u32); then the entries: greatest frequency (u8, 255 for more) and code of the
// least length (u8).

// BoundsRows is the least number of rows of a list with bounds, RangeRows the
// number of rows that one bound covers.
const (
	BoundsRows = 128
	RangeRows  = 1024
)

const (
	boundHead  = 12
	boundEntry = 2
	boundFreq  = 255 // stands for any frequency from it on
)

// LengthCode is the code of a row's length: exact to 15, then three bits after
// the leading one. It never decreases with the length.
func LengthCode(length uint32) uint8 {
	if length < 16 {
		return uint8(length)
	}
	shift := bits.Len32(length) - 4
	return uint8((shift+1)<<3) | uint8(length>>shift&7)
}

// LengthFloor is the least length of the given code.
func LengthFloor(code uint8) uint32 {
	if code < 16 {
		return uint32(code)
	}
	shift := min(int(code>>3)-1, 28)
	return (8 + uint32(code&7)) << shift
}

// Bounds is a view of the score bounds of one list. The zero value has none.
type Bounds struct{ heads, entries []byte }

// IsEmpty reports whether there are no bounds.
func (b Bounds) IsEmpty() bool { return len(b.heads) == 0 }

// OpenBounds opens the bounds of l.
func OpenBounds(b []byte, l List) (Bounds, error) {
	heads := boundHead * l.Containers()
	if len(b) < heads {
		return Bounds{}, fmt.Errorf("%w: bounds of %d containers in %d bytes", ErrCorrupt, l.Containers(), len(b))
	}
	n := 0
	for i := range l.Containers() {
		h := b[boundHead*i:]
		if int(binary.LittleEndian.Uint32(h[8:])) != n {
			return Bounds{}, fmt.Errorf("%w: bounds of container %d", ErrCorrupt, i)
		}
		n += bits.OnesCount64(binary.LittleEndian.Uint64(h))
	}
	if len(b)-heads != n*boundEntry {
		return Bounds{}, fmt.Errorf("%w: %d bounds in %d bytes", ErrCorrupt, n, len(b)-heads)
	}
	return Bounds{b[:heads], b[heads:]}, nil
}

// Ranges is the mask of the ranges of the i-th container that hold postings, the
// lowest range in the lowest bit.
func (b Bounds) Ranges(i int) uint64 { return binary.LittleEndian.Uint64(b.heads[boundHead*i:]) }

// At returns the bounds of range r, below 64, of the i-th container: no posting of
// the range has a greater frequency (255 stands for any) or a lesser length. ok is
// false if the range holds no posting.
func (b Bounds) At(i, r int) (maxFreq uint8, minLength uint32, ok bool) {
	h := b.heads[boundHead*i:][:boundHead]
	mask := binary.LittleEndian.Uint64(h)
	if mask>>r&1 == 0 {
		return 0, 0, false
	}
	n := int(binary.LittleEndian.Uint32(h[8:])) + bits.OnesCount64(mask&(1<<r-1))
	e := b.entries[boundEntry*n:][:boundEntry]
	return e[0], LengthFloor(e[1]), true
}

// boundsBuilder gathers the bounds of the rows that a ListBuilder is given.
type boundsBuilder struct {
	heads   []byte
	entries []byte
	at      Ord // number of the current range
	any     bool
	mask    uint64
	first   uint32 // entries before the current container
	freq    uint8
	code    uint8
}

func (b *boundsBuilder) reset() {
	*b = boundsBuilder{heads: b.heads[:0], entries: b.entries[:0]}
}

func (b *boundsBuilder) add(row Ord, length, freq uint32) {
	f, code := uint8(min(freq, boundFreq)), LengthCode(length)
	r := row / RangeRows
	if b.any && r == b.at {
		b.freq, b.code = max(b.freq, f), min(b.code, code)
		return
	}
	b.endRange()
	if b.any && r>>6 != b.at>>6 {
		b.endContainer()
	}
	b.any, b.at, b.freq, b.code = true, r, f, code
}

func (b *boundsBuilder) endRange() {
	if b.any {
		b.mask |= 1 << (b.at & 63)
		b.entries = append(b.entries, b.freq, b.code)
	}
}

func (b *boundsBuilder) endContainer() {
	b.heads = binary.LittleEndian.AppendUint64(b.heads, b.mask)
	b.heads = binary.LittleEndian.AppendUint32(b.heads, b.first)
	b.mask, b.first = 0, uint32(len(b.entries)/boundEntry)
}

func (b *boundsBuilder) appendTo(dst []byte) []byte {
	b.endRange()
	b.endContainer()
	return append(append(dst, b.heads...), b.entries...)
}
