package query

import (
	"strings"
	"unicode"
)

// structure reads the tokens that begin a predicate or stand only inside of one; ok
// is false where none begins.
func (s *scanner) structure(start int) (t token, ok bool, err *Error) {
	rest := s.text[start:]
	switch {
	case s.head && s.source(rest):
		unit, _ := cutWord(rest)
		return token{kind: tokSource, at: s.pos(start), name: string(LookupUnit(unit).Name)}, true, nil
	case s.piped:
		return s.stage(start), true, nil
	case s.strict && strings.HasPrefix(rest, "->"):
		t, err := s.arrow(start)
		return t, true, err
	case strings.HasPrefix(rest, "~") && s.leaf(rest[1:]):
		t, err := s.match(start)
		return t, true, err
	}
	word, after := cutWord(rest)
	switch strings.ToLower(word) {
	case "exists":
		name, paren := cutWord(after)
		if u := LookupUnit(name); u != nil && u.Name != UnitSession && strings.HasPrefix(paren, "(") {
			s.unit = u.Name
			return s.opens(start, token{kind: tokExists, name: string(u.Name)}, len(rest)-len(paren))
		}
	case "seq":
		if strings.HasPrefix(after, "(") && (s.strict || s.steps(after[1:])) {
			s.unit = UnitAction
			return s.opens(start, token{kind: tokSeq}, len(rest)-len(after))
		}
	}
	return token{}, false, nil
}

// stage reads up to the next bar outside of quotes.
func (s *scanner) stage(start int) token {
	quoted := false
	for s.i < len(s.text) && (quoted || s.text[s.i] != '|') {
		if s.text[s.i] == '"' {
			quoted = !quoted
		}
		s.i++
	}
	raw := strings.TrimRightFunc(s.text[start:s.i], unicode.IsSpace)
	s.terms += strings.Count(raw, ",") + 1
	return token{kind: tokStage, at: position(s.text, start, start+len(raw)), raw: raw}
}

// cutWord splits the letters and hyphens that s begins with, and the spaces behind
// them, off.
func cutWord(s string) (word, after string) {
	n := strings.IndexFunc(s, func(r rune) bool { return !(r == '-' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') })
	if n < 0 {
		n = len(s)
	}
	return s[:n], strings.TrimLeftFunc(s[n:], unicode.IsSpace)
}

// source reads "<unit> where" and enters its predicate.
func (s *scanner) source(rest string) bool {
	unit, after := cutWord(rest)
	where, behind := cutWord(after)
	if LookupUnit(unit) == nil || len(after) == len(rest)-len(unit) || !strings.EqualFold(where, "where") {
		return false
	}
	if behind != "" && len(behind) == len(after)-len(where) && !strings.HasPrefix(behind, "(") {
		return false // wherever
	}
	s.i += len(rest) - len(after) + len(where)
	s.unit = LookupUnit(unit).Name
	s.strict, s.from = true, 0
	return true
}

// steps reports whether what stands behind "seq(" are the steps of a sequence: an arrow
// inside of the parentheses, or a clause of a field at their beginning. seq(1, 9) is code,
// and so is fn seq(n) -> Vec.
func (s *scanner) steps(inside string) bool {
	first := strings.TrimLeft(inside, " -(")
	if name := fieldName(first); name != "" && structuralField(name) != nil && !s.boundary(first[len(name)+1:]) {
		return true
	}
	depth := 1
	for i := 0; i < len(inside) && depth > 0; i++ {
		switch {
		case inside[i] == '(':
			depth++
		case inside[i] == ')':
			depth--
		case depth == 1 && strings.HasPrefix(inside[i:], "->"):
			return true
		}
	}
	return false
}

// opens reads the head of a group whose parenthesis is n bytes behind start.
func (s *scanner) opens(start int, t token, n int) (token, bool, *Error) {
	s.i = start + n
	if _, err := s.open(s.i); err != nil {
		return token{}, false, err
	}
	if !s.strict {
		s.strict, s.from = true, s.depth
	}
	t.at = s.pos(start)
	return t, true, nil
}

// leaf reports whether a tilde before rest marks text: ~/src is a path.
func (s *scanner) leaf(rest string) bool {
	if strings.HasPrefix(rest, `"`) {
		return true
	}
	return !s.boundary(rest) && (s.strict || rest[0] != '/')
}

// match reads ~word or ~"…".
func (s *scanner) match(start int) (token, *Error) {
	s.i++
	if s.text[s.i] == '"' {
		t, err := s.quoted(start, false)
		t.kind, t.at = tokMatch, s.pos(start)
		return t, err
	}
	s.skipRun(false)
	raw := s.text[start+1 : s.i]
	if raw == "" || raw[0] == '(' {
		return token{}, at(CodeSyntax, s.pos(start), "a tilde marks one word, or a phrase in quotes").expect("~word", `~"two words"`).
			hint("write ~one AND ~other for several")
	}
	word := strings.TrimRight(raw, "*")
	s.terms++
	return token{kind: tokMatch, at: s.pos(start), raw: raw, text: word, prefix: word != "" && len(word) < len(raw)}, nil
}

// arrow reads -> and the constraint in brackets that may follow.
func (s *scanner) arrow(start int) (token, *Error) {
	s.i += 2
	t := token{kind: tokArrow, at: s.pos(start)}
	rest := strings.TrimLeftFunc(s.text[s.i:], unicode.IsSpace)
	if !strings.HasPrefix(rest, "[") {
		return t, nil
	}
	open := len(s.text) - len(rest)
	n := strings.IndexByte(rest, ']')
	if n < 0 {
		s.i = len(s.text)
		return t, at(CodeSyntax, position(s.text, open, s.i), "unclosed bracket").expect("]")
	}
	s.i = open + n + 1
	t.text = strings.ToLower(strings.TrimSpace(rest[1:n]))
	t.at = s.pos(start)
	return t, nil
}
