package segments

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/hansard-search/hansard/postings"
)

// A sorter merges the sorted keys of several sources: a heap of the key that each
// source is at, equal keys in the order of the sources.
type sorter struct{ heap []sorterItem }

type sorterItem struct {
	key []byte
	src int
}

func (a sorterItem) less(b sorterItem) bool {
	c := bytes.Compare(a.key, b.key)
	return c < 0 || c == 0 && a.src < b.src
}

// push adds a source that is at key. The key may be reused once its source is no
// longer at it.
func (s *sorter) push(key []byte, src int) {
	s.heap = append(s.heap, sorterItem{key, src})
	for i := len(s.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !s.heap[i].less(s.heap[up]) {
			return
		}
		s.heap[i], s.heap[up] = s.heap[up], s.heap[i]
		i = up
	}
}

// next moves the least source to key, or takes it out if it has none left.
func (s *sorter) next(key []byte, ok bool) {
	if ok {
		s.heap[0].key = key
	} else {
		last := len(s.heap) - 1
		s.heap[0] = s.heap[last]
		s.heap = s.heap[:last]
	}
	for i := 0; ; {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(s.heap); c++ {
			if s.heap[c].less(s.heap[least]) {
				least = c
			}
		}
		if least == i {
			return
		}
		s.heap[i], s.heap[least] = s.heap[least], s.heap[i]
		i = least
	}
}

// An indexMerger is one input of the merge of an index.
type indexMerger struct {
	x       *index
	p       *indexParts
	terms   dictCursor
	lengths []uint32
	kept    *rowMap
}

// index merges the dictionaries term by term. Positions move as they are stored;
// frequencies and bounds are made anew.
func (m *merger) index(dst *sink) (err error) {
	enc := newIndexEncoder(m.scratch)
	defer func() { err = errors.Join(err, enc.close()) }()
	ins, s, err := m.openIndexes()
	if err != nil {
		return err
	}
	var term []byte
	for n := 0; len(s.heap) > 0; n++ {
		if n%1024 == 0 && m.ctx.Err() != nil {
			return m.ctx.Err()
		}
		term = append(term[:0], s.heap[0].key...)
		total := uint64(0)
		for len(s.heap) > 0 && bytes.Equal(s.heap[0].key, term) {
			in := &ins[s.heap[0].src]
			if err := in.copyList(&enc.list, &total); err != nil {
				return err
			}
			ok := in.terms.next()
			if in.terms.err != nil {
				return in.terms.err
			}
			s.next(in.terms.term, ok)
		}
		enc.add(term)
	}
	return enc.finish(dst, textIndex)
}

func (m *merger) openIndexes() ([]indexMerger, *sorter, error) {
	ins, s := make([]indexMerger, len(m.in)), new(sorter)
	for i := range m.in {
		seg, in := m.in[i].seg, &ins[i]
		in.x, in.kept = &seg.text, &m.in[i].kept[postings.Block]
		var err error
		if in.p, err = in.x.open(); err != nil {
			return nil, nil, err
		}
		if in.lengths, err = in.x.Slice(0, postings.Ord(in.x.rows)); err != nil {
			return nil, nil, err
		}
		in.terms = in.p.dict.first()
		if in.terms.next() {
			s.push(in.terms.term, i)
		}
		if in.terms.err != nil {
			return nil, nil, in.terms.err
		}
	}
	return ins, s, nil
}

// copyList appends the kept rows of the current term to dst. total is the number
// of the term's occurrences so far.
func (in *indexMerger) copyList(dst *postings.ListBuilder, total *uint64) error {
	l, err := in.x.list(in.p, &in.terms.at, postings.Positions)
	if err != nil {
		return err
	}
	if *total += l.Total(); *total > postings.MaxOccurrences {
		return fmt.Errorf("%w: %d occurrences of one term", ErrLimit, *total)
	}
	to := in.kept.cursor()
	c := l.Cursor()
	for c.Next() {
		old := uint32(c.Row())
		row, ok := to.at(old)
		if !ok {
			continue
		}
		dst.AddEncoded(postings.Ord(row), in.lengths[old], c.Freq(), c.Encoded())
	}
	if c.Err() != nil {
		return corrupt(in.x.f.name, tagPositions+" "+in.x.name, "%v", c.Err())
	}
	return nil
}
