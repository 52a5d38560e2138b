package query

import (
	"bytes"
	"fmt"

	"github.com/hansard-search/hansard/postings"
)

// files selects the actions with a path for which a predicate holds: what it says of
// paths is said of that one path. Paths of which it says the same are looked at together.
type files struct {
	of    predicate
	paths []*onPath
}

func (p files) cost() Cost     { return max(p.of.cost(), CostColumn) }
func (p files) String() string { return "one action.path: " + p.of.String() }

func (p files) add(x *segment, within, out *postings.Bits) error {
	classes, err := p.classes(x, out.Len())
	if err != nil {
		return err
	}
	defer func() { x.path = "" }()
	rows := postings.GetBits(out.Len())
	defer postings.PutBits(rows)
	for says, some := range classes {
		if err := x.budget.alive(); err != nil {
			return err
		}
		if within != nil {
			some.And(within)
		}
		if !some.Any() {
			continue
		}
		x.path = says
		rows.Reset(out.Len())
		if err := p.of.add(x, some, rows); err != nil {
			return err
		}
		rows.And(some)
		out.Or(rows)
	}
	return nil
}

// classes are the n actions by what the clauses say of a path of theirs, a byte for each
// clause. An action with several paths can be in several.
func (p files) classes(x *segment, n int) (map[string]*postings.Bits, error) {
	d, err := x.src.Keywords("action.path")
	if err != nil {
		return nil, fmt.Errorf("column action.path: %w", err)
	}
	out := map[string]*postings.Bits{}
	says := make([]byte, len(p.paths))
	var fold []byte
	for i := range d.Len() {
		if i&1023 == 1023 {
			if err := x.budget.alive(); err != nil {
				return nil, err
			}
		}
		v, err := d.Value(i)
		if err != nil {
			return nil, fmt.Errorf("column action.path: value %d: %w", i, err)
		}
		fold = foldPath(fold[:0], v, true)
		for k, c := range p.paths {
			says[k] = c.says(fold)
		}
		if out[string(says)] == nil {
			if err := x.budget.take(int64(n) / 8); err != nil {
				return nil, err
			}
			out[string(says)] = postings.NewBits(n)
		}
		if err := d.AddRows(i, out[string(says)]); err != nil {
			return nil, fmt.Errorf("column action.path: value %d: %w", i, err)
		}
	}
	return out, nil
}

// onPath holds for the one path that files looks at, if it contains one of the values.
type onPath struct {
	contains
	index int // among the clauses of paths
}

const yes, no = 'y', 'n'

// says tells whether the clause holds for a path.
func (p *onPath) says(fold []byte) byte {
	for _, n := range p.folded {
		if bytes.Contains(fold, n) {
			return yes
		}
	}
	return no
}

func (p *onPath) String() string { return "action.path " + p.contains.String() }

func (p *onPath) add(x *segment, _, out *postings.Bits) error {
	if x.path[p.index] == yes {
		out.Fill()
	}
	return nil
}
