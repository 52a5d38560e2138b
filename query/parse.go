package query

import (
	"strings"
	"unicode/utf8"
)

// Parse reads a query. It needs no archive: names are checked, values are not
// ([Bind] does). The error is an *[Error].
func Parse(text string) (*Query, error) {
	q, err := parse(text)
	if err != nil {
		return nil, err
	}
	return q, nil
}

func parse(text string) (*Query, *Error) {
	if len(text) > MaxBytes {
		return nil, failf(CodeTooLong, text, MaxBytes, len(text),
			"query of %d bytes is longer than %d", len(text), MaxBytes)
	}
	if i := invalidUTF8(text); i >= 0 {
		return nil, failf(CodeSyntax, text, i, i+1, "query is not valid UTF-8")
	}
	p := &parser{text: text, toks: scan(text), unit: &units[0], base: Position{Column: 1}}
	if err := p.laterEntry(); err != nil {
		return nil, err
	}
	if p.peek().kind == tokSource {
		return p.where()
	}
	g, err := p.group(false)
	if err != nil {
		return nil, err
	}
	q := &Query{Source: text, Unit: UnitSession, Where: g.where, Match: g.match, Clauses: g.clauses}
	if p.boolean {
		q.Mode = Boolean
	}
	return q, nil
}

func invalidUTF8(s string) int {
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			return i
		}
	}
	return -1
}

type parser struct {
	text    string
	toks    []token
	i       int
	boolean bool // AND, OR or NOT stood between predicates

	unit   *UnitSpec // whose fields the predicate here has
	strict bool      // a predicate is read, in which there is no text
	depth  int       // of NOT
	base   Position  // of the predicate of a unit, from which columns are counted
}

func (p *parser) peek() token { return p.toks[p.i] }

// ahead returns the n-th token after the next, or the last.
func (p *parser) ahead(n int) token { return p.toks[min(p.i+n, len(p.toks)-1)] }

// An item is an operand of a group, or an operator between operands.
type item struct {
	text Text
	pred Pred
	op   string // AND, OR, NOT
	soft bool   // not in upper case: an operator only between predicates
	raw  string // an operator as written
	at   Position
}

func (it item) operand() bool { return it.text != nil || it.pred != nil }

// Node is the operand as a node.
func (it item) node() Node {
	if it.text != nil {
		return it.text
	}
	return it.pred
}

// group reads operands and operators up to the end of the text or, if closing,
// the parenthesis that ends the group.
func (p *parser) group(closing bool) (group, *Error) {
	open := p.i
	items := make([]item, 0, 8)
	for {
		switch t := p.peek(); t.kind {
		case tokError:
			return group{}, t.err
		case tokEnd:
			if closing {
				return group{}, at(CodeSyntax, p.toks[open-1].at, "unclosed parenthesis").expect(")")
			}
			return p.assemble(items, Position{Start: 0, End: len(p.text), Column: 1}, closing)
		case tokClose:
			p.i++
			pos := position(p.text, p.toks[open-1].at.Start, t.at.End)
			if len(items) == 0 {
				return group{}, at(CodeSyntax, pos, "empty parentheses").expect("text", "field clause")
			}
			return p.assemble(items, pos, closing)
		default:
			it, err := p.item()
			if err != nil {
				return group{}, err
			}
			items = append(items, it)
		}
	}
}

// item reads one operand or operator.
func (p *parser) item() (item, *Error) {
	t := p.peek()
	switch t.kind {
	case tokOpen:
		p.i++
		g, err := p.group(true)
		if err != nil {
			return item{}, err
		}
		pos := position(p.text, t.at.Start, p.toks[p.i-1].at.End)
		if g.where != nil && g.match != nil {
			return item{}, at(CodeAmbiguousOr, pos, "parentheses may hold text or field clauses, not both").
				hint("take the field clauses and -words out of the parentheses")
		}
		return item{text: g.match, pred: g.where, at: pos}, nil
	case tokPipe:
		return item{}, at(CodeSyntax, t.at, "pipeline queries must start with `sessions where ...` or an executable `<unit>s where ...` query").
			hint(`write "|" for the character`)
	case tokField, tokCompare, tokMatch, tokExists, tokSeq:
		pred, err := p.leaf()
		if err != nil {
			return item{}, err
		}
		return item{pred: pred, at: pred.Pos()}, nil
	}
	if err := p.laterForm(); err != nil {
		return item{}, err
	}
	if pred, ok, err := p.readable(); err != nil {
		return item{}, err
	} else if ok {
		return item{pred: pred, at: pred.Pos()}, nil
	}
	p.i++
	return p.word(t)
}

// word reads a word or a quoted phrase: an operator, a text term or an exclusion.
func (p *parser) word(t token) (item, *Error) {
	if t.kind == tokWord && !t.neg && !t.prefix {
		switch up := strings.ToUpper(t.raw); up {
		case "AND", "OR", "NOT":
			return item{op: up, soft: t.raw != up, raw: t.raw, at: t.at}, nil
		}
	}
	ph := &Phrase{Text: t.text, Prefix: t.prefix, At: t.at}
	if t.kind == tokWord && ph.Text == "" {
		ph.Text = t.raw // only stars: a term without a character to search for
	}
	if t.neg {
		return item{pred: &Exclude{Of: ph, At: t.at}, at: t.at}, nil
	}
	return item{text: ph, at: t.at}, nil
}
