package segments

import (
	"bytes"
	"encoding/binary"
)

// The parts of a posting list and the sections that hold them.
const (
	partDoc = iota
	partFreq
	partPos
	partBounds
	parts
)

var partTags = [parts]string{tagDocs, tagFreqs, tagPositions, tagBounds}

// A DICT section holds the terms in byte order, 64 to a block. A block is the
// offsets of its first list in each of the four part sections (uvarints), then
// per term:
//
//	shared   uvarint: bytes that the term shares with the one before it
//	suffix   uvarint, bytes
//	head     uvarint: rows of the list, shifted left by one; 1 in the low bit if tiny
//	tiny     uvarint, bytes: the list itself; or
//	sizes    four uvarints: bytes of the doc, freq, pos and bounds parts
//
// The lists of a section lie in the order of the terms, so that sizes add up to
// offsets. The first term of a block shares nothing.

// An entry says where the posting list of a term is.
type entry struct {
	rows int
	tiny []byte // the list itself, or nil
	off  [parts]int64
	size [parts]int64
}

// entry reads the part of an entry after the term; base is moved past its list.
func (d *decoder) entry(base *[parts]int64) (e entry) {
	head := d.uvarint()
	e.rows = int(head >> 1)
	if head&1 != 0 {
		e.tiny = d.take(int(d.uvarint()))
		return e
	}
	for i := range e.size {
		e.off[i] = base[i]
		e.size[i] = int64(d.uvarint())
		base[i] += e.size[i]
	}
	return e
}

// A dict is the dictionary of an index. Its resident part is eight bytes per block.
type dict struct {
	f      *file
	sect   *section
	terms  int
	blocks []uint64 // offsets in sect, one more than there are blocks
	keyOff []uint32 // offsets in keys, likewise
	keys   []byte   // the first term of each block
	prefix []uint64 // its first eight bytes as a number
}

// openDict reads the DIDX section of an index:
//
//	terms u64, blocks u64, offsets u64 × (blocks+1), key offsets u32 × (blocks+1), keys
func openDict(f *file, name string) (d dict, err error) {
	b, err := f.must(tagDictIndex, name)
	if err != nil {
		return d, err
	}
	sect := tagDictIndex + " " + name
	d = dict{f: f, sect: f.find(tagDict, name)}
	if d.sect == nil {
		return d, corrupt(f.name, tagDict+" "+name, "missing")
	}
	if len(b) < 16 {
		return d, corrupt(f.name, sect, "%d bytes are too few", len(b))
	}
	terms, n := le.Uint64(b), le.Uint64(b[8:])
	if n > uint64(len(b))/12 || terms > n*blockTerms || terms+blockTerms <= n*blockTerms || uint64(len(b)-16) < 12*(n+1) {
		return d, corrupt(f.name, sect, "%d terms in %d blocks in %d bytes", terms, n, len(b))
	}
	d.terms = int(terms)
	d.blocks = u64s(b[16 : 16+8*(n+1)])
	rest := b[16+8*(n+1):]
	d.keys = rest[4*(n+1):]
	if d.keyOff, err = f.offsets(rest[:4*(n+1)], sect, int(n), len(d.keys)); err != nil {
		return d, err
	}
	last := uint64(0)
	for i, o := range d.blocks {
		if o < last || i == 0 && o != 0 {
			return d, corrupt(f.name, sect, "block %d overlaps the one before", i)
		}
		last = o
	}
	if last != uint64(d.sect.size) {
		return d, corrupt(f.name, sect, "blocks cover %d bytes of %d", last, d.sect.size)
	}
	d.prefix = make([]uint64, n)
	for i := range d.prefix {
		d.prefix[i] = prefix8(d.key(i))
	}
	return d, nil
}

// key is the first term of block i.
func (d *dict) key(i int) []byte { return d.keys[d.keyOff[i]:d.keyOff[i+1]] }

// prefix8 orders terms as far as eight bytes can.
func prefix8(term []byte) uint64 {
	if len(term) >= 8 {
		return binary.BigEndian.Uint64(term)
	}
	var b [8]byte
	copy(b[:], term)
	return binary.BigEndian.Uint64(b[:])
}

// block returns the last block whose first term is at or before term, or -1.
func (d *dict) block(term []byte) int {
	p := prefix8(term)
	lo, hi := 0, len(d.prefix)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if q := d.prefix[m]; q < p || q == p && bytes.Compare(d.key(m), term) <= 0 {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo - 1
}

// open begins block i: what is left to decode, the offsets of its first list and
// the number of its terms.
func (d *dict) open(i int) (dec decoder, base [parts]int64, n int, err error) {
	b, err := d.f.read(d.sect, int64(d.blocks[i]), int64(d.blocks[i+1]))
	if err != nil {
		return dec, base, 0, err
	}
	dec = decoder{b: b}
	for p := range base {
		base[p] = int64(dec.uvarint())
	}
	return dec, base, min(blockTerms, d.terms-i*blockTerms), nil
}

func (d *dict) damaged(block int) error {
	return corrupt(d.f.name, d.sect.String(), "block %d is no block", block)
}

// find returns the entry of term, and false if the dictionary does not have it.
//
// The walk never builds the terms of the block: it keeps the length of the prefix
// that term shares with the one before, against which the shared length of the
// next one decides all but ties.
func (d *dict) find(term []byte) (e entry, ok bool, err error) {
	block := d.block(term)
	if block < 0 {
		return e, false, nil
	}
	dec, base, n, err := d.open(block)
	if err != nil {
		return e, false, err
	}
	same := 0
	for range n {
		shared := int(dec.uvarint())
		suffix := dec.take(int(dec.uvarint()))
		e = dec.entry(&base)
		if dec.bad {
			return e, false, d.damaged(block)
		}
		if shared > same {
			continue
		}
		if shared < same {
			return e, false, nil
		}
		rest := term[same:]
		k := common(rest, suffix)
		switch {
		case k == len(suffix) && k == len(rest):
			return e, true, nil
		case k == len(rest) || k < len(suffix) && suffix[k] > rest[k]:
			return e, false, nil
		}
		same += k
	}
	return e, false, nil
}

// common is the length of the common prefix.
func common(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// A dictCursor walks the terms in order. term is reused by next.
type dictCursor struct {
	d     *dict
	block int // being walked
	left  int // terms left in it
	dec   decoder
	base  [parts]int64
	term  []byte
	at    entry
	err   error
}

// first returns a cursor before the first term.
func (d *dict) first() dictCursor { return dictCursor{d: d, block: -1} }

// seek moves to the first term at or after term.
func (d *dict) seek(term []byte) (c dictCursor, ok bool) {
	c = dictCursor{d: d, block: max(d.block(term), 0) - 1}
	for c.next() {
		if bytes.Compare(c.term, term) >= 0 {
			return c, true
		}
	}
	return c, false
}

// next moves on; false means the end or an error in err.
func (c *dictCursor) next() bool {
	if c.left == 0 {
		if c.block+1 >= len(c.d.prefix) || c.err != nil {
			return false
		}
		c.block++
		c.term = c.term[:0]
		if c.dec, c.base, c.left, c.err = c.d.open(c.block); c.err != nil || c.left <= 0 {
			c.left = 0
			return false
		}
	}
	c.left--
	shared := c.dec.uvarint()
	suffix := c.dec.take(int(c.dec.uvarint()))
	c.at = c.dec.entry(&c.base)
	if c.dec.bad || shared > uint64(len(c.term)) || c.left == 0 && len(c.dec.b) != 0 {
		c.left, c.err = 0, c.d.damaged(c.block)
		return false
	}
	c.term = append(c.term[:shared], suffix...)
	return true
}
