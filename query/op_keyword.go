package query

import (
	"fmt"
	"strings"

	"github.com/hansard-search/hansard/postings"
)

// A matcher selects values of a dictionary.
type matcher interface {
	addRows(d postings.Dictionary, out *postings.Bits, b *budget) error
	cost() Cost
	String() string
}

// A keyword selects the sessions that hold a matching value in any of its
// columns, or that have a live action that does. none selects those without a
// live action.
type keyword struct {
	field   *FieldSpec
	columns []string
	match   matcher // nil if only none is asked for
	none    bool
}

func (p *keyword) cost() Cost {
	if p.match == nil {
		return CostBitmap
	}
	return p.match.cost()
}

func (p *keyword) String() string {
	if p.match == nil {
		return p.field.Name + " none"
	}
	s := fmt.Sprintf("%s %s", strings.Join(p.columns, "|"), p.match)
	if p.none {
		s += " or none"
	}
	return s
}

func (p *keyword) add(x *segment, out *postings.Bits) error {
	if !strings.HasPrefix(p.columns[0], "action.") {
		return p.addColumns(x, out)
	}
	rows := postings.GetBits(x.src.Rows(postings.Action))
	defer postings.PutBits(rows)
	live, err := x.src.Live(postings.Action)
	if err != nil {
		return err
	}
	spans, err := x.src.Spans(postings.Session, postings.Action)
	if err != nil {
		return err
	}
	if p.none {
		postings.Lift(live, out, spans)
		out.Invert()
	}
	if p.match == nil {
		return nil
	}
	if err := p.addColumns(x, rows); err != nil {
		return err
	}
	rows.And(live)
	postings.Lift(rows, out, spans)
	return nil
}

func (p *keyword) addColumns(x *segment, out *postings.Bits) error {
	for _, c := range p.columns {
		d, err := x.src.Keywords(c)
		if err != nil {
			return fmt.Errorf("column %s: %w", c, err)
		}
		if err := p.match.addRows(d, out, x.budget); err != nil {
			return fmt.Errorf("column %s: %w", c, err)
		}
	}
	return nil
}

// quoteAll prints values for explain.
func quoteAll(op string, values []string) string {
	var b strings.Builder
	b.WriteString(op)
	for i, v := range values {
		if i > 0 {
			b.WriteByte('|')
		} else {
			b.WriteByte(' ')
		}
		printValue(&b, v)
	}
	return b.String()
}
