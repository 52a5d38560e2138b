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

func (p exists) add(x *segment, within, out *postings.Bits) error {
	spans, err := x.src.Spans(postings.Session, p.unit.Rows)
	if err != nil {
		return fmt.Errorf("spans of %ss: %w", p.unit.Rows, err)
	}
	rows := postings.GetBits(x.src.Rows(p.unit.Rows))
	defer postings.PutBits(rows)
	if err := x.rowsOf(p.unit.Rows, p.of, within, spans, rows); err != nil {
		return err
	}
	postings.Lift(rows, out, spans)
	return nil
}

// rowsOf adds the live rows of u for which p holds; out is empty. Only the rows of the
// sessions of within matter, all of them if it is nil.
func (x *segment) rowsOf(u postings.Unit, p predicate, within *postings.Bits, spans postings.Spans, out *postings.Bits) error {
	live, err := x.src.Live(u)
	if err != nil {
		return fmt.Errorf("live %ss: %w", u, err)
	}
	rows := live
	if within != nil && p.cost() == CostStored {
		rows = postings.GetBits(live.Len())
		defer postings.PutBits(rows)
		postings.Lower(within, rows, spans)
		rows.And(live)
	}
	if err := p.add(x, rows, out); err != nil {
		return err
	}
	out.And(live)
	return nil
}

// selectRows returns the live rows of u for which p holds, with the spans of their sessions.
func (x *segment) selectRows(u postings.Unit, p predicate) (*postings.Bits, postings.Spans, error) {
	n := x.src.Rows(u)
	if err := x.budget.take(int64(n) / 8); err != nil {
		return nil, postings.Spans{}, err
	}
	spans, err := x.src.Spans(postings.Session, u)
	if err != nil {
		return nil, spans, fmt.Errorf("spans of %ss: %w", u, err)
	}
	rows := postings.NewBits(n)
	return rows, spans, x.rowsOf(u, p, nil, spans, rows)
}
