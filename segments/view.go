package segments

import (
	"iter"

	"github.com/hansard-search/hansard/postings"
)

// A View is a segment without its dead sessions: what the executor reads. It is
// immutable and safe for concurrent use, and valid as long as its segment.
type View struct {
	seg     *Segment
	dead    postings.Set
	allLive bool
	live    [postings.Units]lazy[*postings.Bits]
	totals  lazy[[2]int64]
}

// NewView hides the sessions with the ordinals in dead. It holds no reference to
// the segment; its caller does.
func NewView(s *Segment, dead postings.Set) *View {
	v := &View{seg: s, dead: dead, allLive: dead.IsEmpty()}
	for u := range postings.Unit(postings.Units) {
		if s.find(tagInherited, u.String()) != nil {
			v.allLive = false
		}
	}
	return v
}

// Segment is what is viewed.
func (v *View) Segment() *Segment { return v.seg }

// Dead are the ordinals of the hidden sessions.
func (v *View) Dead() postings.Set { return v.dead }

// Rows is the number of rows of u, dead and inherited ones included.
func (v *View) Rows(u postings.Unit) int { return v.seg.Rows(u) }

// Spans maps the rows of parent to those of child.
func (v *View) Spans(parent, child postings.Unit) (postings.Spans, error) {
	return v.seg.Spans(parent, child)
}

// AllLive reports whether no row of any unit is dead or inherited.
func (v *View) AllLive() bool { return v.allLive }

// Live are the rows of u that are neither dead nor inherited. It is made once and
// shared: not to be written.
func (v *View) Live(u postings.Unit) (*postings.Bits, error) {
	return v.live[u].get(func() (*postings.Bits, error) {
		b := postings.NewBits(v.Rows(u))
		inherited, err := v.seg.Inherited(u)
		if err != nil {
			return nil, err
		}
		inherited.AddTo(b)
		if u == postings.Session {
			v.dead.AddTo(b)
		} else if err := v.addDead(b, u); err != nil {
			return nil, err
		}
		b.Invert()
		return b, nil
	})
}

// addDead adds the rows of u of the dead sessions to b.
func (v *View) addDead(b *postings.Bits, u postings.Unit) error {
	if v.dead.IsEmpty() {
		return nil
	}
	spans, err := v.Spans(postings.Session, u)
	if err != nil {
		return err
	}
	for o := range v.dead.All() {
		if int(o) >= spans.Parents() {
			break
		}
		b.AddRange(spans.Run(o))
	}
	return nil
}

// Totals are the number of live searchable blocks and of their tokens.
func (v *View) Totals() (blocks, tokens int64, err error) {
	t, err := v.totals.get(func() ([2]int64, error) {
		t := [2]int64{v.seg.info.Blocks, v.seg.info.Tokens}
		for o := range v.dead.All() {
			if int(o) >= v.Rows(postings.Session) {
				break
			}
			b, n, err := v.seg.SessionTotals(o)
			if err != nil {
				return t, err
			}
			t[0] -= b
			t[1] -= n
		}
		return t, nil
	})
	return t[0], t[1], err
}

// Term returns the posting list of an exact term over blocks.
func (v *View) Term(term []byte, need postings.Need) (postings.List, error) {
	return v.seg.Term(term, need)
}

// Bounds returns the score bounds of the list of a term; a short list has none.
func (v *View) Bounds(term []byte, l postings.List) (postings.Bounds, error) {
	return v.seg.Bounds(term, l)
}

// Prefix yields the posting lists of the terms that begin with prefix.
func (v *View) Prefix(prefix []byte, need postings.Need) iter.Seq2[postings.List, error] {
	return v.seg.Prefix(prefix, need)
}

// Matching yields the posting lists of the terms that match accepts.
func (v *View) Matching(match func(term []byte) bool, need postings.Need) iter.Seq2[postings.List, error] {
	return v.seg.Matching(match, need)
}

// Lengths are the token counts of the blocks.
func (v *View) Lengths() (postings.Lengths, error) { return v.seg.Lengths() }

// Keywords opens a keyword column by its name.
func (v *View) Keywords(column string) (postings.Dictionary, error) { return v.seg.Keywords(column) }

// Numbers opens a number column by its name.
func (v *View) Numbers(column string) (postings.Numbers, error) { return v.seg.Numbers(column) }
