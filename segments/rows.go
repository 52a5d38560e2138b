package segments

import (
	"github.com/hansard-search/hansard/postings"
)

// spanKinds are the pairs of parent and child that a segment stores.
var spanKinds = [4][2]postings.Unit{
	{postings.Session, postings.Message},
	{postings.Session, postings.Block},
	{postings.Session, postings.Action},
	{postings.Message, postings.Block},
}

func spanName(parent, child postings.Unit) string { return parent.String() + "/" + child.String() }

// sessionTable holds the sections that have one entry per session.
type sessionTable struct {
	refs   []uint64 // No, Rev
	totals []uint64 // blocks, tokens
}

// checkRows holds the numbers of rows to the sizes of the sections that have
// something for each row, so that nobody takes memory for rows that are not there.
func (f *file) checkRows() error {
	for u, w := range [postings.Units]struct {
		tag, name string
		head, row int64
	}{
		postings.Session: {tagRefs, "", 0, 16},
		postings.Message: {tagSpans, spanName(postings.Message, postings.Block), 4, 4},
		postings.Block:   {tagLengths, textIndex, 0, 4},
		postings.Action:  {tagActions, "", 0, 8},
	} {
		s := f.find(w.tag, w.name)
		if s == nil || s.size != w.head+w.row*int64(f.info.Rows[u]) {
			return corrupt(f.name, tagMeta, "%d rows of %v do not fit %s", f.info.Rows[u], postings.Unit(u), w.tag)
		}
	}
	return nil
}

// Spans maps the rows of parent to those of child: Session to Message, Block or
// Action, and Message to Block.
func (s *Segment) Spans(parent, child postings.Unit) (postings.Spans, error) {
	if parent >= postings.Units || child >= postings.Units {
		return postings.Spans{}, corrupt(s.name, tagSpans, "no spans from %d to %d", parent, child)
	}
	return s.spans[parent][child].get(func() (postings.Spans, error) {
		name := spanName(parent, child)
		b, err := s.must(tagSpans, name)
		if err != nil {
			return postings.Spans{}, err
		}
		offsets, err := s.offsets(b, tagSpans+" "+name, s.Rows(parent), s.Rows(child))
		return postings.NewSpans(offsets), err
	})
}

// offsets views b as the offsets of n runs over exactly total things.
func (f *file) offsets(b []byte, section string, n, total int) ([]uint32, error) {
	if len(b) != 4*(n+1) {
		return nil, corrupt(f.name, section, "%d bytes for %d runs", len(b), n)
	}
	v := u32s(b)
	last := uint32(0)
	for i, o := range v {
		if o < last || i == 0 && o != 0 {
			return nil, corrupt(f.name, section, "run %d overlaps the one before", i)
		}
		last = o
	}
	if int64(last) != int64(total) {
		return nil, corrupt(f.name, section, "runs cover %d of %d", last, total)
	}
	return v, nil
}

func (s *Segment) sessionTable() (sessionTable, error) {
	return s.sessions.get(func() (t sessionTable, err error) {
		for _, part := range []struct {
			tag string
			to  *[]uint64
		}{{tagRefs, &t.refs}, {tagTotals, &t.totals}} {
			b, err := s.must(part.tag, "")
			if err != nil {
				return t, err
			}
			if len(b) != 16*s.Rows(postings.Session) {
				return t, corrupt(s.name, part.tag, "%d bytes for %d sessions", len(b), s.Rows(postings.Session))
			}
			*part.to = u64s(b)
		}
		return t, nil
	})
}

// SessionRef is what session o stands for.
func (s *Segment) SessionRef(o postings.Ord) (Ref, error) {
	t, err := s.sessionTable()
	if err != nil {
		return Ref{}, err
	}
	if int(o) >= s.Rows(postings.Session) {
		return Ref{}, corrupt(s.name, tagRefs, "no session %d", o)
	}
	return Ref{No: t.refs[2*o], Rev: t.refs[2*o+1]}, nil
}

// SessionTotals are the number of searchable blocks of session o that are not
// inherited, and of their tokens.
func (s *Segment) SessionTotals(o postings.Ord) (blocks, tokens int64, err error) {
	t, err := s.sessionTable()
	if err != nil {
		return 0, 0, err
	}
	if int(o) >= s.Rows(postings.Session) {
		return 0, 0, corrupt(s.name, tagTotals, "no session %d", o)
	}
	return int64(t.totals[2*o]), int64(t.totals[2*o+1]), nil
}

// ActionBlocks returns the blocks of action o that call the tool and bring its
// result, as ranks among the blocks of its session; -1 is none.
func (s *Segment) ActionBlocks(o postings.Ord) (use, result int32, err error) {
	v, err := s.actions.get(func() ([]uint32, error) {
		b, err := s.must(tagActions, "")
		if err == nil && len(b) != 8*s.Rows(postings.Action) {
			err = corrupt(s.name, tagActions, "%d bytes for %d actions", len(b), s.Rows(postings.Action))
		}
		return u32s(b), err
	})
	if err != nil {
		return -1, -1, err
	}
	if int(o) >= s.Rows(postings.Action) {
		return -1, -1, corrupt(s.name, tagActions, "no action %d", o)
	}
	return int32(v[2*o]), int32(v[2*o+1]), nil
}

// Inherited are the rows of u that were replayed from a parent session.
func (s *Segment) Inherited(u postings.Unit) (postings.Set, error) {
	if u >= postings.Units {
		return postings.Set{}, nil
	}
	return s.inherited[u].get(func() (postings.Set, error) {
		sect := s.find(tagInherited, u.String())
		if sect == nil {
			return postings.Set{}, nil
		}
		b, err := s.read(sect, 0, sect.size)
		if err != nil {
			return postings.Set{}, err
		}
		set, err := postings.ReadSet(b)
		if err != nil {
			return set, corrupt(s.name, sect.String(), "%v", err)
		}
		return set, nil
	})
}

// Searchable adds the blocks with search text to b, which covers the blocks.
func (s *Segment) Searchable(b *postings.Bits) error {
	raw, err := s.must(tagSearchable, textIndex)
	if err != nil {
		return err
	}
	words := b.Words()
	if len(raw) != 8*len(words) || b.Len() != s.Rows(postings.Block) {
		return corrupt(s.name, tagSearchable, "%d bytes for %d blocks", len(raw), b.Len())
	}
	for i, w := range u64s(raw) {
		words[i] |= w
	}
	if r := b.Len() & 63; r != 0 {
		words[len(words)-1] &= 1<<r - 1
	}
	return nil
}

// Lengths are the token counts of the blocks.
func (s *Segment) Lengths() (postings.Lengths, error) { return &s.text, nil }
