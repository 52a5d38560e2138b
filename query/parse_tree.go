package query

// textTree builds the tree of a text stream with the precedence of FTS5: terms
// side by side, then NOT, AND, OR. The items alternate as the parser checked.
func textTree(items []item) Text {
	c := &cursor{items: items}
	return c.or()
}

type cursor struct {
	items []item
	i     int
}

func (c *cursor) take(op string) bool {
	if c.i < len(c.items) && c.items[c.i].op == op {
		c.i++
		return true
	}
	return false
}

func (c *cursor) or() Text {
	of := []Text{c.and()}
	for c.take("OR") {
		of = append(of, c.and())
	}
	return joinText(of, func(of []Text, at Position) Text { return &TextOr{Of: of, At: at} })
}

func (c *cursor) and() Text {
	of := []Text{c.not()}
	for c.take("AND") {
		of = append(of, c.not())
	}
	return newTextAnd(of)
}

func (c *cursor) not() Text {
	left := c.list()
	for c.take("NOT") {
		right := c.list()
		left = &TextNot{Left: left, Right: right, At: cover(left.Pos(), right.Pos())}
	}
	return left
}

func (c *cursor) list() Text {
	var of []Text
	for c.i < len(c.items) && c.items[c.i].text != nil {
		of = append(of, c.items[c.i].text)
		c.i++
	}
	return newTextAnd(of)
}

func newTextAnd(of []Text) Text {
	return joinText(of, func(of []Text, at Position) Text { return &TextAnd{Of: of, At: at} })
}

// joinText makes one node of several, and flattens operands of the same kind.
func joinText(of []Text, join func([]Text, Position) Text) Text {
	if len(of) == 1 {
		return of[0]
	}
	at := cover(of[0].Pos(), of[len(of)-1].Pos())
	out := join(of, at)
	var flat []Text
	for _, k := range of {
		switch n := k.(type) {
		case *TextAnd:
			if _, same := out.(*TextAnd); same {
				flat = append(flat, n.Of...)
				continue
			}
		case *TextOr:
			if _, same := out.(*TextOr); same {
				flat = append(flat, n.Of...)
				continue
			}
		}
		flat = append(flat, k)
	}
	return join(flat, at)
}

// predTree builds the tree of a predicate stream: NOT, then AND (written or not),
// then OR.
func predTree(items []item) Pred {
	var ors []Pred
	for i := 0; ; i++ {
		var ands []Pred
		for ; i < len(items) && items[i].op != "OR"; i++ {
			if items[i].op == "AND" {
				continue
			}
			var nots []Position
			for ; items[i].op == "NOT"; i++ {
				nots = append(nots, items[i].at)
			}
			p := items[i].pred
			for k := len(nots) - 1; k >= 0; k-- {
				p = &Not{Of: p, At: cover(nots[k], p.Pos())}
			}
			ands = append(ands, p)
		}
		ors = append(ors, newAnd(ands))
		if i >= len(items) {
			break
		}
	}
	return newOr(ors)
}

// newAnd joins operands, of which there is at least one; those that are an AND are taken
// apart.
func newAnd(of []Pred) Pred {
	if len(of) == 1 {
		return of[0]
	}
	n := &And{At: cover(of[0].Pos(), of[len(of)-1].Pos())}
	for _, k := range of {
		if a, ok := k.(*And); ok {
			n.Of = append(n.Of, a.Of...)
		} else {
			n.Of = append(n.Of, k)
		}
	}
	return n
}

// newOr is newAnd for OR.
func newOr(of []Pred) Pred {
	if len(of) == 1 {
		return of[0]
	}
	n := &Or{At: cover(of[0].Pos(), of[len(of)-1].Pos())}
	for _, k := range of {
		if o, ok := k.(*Or); ok {
			n.Of = append(n.Of, o.Of...)
		} else {
			n.Of = append(n.Of, k)
		}
	}
	return n
}

// cover is the range from the start of a to the end of b.
func cover(a, b Position) Position {
	if b.Start < a.Start {
		a.Start, a.Column = b.Start, b.Column
	}
	a.End = max(a.End, b.End)
	return a
}
