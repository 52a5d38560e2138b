package segments

import (
	"bytes"
	"iter"

	"github.com/hansard-search/hansard/postings"
)

// An index is one inverted index of a segment: a dictionary and the four sections
// with the parts of its posting lists, over rows of one unit.
type index struct {
	f    *file
	name string
	rows int
	lazy lazy[indexParts]
}

type indexParts struct {
	dict    dict
	parts   [parts]*section
	lengths *section
}

func (x *index) open() (*indexParts, error) {
	if p := x.lazy.v.Load(); p != nil {
		return p, nil
	}
	_, err := x.lazy.get(func() (p indexParts, err error) {
		if p.dict, err = openDict(x.f, x.name); err != nil {
			return p, err
		}
		for i, tag := range partTags {
			if p.parts[i] = x.f.find(tag, x.name); p.parts[i] == nil {
				return p, corrupt(x.f.name, tag+" "+x.name, "missing")
			}
		}
		if p.lengths = x.f.find(tagLengths, x.name); p.lengths == nil || p.lengths.size != 4*int64(x.rows) {
			return p, corrupt(x.f.name, tagLengths+" "+x.name, "not one length per row")
		}
		return p, nil
	})
	if err != nil {
		return nil, err
	}
	return x.lazy.v.Load(), nil
}

// list opens the posting list of an entry.
func (x *index) list(p *indexParts, e *entry, need postings.Need) (l postings.List, err error) {
	if e.tiny != nil {
		l, err = postings.OpenTiny(e.tiny)
	} else {
		var b [3][]byte
		for i := range min(int(need)+1, len(b)) {
			if b[i], err = x.f.read(p.parts[i], e.off[i], e.off[i]+e.size[i]); err != nil {
				return l, err
			}
		}
		l, err = postings.OpenList(b[partDoc], b[partFreq], b[partPos])
	}
	switch {
	case err != nil:
		return postings.List{}, corrupt(x.f.name, tagDocs+" "+x.name, "%v", err)
	case l.Len() != e.rows:
		return postings.List{}, corrupt(x.f.name, tagDocs+" "+x.name, "list of %d rows, dictionary says %d", l.Len(), e.rows)
	case l.Containers() == 0 || int(l.Key(l.Containers()-1)) > (x.rows-1)>>16:
		return postings.List{}, corrupt(x.f.name, tagDocs+" "+x.name, "rows beyond %d", x.rows)
	}
	return l, nil
}

// Term returns the posting list of an exact term over blocks; that of an absent
// term is empty. It does not allocate.
func (s *Segment) Term(term []byte, need postings.Need) (postings.List, error) {
	x := &s.text
	p, err := x.open()
	if err != nil {
		return postings.List{}, err
	}
	e, ok, err := p.dict.find(term)
	if err != nil || !ok {
		return postings.List{}, err
	}
	return x.list(p, &e, need)
}

// Bounds returns the score bounds of a term's list, which must be that of
// [Segment.Term]. A short list has none.
func (s *Segment) Bounds(term []byte, l postings.List) (postings.Bounds, error) {
	x := &s.text
	p, err := x.open()
	if err != nil {
		return postings.Bounds{}, err
	}
	e, ok, err := p.dict.find(term)
	if err != nil || !ok || e.size[partBounds] == 0 {
		return postings.Bounds{}, err
	}
	return x.bounds(p, &e, l)
}

func (x *index) bounds(p *indexParts, e *entry, l postings.List) (postings.Bounds, error) {
	b, err := x.f.read(p.parts[partBounds], e.off[partBounds], e.off[partBounds]+e.size[partBounds])
	if err != nil {
		return postings.Bounds{}, err
	}
	v, err := postings.OpenBounds(b, l)
	if err != nil {
		return v, corrupt(x.f.name, tagBounds+" "+x.name, "%v", err)
	}
	return v, nil
}

// Prefix yields the posting lists of the terms that begin with prefix, in byte
// order. An error ends the sequence.
func (s *Segment) Prefix(prefix []byte, need postings.Need) iter.Seq2[postings.List, error] {
	return func(yield func(postings.List, error) bool) {
		s.terms(prefix, func(_ []byte, x *index, p *indexParts, e *entry) bool {
			l, err := x.list(p, e, need)
			return yield(l, err) && err == nil
		}, func(err error) { yield(postings.List{}, err) })
	}
}

// Matching yields the posting lists of the terms that match accepts, in the byte order
// of the terms. It looks at every term.
func (s *Segment) Matching(match func(term []byte) bool, need postings.Need) iter.Seq2[postings.List, error] {
	return func(yield func(postings.List, error) bool) {
		s.terms(nil, func(term []byte, x *index, p *indexParts, e *entry) bool {
			if !match(term) {
				return true
			}
			l, err := x.list(p, e, need)
			return yield(l, err) && err == nil
		}, func(err error) { yield(postings.List{}, err) })
	}
}

// Terms yields the terms that begin with prefix, in byte order. A term is valid
// until the next step. An error ends the sequence.
func (s *Segment) Terms(prefix []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		s.terms(prefix, func(term []byte, _ *index, _ *indexParts, _ *entry) bool {
			return yield(term, nil)
		}, func(err error) { yield(nil, err) })
	}
}

// terms calls visit for the terms under prefix until it returns false, and fail
// once if the dictionary is damaged.
func (s *Segment) terms(prefix []byte, visit func([]byte, *index, *indexParts, *entry) bool, fail func(error)) {
	x := &s.text
	p, err := x.open()
	if err != nil {
		fail(err)
		return
	}
	c, ok := p.dict.seek(prefix)
	for ; ok && bytes.HasPrefix(c.term, prefix); ok = c.next() {
		if !visit(c.term, x, p, &c.at) {
			return
		}
	}
	if c.err != nil {
		fail(c.err)
	}
}

// Slice returns the lengths of the rows [lo, hi) in tokens; it must not be written.
func (x *index) Slice(lo, hi postings.Ord) ([]uint32, error) {
	p, err := x.open()
	if err != nil {
		return nil, err
	}
	b, err := x.f.read(p.lengths, 4*int64(lo), 4*int64(hi))
	if err != nil {
		return nil, err
	}
	return u32s(b), nil
}
