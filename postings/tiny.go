package postings

import (
	"encoding/binary"
	"fmt"
)

// Most terms are held by one or two rows. Such a list is spelt in one string of
// bytes that a dictionary stores beside the term:
//
//	head   1 byte: the shape in the low three bits, then the bytes per key in two,
//	       and 0x80 if frequencies follow
//	keys   u8 or u16 per container; left out where the only one is 0
//	lows   u16 per row
//	freqs  four bits per row as in a stored list, all less than 15; left out if all
//	       are 1
//	gaps   positions, as in a stored list
//
// The shape says how the rows fall into containers; it is never 0, by which a
// dictionary tells a tiny list from what else may stand there. The string says
// itself where it ends.

// TinyRows is the most rows of a tiny list, TinySize the most bytes: a bound on
// what a dictionary block may grow to.
const (
	TinyRows = 3
	TinySize = 127
)

// TinyShape masks the bits of the first byte that no tiny list has all zero.
const TinyShape = 7

const (
	tinyWidth = 3 // shift of the bytes per key
	tinyFreqs = 0x80
	tinyHead  = TinyShape | 3<<tinyWidth | tinyFreqs // all bits that have a meaning
)

// shapes lists the rows per container; shape 0 is no tiny list.
var shapes = [...][TinyRows]uint8{
	{}, {1}, {2}, {1, 1}, {3}, {1, 2}, {2, 1}, {1, 1, 1},
}

// shapeRows and shapeKeys are the numbers of rows and containers of each shape.
var (
	shapeRows = [...]uint8{0, 1, 2, 2, 3, 3, 3, 3}
	shapeKeys = [...]uint8{0, 1, 1, 2, 1, 2, 2, 3}
)

// TinyLen is the size of the tiny list that b begins with, and its number of rows;
// zero if it is cut off or none.
func TinyLen(b []byte) (size, rows int) {
	if len(b) == 0 {
		return 0, 0
	}
	head := b[0]
	rows = int(shapeRows[head&TinyShape])
	n := 1 + int(shapeKeys[head&TinyShape])*int(head>>tinyWidth&3) + 2*rows
	total := rows
	if head&tinyFreqs != 0 {
		f := FreqBytes(rows)
		if n += f; n > len(b) {
			return 0, 0
		}
		total = 0
		for _, x := range b[n-f : n] {
			total += int(x&15 + x>>4)
		}
	}
	if n > len(b) || rows == 0 {
		return 0, 0
	}
	for ; total > 0 && n < len(b); n++ {
		if b[n] < 0x80 {
			total--
		}
	}
	if total > 0 || n > TinySize {
		return 0, 0
	}
	return n, rows
}

// OpenTiny opens the stored form of a tiny list, which is all of b.
func OpenTiny(b []byte) (List, error) {
	if len(b) == 0 || len(b) > TinySize || b[0]&TinyShape == 0 || b[0]&^tinyHead != 0 {
		return List{}, fmt.Errorf("%w: tiny list", ErrCorrupt)
	}
	l := List{shape: b[0] & TinyShape}
	l.ones = b[0]&tinyFreqs == 0
	l.rows, l.count = uint32(shapeRows[l.shape]), uint32(shapeKeys[l.shape])
	l.total = uint64(l.rows)
	width := int(b[0] >> tinyWidth & 3)
	b = b[1:]
	k, n, f := width*int(l.count), 2*int(l.rows), FreqBytes(int(l.rows))
	if l.ones {
		f = 0
	}
	if len(b) < k+n+f || width == 3 {
		return List{}, fmt.Errorf("%w: tiny list cut off", ErrCorrupt)
	}
	for i := range int(l.count) {
		switch width {
		case 1:
			l.keys[i] = uint16(b[i])
		case 2:
			l.keys[i] = binary.LittleEndian.Uint16(b[2*i:])
		}
		if i > 0 && l.keys[i-1] >= l.keys[i] {
			return List{}, fmt.Errorf("%w: keys of a tiny list", ErrCorrupt)
		}
	}
	b = b[k:]
	l.doc, l.freq, l.pos = b[:n], b[n:n+f], b[n+f:]
	if !l.ones {
		l.total = 0
		for _, x := range l.freq {
			l.total += uint64(x&15 + x>>4)
		}
	}
	return l, nil
}

func (l *List) tinyContainer(i int) Container {
	base := 0
	for _, n := range shapes[l.shape][:i] {
		base += int(n)
	}
	card := int(shapes[l.shape][i])
	return Container{
		body: l.body,
		data: l.doc[2*base:][:2*card],
		base: uint32(base),
		card: int32(card),
		key:  l.keys[i],
		kind: arrayKind,
	}
}
