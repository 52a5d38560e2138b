package query

import "github.com/hansard-search/hansard/postings"

// holds selects the sessions that have a live block matching a phrase; -word is
// its negation.
type holds struct{ unit *unit }

func (p holds) cost() Cost     { return CostPositions }
func (p holds) String() string { return "block has " + p.unit.String() }

func (p holds) add(x *segment, _, out *postings.Bits) error {
	u, err := x.unit(p.unit)
	if err != nil {
		return err
	}
	live, err := x.src.Live(postings.Block)
	if err != nil {
		return err
	}
	spans, err := x.src.Spans(postings.Session, postings.Block)
	if err != nil {
		return err
	}
	rows := postings.GetBits(x.blocks)
	defer postings.PutBits(rows)
	u.addTo(rows)
	rows.And(live)
	postings.Lift(rows, out, spans)
	return nil
}
