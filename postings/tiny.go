package postings

import (
	"encoding/binary"
	"fmt"
)

// Most terms are held by one or two rows. Such a list is spelt in one string of
// bytes that a dictionary stores beside the term:
//
//	head   1 byte: the shape, and 0x80 if frequencies follow
//	keys   u16 per container
//	lows   u16 per row
//	freqs  1 byte per row, left out if all are 1
//	gaps   positions, as in a stored list
//
// The shape says how the rows fall into containers.

// TinyRows is the most rows of a tiny list, TinySize the most bytes: a length
// that fits one byte, and a bound on what a dictionary block may grow to.
const (
	TinyRows = 3
	TinySize = 127
)

const tinyFreqs = 0x80

// shapes lists the rows per container; shape 0 is no tiny list.
var shapes = [...][TinyRows]uint8{
	{}, {1}, {2}, {1, 1}, {3}, {1, 2}, {2, 1}, {1, 1, 1},
}

// OpenTiny opens the stored form of a tiny list, which is all of b.
func OpenTiny(b []byte) (List, error) {
	if len(b) == 0 || len(b) > TinySize || b[0] == 0 || int(b[0]&^tinyFreqs) >= len(shapes) {
		return List{}, fmt.Errorf("%w: tiny list", ErrCorrupt)
	}
	l := List{shape: b[0] &^ tinyFreqs}
	l.ones = b[0]&tinyFreqs == 0
	for _, n := range shapes[l.shape] {
		l.rows += uint32(n)
		l.count += uint32(min(n, 1))
	}
	l.total = uint64(l.rows)
	b = b[1:]
	n := 2 * int(l.count+l.rows)
	f := int(l.rows)
	if l.ones {
		f = 0
	}
	if len(b) < n+f {
		return List{}, fmt.Errorf("%w: tiny list cut off", ErrCorrupt)
	}
	l.doc, l.freq, l.pos = b[:n], b[n:n+f], b[n+f:]
	if !l.ones {
		l.total = 0
		for _, x := range l.freq {
			l.total += uint64(x)
		}
	}
	for i := 1; i < int(l.count); i++ {
		if l.Key(i-1) >= l.Key(i) {
			return List{}, fmt.Errorf("%w: keys of a tiny list", ErrCorrupt)
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
		data: l.doc[2*(int(l.count)+base):][:2*card],
		base: uint32(base),
		card: int32(card),
		key:  binary.LittleEndian.Uint16(l.doc[2*i:]),
		kind: arrayKind,
	}
}
