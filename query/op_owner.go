package query

import (
	"fmt"

	"github.com/hansard-search/hansard/postings"
)

// owned selects the rows of a unit whose session a predicate holds for.
type owned struct {
	of predicate
	to postings.Unit
}

func (p owned) cost() Cost     { return max(p.of.cost(), CostBitmap) }
func (p owned) String() string { return "session(" + p.of.String() + ")" }

func (p owned) add(x *segment, out *postings.Bits) error {
	sessions := postings.GetBits(x.sessions)
	defer postings.PutBits(sessions)
	if err := p.of.add(x, sessions); err != nil {
		return err
	}
	spans, err := x.src.Spans(postings.Session, p.to)
	if err != nil {
		return fmt.Errorf("spans of %ss: %w", p.to, err)
	}
	postings.Lower(sessions, out, spans)
	return nil
}
