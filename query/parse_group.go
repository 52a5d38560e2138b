package query

// A group is what stands between two parentheses, or the whole query: predicates
// and text, told apart.
type group struct {
	where   Pred
	match   Text
	clauses []Node
}

// A stream is the operands of one kind and the operators between them: field
// clauses may stand anywhere between text terms and do not part them.
type stream struct {
	items   []item
	or, all bool // has OR; has operands side by side
}

func (s *stream) operand(it item) {
	if n := len(s.items); n > 0 && s.items[n-1].operand() {
		s.all = true
	}
	s.items = append(s.items, it)
}

func (s *stream) operator(it item) {
	s.or = s.or || it.op == "OR"
	s.items = append(s.items, it)
}

// assemble sorts items into the two streams and builds their trees.
func (p *parser) assemble(items []item, pos Position, closing bool) (group, *Error) {
	items = settle(items)
	var text, pred stream
	var joint *item // an operator between text and a predicate
	for i := range items {
		it := items[i]
		switch {
		case it.text != nil:
			text.operand(it)
		case it.pred != nil:
			pred.operand(it)
		default:
			mixed, err := p.operator(items, i, &text, &pred)
			if err != nil {
				return group{}, err
			}
			if mixed {
				joint = &items[i]
			}
		}
	}
	if err := p.checkStreams(&text, &pred, joint, pos); err != nil {
		return group{}, err
	}
	g := group{}
	if len(text.items) > 0 {
		g.match = textTree(text.items)
	}
	if len(pred.items) > 0 {
		g.where = predTree(pred.items)
	}
	for _, it := range items {
		if it.operand() {
			g.clauses = append(g.clauses, it.node())
		}
	}
	return g, nil
}

// settle decides on and, or, not in lower case: operators only between
// predicates, words elsewhere.
func settle(items []item) []item {
	out := make([]item, 0, len(items))
	isPred := func(i int) bool { return i >= 0 && i < len(items) && items[i].pred != nil }
	for i, it := range items {
		if it.soft {
			before := isPred(i-1) || i > 0 && items[i-1].op != "" && isPred(i-2)
			after := isPred(i+1) || i+1 < len(items) && items[i+1].op == "NOT" && isPred(i+2)
			if it.op == "NOT" {
				before = before || i == 0 && isPred(1)
			}
			if before && after {
				it.soft = false
			} else {
				it = item{text: &Phrase{Text: it.raw, At: it.at}, at: it.at}
			}
		}
		out = append(out, it)
	}
	return out
}

// operator places items[i], an operator, into the stream of its operands. mixed
// says that it stands between a text term and a predicate, where it joins the two
// streams.
func (p *parser) operator(items []item, i int, text, pred *stream) (mixed bool, err *Error) {
	it := items[i]
	next := i + 1
	for next < len(items) && items[next].op == "NOT" {
		next++ // AND NOT x, OR NOT NOT x
	}
	if next >= len(items) || !items[next].operand() {
		return false, p.dangling(it, "right")
	}
	right := items[next]
	prev := i - 1
	if it.op == "NOT" {
		for prev >= 0 && !items[prev].operand() {
			prev--
		}
		return p.not(it, items, i, prev, right, text, pred)
	}
	if prev < 0 || !items[prev].operand() {
		return false, p.dangling(it, "left")
	}
	left := items[prev]
	switch {
	case left.text != nil && right.text != nil:
		if next == i+1 || it.op == "OR" {
			text.operator(it) // AND NOT is NOT
		}
	case left.pred != nil && right.pred != nil:
		p.boolean = true
		pred.operator(it)
	case it.op == "OR":
		return false, p.ambiguous(it)
	default:
		return true, nil
	}
	return false, nil
}

// not places a NOT: between text terms it is per block, before a predicate it
// negates it.
func (p *parser) not(it item, items []item, i, prev int, right item, text, pred *stream) (bool, *Error) {
	if right.pred != nil {
		p.boolean = true
		pred.operand(it)
		return prev >= 0 && items[prev].text != nil && prev == i-1, nil
	}
	if prev < 0 || items[prev].text == nil || i > 0 && items[i-1].op == "NOT" || i > 0 && items[i-1].op == "OR" {
		return false, at(CodeSyntax, it.at, "NOT needs a text term on its left").
			hint("write -word to drop sessions with a word, or quote \"NOT\"").expect("text")
	}
	text.operator(it)
	return false, nil
}

func (p *parser) dangling(it item, side string) *Error {
	return at(CodeSyntax, it.at, "%s needs a term on its %s", it.op, side).
		hint("quote \""+it.op+"\" to search for the word").expect("text", "field clause")
}

func (p *parser) ambiguous(it item) *Error {
	return at(CodeAmbiguousOr, it.at,
		"bare OR is ambiguous in compact text queries; it may stand between text terms or between field clauses").
		hint("put OR between terms of one kind, write field:(a|b) for alternatives, or quote \"OR\"")
}

// checkStreams refuses what two readers would group in two ways.
func (p *parser) checkStreams(text, pred *stream, joint *item, pos Position) *Error {
	switch {
	case joint != nil && (text.or || pred.or):
		return at(CodeAmbiguousOr, joint.at, "%s between text and a field clause is ambiguous beside OR", joint.op).
			hint("put parentheses around the OR")
	case pred.or && len(text.items) > 0:
		return at(CodeAmbiguousOr, pos, "bare OR is ambiguous in compact text queries; the field clauses stand beside text").
			hint("put parentheses around the field clauses joined by OR")
	case pred.or && pred.all:
		return at(CodeAmbiguousOr, pos, "OR is ambiguous beside field clauses without an operator").
			hint("write AND between the clauses, or put parentheses around the OR")
	}
	return nil
}
