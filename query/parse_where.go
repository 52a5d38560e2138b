package query

import (
	"strconv"
	"strings"
)

// where reads a query that begins with a source: sessions where P, messages where P,
// or sessions where P | messages where Q.
func (p *parser) where() (*Query, *Error) {
	q := &Query{Source: p.text, Mode: Where}
	var err *Error
	if q.Unit, q.Where, err = p.source(); err != nil {
		return nil, err
	}
	if p.peek().kind == tokPipe && q.Unit == UnitSession {
		if err := p.terminal(); err != nil {
			return nil, err
		}
		q.Scope = q.Where
		if q.Unit, q.Where, err = p.source(); err != nil {
			return nil, err
		}
	}
	if q.Unit != UnitSession {
		if q.Stages, err = p.stages(q.Unit.spec()); err != nil {
			return nil, err
		}
	}
	if err := p.laterForm(); err != nil {
		return nil, err
	}
	switch t := p.peek(); t.kind {
	case tokEnd:
	case tokError:
		return nil, t.err
	default:
		return nil, p.misplaced(true)
	}
	for _, w := range []Pred{q.Scope, q.Where} {
		if and, ok := w.(*And); ok {
			for _, k := range and.Of {
				q.Clauses = append(q.Clauses, k)
			}
		} else if w != nil {
			q.Clauses = append(q.Clauses, w)
		}
	}
	return q, nil
}

// terminal moves to the source behind a stage of sessions.
func (p *parser) terminal() *Error {
	pipe, t := p.peek(), p.ahead(1)
	p.i++
	switch {
	case t.kind == tokSource && t.name != string(UnitSession):
		return nil
	case t.kind == tokStage && t.raw == "":
		return emptyStage(pipe)
	case t.kind == tokStage:
		switch first, _, _ := strings.Cut(strings.ToLower(t.raw), " "); first {
		case "count", "group", "sort", "limit", "offset", "agg":
			return at(CodeFieldScope, t.at, "pipeline stage `%s` has nothing to act on: `sessions where ...` has no terminal lowerer", t.raw).
				field(strings.TrimSuffix(first, "s")).hint("the answer to sessions where … has the total; or name a unit in between: sessions where … | messages where … | " + t.raw)
		}
	}
	got := p.text[t.at.Start:]
	if got, _, _ = strings.Cut(got, "|"); t.kind == tokStage {
		got = t.raw
	}
	return at(CodeSyntax, t.at, "pipeline terminal stage must be an executable `<unit>s where ...` query (got '%s')", strings.TrimSpace(got)).
		expect("messages where", "actions where", "blocks where", "files where")
}

// source reads one source and its predicate.
func (p *parser) source() (Unit, Pred, *Error) {
	t := p.peek()
	p.i++
	p.unit, p.strict = LookupUnit(t.name), true
	if p.base = (Position{Column: 1}); p.unit.Name != UnitSession {
		rest := p.text[t.at.End:]
		p.base = position(p.text, t.at.End+len(rest)-len(strings.TrimLeft(rest, " \t\r\n")), t.at.End)
	}
	if k := p.peek().kind; k == tokEnd || k == tokPipe {
		return "", nil, at(CodeSyntax, t.at, "%s where requires a predicate", p.unit.Name.Plural()).
			expect("field clause").example("write", p.unit.example())
	}
	pred, err := p.or()
	return p.unit.Name, pred, err
}

// example is a query of the unit that works, or "".
func (u *UnitSpec) example() string {
	for _, f := range u.Fields {
		if !f.Later && f.Match != MatchStored && f.Kind == KindText && f.Example != "" {
			return u.Name.Plural() + " where " + f.Example
		}
	}
	return ""
}

// or, and and not read a predicate: NOT binds tightest, then AND, then OR.
func (p *parser) or() (Pred, *Error) {
	of, err := p.operands("OR", p.and)
	if err != nil {
		return nil, err
	}
	return newOr(of), nil
}

func (p *parser) and() (Pred, *Error) {
	of, err := p.operands("AND", p.not1)
	if err != nil {
		return nil, err
	}
	return newAnd(of), nil
}

// operands reads what operand reads, and again behind each op.
func (p *parser) operands(op string, operand func() (Pred, *Error)) ([]Pred, *Error) {
	var of []Pred
	for {
		k, err := operand()
		if err != nil {
			return nil, err
		}
		of = append(of, k)
		if !p.keyword(op) {
			return of, nil
		}
	}
}

// keyword reads a word of the grammar, in any case, if it is next.
func (p *parser) keyword(word string) bool {
	if t := p.peek(); t.kind != tokWord || t.neg || !strings.EqualFold(t.raw, word) {
		return false
	}
	p.i++
	return true
}

func (p *parser) not1() (Pred, *Error) {
	t := p.peek()
	if !p.keyword("NOT") {
		return p.atom()
	}
	of, err := p.deeper(t, p.not1)
	if err != nil {
		return nil, err
	}
	return &Not{Of: of, At: cover(t.at, of.Pos())}, nil
}

// deeper reads what read reads one level below t. Parentheses are counted by the
// scanner, but NOT needs none.
func (p *parser) deeper(t token, read func() (Pred, *Error)) (Pred, *Error) {
	if p.depth++; p.depth > MaxDepth {
		return nil, at(CodeTooDeep, t.at, "query expression nesting depth %d exceeds the maximum of %d; use fewer operators", p.depth, MaxDepth)
	}
	defer func() { p.depth-- }()
	return read()
}

// atom reads a group or a leaf.
func (p *parser) atom() (Pred, *Error) {
	t := p.peek()
	switch t.kind {
	case tokError:
		return nil, t.err
	case tokOpen:
		p.i++
		pred, err := p.or()
		if err != nil {
			return nil, err
		}
		return pred, p.close(t)
	case tokField, tokCompare, tokMatch, tokExists, tokSeq:
		return p.leaf()
	}
	if pred, ok, err := p.readable(); ok || err != nil {
		return pred, err
	}
	return nil, p.misplaced(false)
}

// close reads the parenthesis that ends the group of open.
func (p *parser) close(open token) *Error {
	switch t := p.peek(); t.kind {
	case tokClose:
		p.i++
		return nil
	case tokError:
		return t.err
	case tokEnd:
		e := p.misplaced(true)
		e.Expected = []string{")"}
		return e.hint("close the parenthesis of column " + strconv.Itoa(open.at.Column))
	}
	return p.misplaced(true)
}

// leaf reads a field clause, a comparison, or a predicate over rows of the session.
func (p *parser) leaf() (Pred, *Error) {
	t := p.peek()
	switch {
	case t.kind == tokField:
		p.i++
		return p.field(t)
	case t.kind == tokCompare:
		p.i++
		return p.compare(t, t.name, t.op, t.values)
	case p.unit.Name != UnitSession:
		what := map[kind]string{tokMatch: "FTS", tokExists: "exists", tokSeq: "seq"}[t.kind]
		return nil, at(CodeFieldScope, t.at, "%s predicates are only supported from sessions", what).
			hint("select the sessions in a stage of their own: sessions where … | " + p.unit.Name.Plural() + " where …")
	case t.kind == tokMatch:
		p.i++
		return &Matches{Of: &Phrase{Text: t.text, Prefix: t.prefix, At: t.at}, At: t.at}, nil
	case t.kind == tokExists:
		return p.exists()
	}
	return p.seq()
}

// exists reads exists <unit> ( P ).
func (p *parser) exists() (Pred, *Error) {
	t := p.peek()
	p.i++
	unit := LookupUnit(t.name)
	of, err := p.inside(unit, func() (Pred, *Error) {
		of, err := p.or()
		if err != nil {
			return nil, err
		}
		return of, p.close(t)
	})
	if err != nil {
		return nil, err
	}
	return &Exists{Unit: unit.Name, Of: of, At: position(p.text, t.at.Start, p.toks[p.i-1].at.End)}, nil
}

// inside reads what read reads, as a predicate over rows of unit.
func (p *parser) inside(unit *UnitSpec, read func() (Pred, *Error)) (Pred, *Error) {
	outer, strict := p.unit, p.strict
	p.unit, p.strict = unit, true
	defer func() { p.unit, p.strict = outer, strict }()
	return read()
}

// misplaced is the error for a token that cannot stand where it does: behind a clause, or
// where one should be. Its column counts from the beginning of the predicate of a unit.
func (p *parser) misplaced(behind bool) *Error {
	t := p.peek()
	if t.kind == tokEnd && p.i > 0 {
		t = p.toks[p.i-1] // the end has no column of its own
	}
	column := t.at.Column
	if t.at.Start >= p.base.Start {
		column -= p.base.Column - 1
	}
	e := at(CodeSyntax, t.at, "invalid query expression near column %d", column)
	clause := t.kind == tokField || t.kind == tokCompare || t.kind == tokOpen || t.kind == tokExists || t.kind == tokSeq || t.kind == tokMatch
	word := t.kind == tokWord || t.kind == tokQuoted
	switch {
	case p.peek().kind == tokEnd:
		return e.expect("field clause")
	case behind && (clause || word && compares(t.raw)):
		return e.expect("AND", "OR").hint("join the clauses with AND or OR")
	case word && strings.EqualFold(t.raw, "exists"):
		return e.expect("unit").hint("write exists and a unit with its predicate in parentheses: exists message(…), action(…), block(…), file(…)")
	case word && p.unit.Name == UnitSession:
		return e.expect("field clause", "~text").hint("a predicate has no bare text: mark it with a tilde, as in ~word")
	case word && p.unit.Lookup("text") != nil && !p.unit.Lookup("text").Later:
		return e.expect("field clause").hint("a predicate has no bare text: look for it with text:, as in text:word or text:\"two words\"")
	}
	return e.expect("field clause")
}
