package query

import "strings"

// where binds the predicates of q. A query for rows is one for sessions too: those that
// own such a row.
func (b *binder) where(plan *Plan, q *Query) (err *Error) {
	if q.Unit == UnitSession || q.Unit == "" {
		if q.Where != nil {
			plan.where, err = b.pred(q.Where)
		}
		return err
	}
	plan.rowUnit, plan.pipe = q.Unit.spec(), newPipeline(q.Stages)
	if len(plan.pipe.group) > 0 && !plan.pipe.reduce {
		b.warnings = append(b.warnings, "group by has no effect without count or agg behind it")
	}
	if plan.rows, err = b.over(plan.rowUnit, q.Where); err != nil {
		return err
	}
	if q.Scope != nil {
		scope, err := b.pred(q.Scope)
		if err != nil {
			return err
		}
		of, ok := plan.rows.(allOf)
		if !ok {
			of = allOf{plan.rows}
		}
		plan.rows = newAllOf(append([]predicate{owned{scope, plan.rowUnit.Rows}}, of...))
	}
	plan.where = exists{plan.rowUnit, plan.rows}
	return nil
}

// over binds p as a predicate over rows of u.
func (b *binder) over(u *UnitSpec, p Pred) (predicate, *Error) {
	if u.Later {
		return nil, notYet(p.Pos(), u.Name.Plural())
	}
	outer, compact := b.rows, b.compact
	b.rows, b.compact = u, false
	defer func() { b.rows, b.compact = outer, compact }()
	of, err := b.pred(p)
	if err != nil || u.Name != UnitFile {
		return of, err
	}
	paths := b.paths
	b.paths = nil
	return files{of, paths}, nil
}

func (b *binder) exists(n *Exists) (predicate, *Error) {
	u := n.Unit.spec()
	of, err := b.over(u, n.Of)
	if err != nil {
		return nil, err
	}
	return exists{u, of}, nil
}

func (b *binder) seq(n *Seq) (predicate, *Error) {
	out := make(sequence, 0, len(n.Steps))
	for _, s := range n.Steps {
		of, err := b.over(UnitAction.spec(), s.Of)
		if err != nil {
			return nil, err
		}
		out = append(out, sequenceStep{of: of, next: s.Next, within: s.Within})
	}
	return out, nil
}

// matches binds ~text.
func (b *binder) matches(n *Matches) (predicate, *Error) {
	u, err := b.unit(n.Of, false)
	if err != nil {
		return nil, err
	}
	if u == nil {
		return constant(false), nil
	}
	return holds{u}, nil
}

// owned binds a clause of the session that owns a row.
func (b *binder) owned(p Pred) (predicate, *Error) {
	rows := b.rows
	b.rows = &units[0]
	defer func() { b.rows = rows }()
	of, err := b.pred(p)
	if err != nil {
		return nil, err
	}
	return owned{of, rows.Rows}, nil
}

// ownersClause is p as a clause of sessions, if it names a field of the session that owns
// the row; else nil.
func ownersClause(p Pred) Pred {
	switch n := p.(type) {
	case *Field:
		if n.Name == "lineage" {
			return n
		}
		if name, ok := strings.CutPrefix(n.Name, ownerPrefix); ok {
			c := *n
			c.Name = name
			return &c
		}
	case *Compare:
		if name, ok := strings.CutPrefix(n.Name, ownerPrefix); ok {
			c := *n
			c.Name = name
			return &c
		}
	case *Range:
		if name, ok := strings.CutPrefix(n.Name, ownerPrefix); ok {
			c := *n
			c.Name = name
			return &c
		}
	}
	return nil
}
