package query

import "strings"

// where binds the predicate of q as one over sessions: those that own a row of its
// unit, if the query asks for rows. It is nil if every session is asked for.
func (b *binder) where(q *Query) (predicate, *Error) {
	if q.Unit == UnitSession || q.Unit == "" {
		if q.Where == nil {
			return nil, nil
		}
		return b.pred(q.Where)
	}
	var scope predicate
	if q.Scope != nil {
		var err *Error
		if scope, err = b.pred(q.Scope); err != nil {
			return nil, err
		}
	}
	rows, err := b.exists(&Exists{Unit: q.Unit, Of: q.Where, At: q.Where.Pos()})
	if err != nil || scope == nil {
		return rows, err
	}
	return newAllOf([]predicate{scope, rows}), nil
}

// over binds p as a predicate over rows of u.
func (b *binder) over(u *UnitSpec, p Pred) (predicate, *Error) {
	if u.Later {
		return nil, notYet(p.Pos(), u.Name.Plural())
	}
	outer := b.rows
	b.rows = u
	defer func() { b.rows = outer }()
	of, err := b.pred(p)
	if err != nil || u.Name != UnitFile {
		return of, err
	}
	path := newKeyword(u.Lookup("path"), u)
	path.match = anything{}
	return newAllOf([]predicate{of, path}), nil
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
