package query

import (
	"fmt"

	"github.com/hansard-search/hansard/postings"
)

// exists selects the sessions that have a live row of a unit for which a predicate
// holds as a whole.
type exists struct {
	unit *UnitSpec
	of   predicate
}

func (p exists) cost() Cost     { return max(p.of.cost(), CostBitmap) }
func (p exists) String() string { return fmt.Sprintf("exists %s(%s)", p.unit.Name, p.of) }

func (p exists) add(x *segment, out *postings.Bits) error {
	rows := postings.GetBits(x.src.Rows(p.unit.Rows))
	defer postings.PutBits(rows)
	if err := x.rowsOf(p.unit.Rows, p.of, rows); err != nil {
		return err
	}
	spans, err := x.src.Spans(postings.Session, p.unit.Rows)
	if err != nil {
		return fmt.Errorf("spans of %ss: %w", p.unit.Rows, err)
	}
	postings.Lift(rows, out, spans)
	return nil
}

// rowsOf adds the live rows of u for which p holds; out is empty.
func (x *segment) rowsOf(u postings.Unit, p predicate, out *postings.Bits) error {
	live, err := x.src.Live(u)
	if err != nil {
		return fmt.Errorf("live %ss: %w", u, err)
	}
	if err := p.add(x, out); err != nil {
		return err
	}
	out.And(live)
	return nil
}
