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

func (p owned) add(x *segment, within, out *postings.Bits) error {
	spans, err := x.src.Spans(postings.Session, p.to)
	if err != nil {
		return fmt.Errorf("spans of %ss: %w", p.to, err)
	}
	sessions := postings.GetBits(x.sessions)
	defer postings.PutBits(sessions)
	var owners *postings.Bits
	if within != nil && p.cost() == CostStored {
		owners = postings.GetBits(x.sessions)
		defer postings.PutBits(owners)
		postings.Lift(within, owners, spans)
	}
	if err := p.of.add(x, owners, sessions); err != nil {
		return err
	}
	postings.Lower(sessions, out, spans)
	return nil
}
