package segments

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/hansard-search/hansard/postings"
)

// An indexEncoder lays out the sections of an inverted index from its terms in
// byte order with their lists.
type indexEncoder struct {
	parts [parts]spool
	dict  spool
	block []byte // being filled
	in    int    // terms in it
	terms uint64
	last  []byte        // the term before
	base  [parts]uint64 // where the next list begins in each part
	offs  []uint64      // where the blocks begin
	keys  []byte        // their first terms
	ends  []uint32      // and where these end
	list  postings.ListBuilder
}

func newIndexEncoder(s *scratch) *indexEncoder {
	e := &indexEncoder{dict: spool{scratch: s}, ends: []uint32{0}}
	for i := range e.parts {
		e.parts[i].scratch = s
	}
	return e
}

// add appends a term whose list is in e.list, which is reset. A term without rows
// is left out.
func (e *indexEncoder) add(term []byte) {
	l := e.list.Finish()
	if l.Rows > 0 {
		e.entry(term, &l)
	}
	e.list.Reset()
}

func (e *indexEncoder) entry(term []byte, l *postings.Encoded) {
	if e.in == blockTerms {
		e.flush()
	}
	shared := 0
	if e.in == 0 {
		e.offs = append(e.offs, uint64(e.dict.size))
		e.keys = append(e.keys, term...)
		e.ends = append(e.ends, uint32(len(e.keys)))
		for _, b := range e.base {
			e.block = binary.AppendUvarint(e.block, b)
		}
	} else {
		shared = common(term, e.last)
	}
	e.last = append(e.last[:0], term...)
	e.in++
	e.terms++
	e.block = appendTerm(e.block, shared, term[shared:])
	e.block = appendEntry(e.block, l)
	if l.Tiny != nil {
		return
	}
	for i, b := range [parts][]byte{l.Doc, l.Freq, l.Pos, l.Bounds} {
		e.parts[i].put(b)
		e.base[i] += uint64(len(b))
	}
}

// flush ends the block.
func (e *indexEncoder) flush() {
	e.dict.put(e.block)
	e.block, e.in = e.block[:0], 0
}

// finish writes the sections. The encoder must be closed in any case.
func (e *indexEncoder) finish(dst *sink, name string) error {
	e.flush()
	size := uint64(e.dict.size)
	errs := []error{e.dict.section(dst, tagDict, name)}
	if uint64(len(e.keys)) > math.MaxUint32 {
		errs = append(errs, fmt.Errorf("%w: dictionary of %d bytes of keys", ErrLimit, len(e.keys)))
	}
	dst.begin(tagDictIndex, name)
	dst.putU64s([]uint64{e.terms, uint64(len(e.offs))})
	dst.putU64s(append(e.offs, size))
	dst.putU32s(e.ends)
	dst.put(e.keys)
	dst.end()
	for i, tag := range partTags {
		errs = append(errs, e.parts[i].section(dst, tag, name))
	}
	return errors.Join(errs...)
}

// close removes what is left of temporary files.
func (e *indexEncoder) close() error {
	err := e.dict.close()
	for i := range e.parts {
		err = errors.Join(err, e.parts[i].close())
	}
	return err
}
