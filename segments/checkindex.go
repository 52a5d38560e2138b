package segments

import (
	"bytes"

	"github.com/hansard-search/hansard/postings"
)

// index walks the dictionary and every list. A list is decoded, encoded again and
// compared: so its frequencies, positions, bounds and their spelling are all what
// a writer makes of its rows. Counted per block, the occurrences are the lengths;
// every position of a block is taken by one term.
func (c *checker) index() {
	x := &c.s.text
	p, err := x.open()
	if c.failed(tagDict, err) {
		return
	}
	lengths, err := x.Slice(0, postings.Ord(x.rows))
	if c.failed(tagLengths, err) {
		return
	}
	k := listChecker{checker: c, x: x, p: p, lengths: lengths, counted: make([]uint32, len(lengths))}
	if !k.start() {
		return
	}
	dictName := tagDict + " " + x.name
	var last []byte
	n := 0
	d := p.dict.first()
	for ; d.next(); n++ {
		if n > 0 && bytes.Compare(last, d.term) >= 0 {
			c.fault(FaultDictionaryOrder, dictName, "term %q after %q", d.term, last)
		}
		if n%blockTerms == 0 && !bytes.Equal(d.term, p.dict.key(n/blockTerms)) {
			c.fault(FaultDictionary, tagDictIndex+" "+x.name, "block %d begins with %q, not %q", n/blockTerms, d.term, p.dict.key(n/blockTerms))
		}
		if e, ok, err := p.dict.find(d.term); !c.failed(dictName, err) && (!ok || e.rows != d.at.rows || e.off != d.at.off) {
			c.fault(FaultDictionary, dictName, "term %q is there and not found", d.term)
		}
		last = append(last[:0], d.term...)
		k.list(d.term, &d.at)
	}
	if !c.failed(dictName, d.err) && n != p.dict.terms {
		c.fault(FaultDictionary, dictName, "%d terms, want %d", n, p.dict.terms)
	}
	for i, s := range p.parts {
		if k.end[i] != s.size {
			c.fault(FaultDocumentFrequency, s.String(), "lists fill %d bytes of %d", k.end[i], s.size)
		}
	}
	if !k.cut {
		c.counted = k.counted
	}
}

// A listChecker checks the lists of an index in the order of their terms.
type listChecker struct {
	*checker
	x       *index
	p       *indexParts
	lengths []uint32
	counted []uint32     // occurrences per row so far
	cut     bool         // a list could not be read to its end
	end     [parts]int64 // of the lists so far
	build   postings.ListBuilder
	pos     []uint32
	starts  []uint32       // where each row begins in taken
	taken   *postings.Bits // one bit per position of every row
}

// start makes room for the positions of all rows.
func (k *listChecker) start() bool {
	k.starts = make([]uint32, len(k.lengths))
	sum := uint64(0)
	for i, n := range k.lengths {
		k.starts[i] = uint32(sum)
		sum += uint64(n)
	}
	if sum > uint64(len(k.x.f.b)) { // a position takes a byte
		k.fault(FaultLength, tagLengths+" "+k.x.name, "%d tokens", sum)
		return false
	}
	k.taken = postings.NewBits(int(sum))
	return true
}

func (k *listChecker) list(term []byte, e *entry) {
	if e.tiny == nil {
		for i := range parts {
			if e.off[i] != k.end[i] {
				k.fault(FaultDocumentFrequency, k.p.parts[i].String(), "list of %q begins at %d, not %d", term, e.off[i], k.end[i])
			}
			k.end[i] = e.off[i] + e.size[i]
		}
	}
	l, err := k.x.list(k.p, e, postings.Positions)
	if k.failedAs(FaultDocumentFrequency, tagDocs, err) || !k.walk(term, l) {
		k.cut = true
		return
	}
	again := k.build.Finish()
	if e.tiny != nil {
		if !bytes.Equal(again.Tiny, e.tiny) {
			k.fault(FaultPostings, tagDict+" "+k.x.name, "list of %q is not what its rows give", term)
		}
		return
	}
	for i, want := range [parts][]byte{again.Doc, again.Freq, again.Pos, again.Bounds} {
		b, err := k.x.f.read(k.p.parts[i], e.off[i], e.off[i]+e.size[i])
		if !k.failed(partTags[i], err) && !bytes.Equal(b, want) {
			k.fault(FaultPostings, k.p.parts[i].String(), "list of %q is not what its rows give", term)
		}
	}
}

// walk decodes a list into k.build, and reports whether it is sound so far.
func (k *listChecker) walk(term []byte, l postings.List) bool {
	k.build.Reset()
	next, total := uint64(0), uint64(0)
	c := l.Cursor()
	for c.Next() {
		row := uint64(c.Row())
		if row < next || row >= uint64(k.x.rows) {
			k.fault(FaultPostings, tagDocs+" "+k.x.name, "list of %q: row %d of %d after %d", term, row, k.x.rows, int64(next)-1)
			return false
		}
		next = row + 1
		k.pos = c.AppendPositions(k.pos[:0])
		if c.Err() != nil || len(k.pos) != int(c.Freq()) || len(k.pos) == 0 {
			k.fault(FaultPostings, tagPositions+" "+k.x.name, "list of %q: row %d has %d positions, want %d", term, row, len(k.pos), c.Freq())
			return false
		}
		k.places(term, row)
		k.counted[row] += c.Freq()
		total += uint64(c.Freq())
		k.build.Add(postings.Ord(row), k.lengths[row], k.pos)
	}
	if total != l.Total() || total > postings.MaxOccurrences {
		k.fault(FaultPostings, tagDocs+" "+k.x.name, "list of %q: %d occurrences, says %d", term, total, l.Total())
		return false
	}
	return true
}

// places takes the positions of a row. One beyond the block's length is noted when the
// lengths are compared: it may be the length that is wrong.
func (k *listChecker) places(term []byte, row uint64) {
	section := tagPositions + " " + k.x.name
	for i, at := range k.pos {
		switch {
		case i > 0 && at <= k.pos[i-1]:
			k.fault(FaultPostings, section, "list of %q: row %d: position %d after %d", term, row, at, k.pos[i-1])
		case at >= k.lengths[row]:
			k.fault(FaultPostings, section, "list of %q: row %d of %d tokens: position %d", term, row, k.lengths[row], at)
		case k.taken.Has(postings.Ord(k.starts[row] + at)):
			k.fault(FaultPostingExtra, section, "list of %q: row %d: position %d is taken", term, row, at)
		default:
			k.taken.Add(postings.Ord(k.starts[row] + at))
		}
	}
}
