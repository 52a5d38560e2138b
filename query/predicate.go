package query

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hansard-search/hansard/postings"
)

// Cost is the class of work that a predicate needs; a plan runs the classes in
// this order.
type Cost uint8

const (
	CostConstant  Cost = iota // nothing
	CostBitmap                // a look-up in a dictionary, then bitmaps
	CostColumn                // a scan of a dictionary or a numeric column
	CostPositions             // posting lists and positions
	CostStored                // texts from the store
)

func (c Cost) String() string {
	return [...]string{"constant", "bitmap", "column", "positions", "stored text"}[c]
}

// A predicate is bound and ready to run: two-valued, per row of a unit.
type predicate interface {
	cost() Cost
	// add sets the rows of x for which the predicate holds; out covers the rows of the
	// unit and is empty. Only the rows of within matter, all of them if it is nil: about
	// others nothing is promised, and dead rows may be set. within is not to be written.
	add(x *segment, within, out *postings.Bits) error
	String() string
}

type constant bool

func (c constant) cost() Cost { return CostConstant }
func (c constant) String() string {
	if c {
		return "true"
	}
	return "false"
}

func (c constant) add(_ *segment, _, out *postings.Bits) error {
	if c {
		out.Fill()
	}
	return nil
}

// allOf holds where each of its operands holds. They are sorted by cost, so that
// the dear ones run only where the cheap ones left something.
type allOf []predicate

func newAllOf(of []predicate) predicate {
	slices.SortStableFunc(of, func(a, b predicate) int { return cmp.Compare(a.cost(), b.cost()) })
	return allOf(of)
}

func (p allOf) cost() Cost     { return worst(p) }
func (p allOf) String() string { return joinPredicates(p, " AND ") }

func (p allOf) add(x *segment, within, out *postings.Bits) error {
	if err := p[0].add(x, within, out); err != nil {
		return err
	}
	if within != nil {
		out.And(within)
	}
	tmp := postings.GetBits(out.Len())
	defer postings.PutBits(tmp)
	for _, k := range p[1:] {
		if err := x.budget.alive(); err != nil {
			return err
		}
		if !out.Any() {
			return nil
		}
		tmp.Reset(out.Len())
		if err := k.add(x, out, tmp); err != nil {
			return err
		}
		out.And(tmp)
	}
	return nil
}

// anyOf holds where one of its operands holds.
type anyOf []predicate

func (p anyOf) cost() Cost     { return worst(p) }
func (p anyOf) String() string { return joinPredicates(p, " OR ") }

func (p anyOf) add(x *segment, within, out *postings.Bits) error {
	tmp := postings.GetBits(out.Len())
	defer postings.PutBits(tmp)
	for _, k := range p {
		if err := x.budget.alive(); err != nil {
			return err
		}
		tmp.Reset(out.Len())
		if err := k.add(x, within, tmp); err != nil {
			return err
		}
		out.Or(tmp)
	}
	return nil
}

// noneOf holds where its operand does not.
type noneOf struct{ of predicate }

func (p noneOf) cost() Cost     { return p.of.cost() }
func (p noneOf) String() string { return "NOT " + operand(p.of) }

func (p noneOf) add(x *segment, within, out *postings.Bits) error {
	if err := p.of.add(x, within, out); err != nil {
		return err
	}
	out.Invert()
	return nil
}

func worst(of []predicate) Cost {
	c := CostConstant
	for _, p := range of {
		c = max(c, p.cost())
	}
	return c
}

func operand(p predicate) string {
	switch p.(type) {
	case allOf, anyOf:
		return "(" + p.String() + ")"
	}
	return p.String()
}

func joinPredicates(of []predicate, op string) string {
	var parts []string
	for _, p := range of {
		parts = append(parts, operand(p))
	}
	return strings.Join(parts, op)
}
