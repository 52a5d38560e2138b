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

// A keyword selects the rows that hold a matching value in any of its columns, or that
// have a live row of the columns' unit that does. none selects those that have none.
type keyword struct {
	field   *FieldSpec
	columns []string
	match   matcher // nil if only none is asked for
	none    bool
	of, to  postings.Unit // of the columns, and of the rows that are selected
}

func newKeyword(f *FieldSpec, rows *UnitSpec) *keyword {
	k := &keyword{field: f, columns: f.Columns, to: rows.Rows}
	for u := range postings.Unit(postings.Units) {
		if strings.HasPrefix(f.Columns[0], u.String()+".") {
			k.of = u
		}
	}
	return k
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

func (p *keyword) add(x *segment, _, out *postings.Bits) error {
	if p.none {
		if err := p.addOwners(x, out); err != nil {
			return err
		}
		out.Invert()
	}
	if p.match == nil {
		return nil
	}
	return p.addHolders(x, p.match, out)
}

// addOwners adds the rows that none does not select: sessions with an action, whether
// it has a name or not, and other rows with a value.
func (p *keyword) addOwners(x *segment, out *postings.Bits) error {
	if p.of != postings.Action || p.of == p.to {
		return p.addHolders(x, anything{}, out)
	}
	live, err := x.src.Live(p.of)
	if err != nil {
		return err
	}
	spans, err := x.src.Spans(p.to, p.of)
	if err != nil {
		return err
	}
	postings.Lift(live, out, spans)
	return nil
}

// addHolders adds the rows that hold a value that m accepts.
func (p *keyword) addHolders(x *segment, m matcher, out *postings.Bits) error {
	if p.of == p.to {
		return p.addColumns(x, m, out)
	}
	rows := postings.GetBits(x.src.Rows(p.of))
	defer postings.PutBits(rows)
	live, err := x.src.Live(p.of)
	if err != nil {
		return err
	}
	spans, err := x.src.Spans(p.to, p.of)
	if err != nil {
		return err
	}
	if err := p.addColumns(x, m, rows); err != nil {
		return err
	}
	rows.And(live)
	postings.Lift(rows, out, spans)
	return nil
}

func (p *keyword) addColumns(x *segment, m matcher, out *postings.Bits) error {
	for _, c := range p.columns {
		d, err := x.src.Keywords(c)
		if err != nil {
			return fmt.Errorf("column %s: %w", c, err)
		}
		if err := m.addRows(d, out, x.budget); err != nil {
			return fmt.Errorf("column %s: %w", c, err)
		}
	}
	return nil
}

// anything matches every value.
type anything struct{}

func (anything) cost() Cost     { return CostColumn }
func (anything) String() string { return "any" }

func (anything) addRows(d postings.Dictionary, out *postings.Bits, b *budget) error {
	for i := range d.Len() {
		if i&1023 == 1023 {
			if err := b.alive(); err != nil {
				return err
			}
		}
		if err := d.AddRows(i, out); err != nil {
			return err
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
