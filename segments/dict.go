package segments

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/hansard-search/hansard/postings"
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

// A DICT section holds the terms in byte order, blockTerms to a block. A block is
// the offsets of its first list in each of the four part sections (uvarints), then
// per term:
//
//	lengths  1 byte: bytes that the term shares with the one before it << 4, bytes of
//	         its suffix; 15 of either means that a uvarint with the rest follows
//	suffix   bytes
//	list     a tiny list, whose first byte has one of the bits postings.TinyShape; or
//	flags    1 byte: flagOnes if all frequencies are 1, flagFreqs if the size of the
//	         frequencies is not that of postings.FreqBytes and follows
//	rows     uvarint
//	doc      uvarint: distance of its size from two bytes per row, zigzag
//	freq     uvarint: size, with flagFreqs
//	pos      uvarint: size
//	bounds   uvarint: size; from postings.BoundsRows rows on
//
// The lists of a section lie in the order of the terms, so that sizes add up to
// offsets. The first term of a block shares nothing.
const (
	flagOnes  = 0x08
	flagFreqs = 0x10
	flagsAll  = flagOnes | flagFreqs

	nibble = 15 // greatest length without a uvarint
)

// An entry says where the posting list of a term is.
type entry struct {
	rows int
	tiny []byte // the list itself, or nil
	off  [parts]int64
	size [parts]int64
}

// appendTerm appends a term that shares some bytes with the one before.
func appendTerm(dst []byte, shared int, suffix []byte) []byte {
	dst = append(dst, byte(min(shared, nibble)<<4|min(len(suffix), nibble)))
	for _, n := range [2]int{shared, len(suffix)} {
		if n >= nibble {
			dst = binary.AppendUvarint(dst, uint64(n-nibble))
		}
	}
	return append(dst, suffix...)
}

// term reads the part of an entry before the list.
func (d *decoder) term() (shared int, suffix []byte) {
	if len(d.b) == 0 {
		d.bad = true
		return 0, nil
	}
	shared, n := int(d.b[0]>>4), int(d.b[0]&nibble)
	d.b = d.b[1:]
	if shared == nibble {
		shared = d.long()
	}
	if n == nibble {
		n = d.long()
	}
	return shared, d.take(n)
}

// long reads a length that does not fit four bits.
func (d *decoder) long() int {
	n := d.uvarint()
	if n > math.MaxInt32 {
		d.bad, d.b = true, nil
		return 0
	}
	return int(n) + nibble
}

// appendEntry appends the part of an entry after the term.
func appendEntry(dst []byte, l *postings.Encoded) []byte {
	if l.Tiny != nil {
		return append(dst, l.Tiny...)
	}
	flags := byte(0)
	switch len(l.Freq) {
	case 0:
		flags = flagOnes
	case postings.FreqBytes(l.Rows):
	default:
		flags = flagFreqs
	}
	dst = append(dst, flags)
	dst = binary.AppendUvarint(dst, uint64(l.Rows))
	dst = binary.AppendVarint(dst, int64(len(l.Doc))-2*int64(l.Rows))
	if flags&flagFreqs != 0 {
		dst = binary.AppendUvarint(dst, uint64(len(l.Freq)))
	}
	dst = binary.AppendUvarint(dst, uint64(len(l.Pos)))
	if l.Rows >= postings.BoundsRows {
		dst = binary.AppendUvarint(dst, uint64(len(l.Bounds)))
	}
	return dst
}

// entry reads the part of an entry after the term; base is moved past its list.
func (d *decoder) entry(base *[parts]int64) (e entry) {
	if len(d.b) > 0 && d.b[0]&postings.TinyShape != 0 {
		var n int
		n, e.rows = postings.TinyLen(d.b)
		e.tiny = d.take(n)
		d.bad = d.bad || n == 0
		return e
	}
	flags := d.take(1)[0]
	rows := d.uvarint()
	if rows > maxRows || flags&^flagsAll != 0 {
		d.bad, d.b = true, nil
		return e
	}
	e.rows = int(rows)
	doc := d.uvarint()
	e.size[partDoc] = 2*int64(rows) + (int64(doc>>1) ^ -int64(doc&1))
	switch {
	case flags&flagFreqs != 0:
		e.size[partFreq] = int64(d.uvarint())
	case flags&flagOnes == 0:
		e.size[partFreq] = int64(postings.FreqBytes(e.rows))
	}
	e.size[partPos] = int64(d.uvarint())
	if e.rows >= postings.BoundsRows {
		e.size[partBounds] = int64(d.uvarint())
	}
	for i, n := range e.size {
		d.bad = d.bad || n < 0 || n > math.MaxInt64/2-base[i]
		e.off[i] = base[i]
		base[i] += n
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
		shared, suffix := dec.term()
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
	shared, suffix := c.dec.term()
	c.at = c.dec.entry(&c.base)
	if c.dec.bad || shared > len(c.term) || c.left == 0 && len(c.dec.b) != 0 {
		c.left, c.err = 0, c.d.damaged(c.block)
		return false
	}
	c.term = append(c.term[:shared], suffix...)
	return true
}
