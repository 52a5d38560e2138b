package query

import (
	"slices"
	"strings"
)

// notYet is the error for a form of the language that this build cannot run. Such
// a form is never read as text.
func notYet(p Position, what string) *Error {
	return at(CodeNotSupportedYet, p, "%s are not supported yet", what)
}

// laterEntry recognizes the forms that only begin a query.
func (p *parser) laterEntry() *Error {
	if strings.HasPrefix(strings.TrimSpace(p.text), `{"`) {
		return notYet(Position{Start: 0, End: len(p.text), Column: 1}, "JSON queries")
	}
	first := p.peek()
	if first.kind != tokWord || first.neg {
		return nil
	}
	word := strings.ToLower(first.raw)
	if word == "from" {
		rest := p.text[first.at.End:]
		kind, _, ok := strings.Cut(strings.TrimSpace(rest), ":")
		if ok && slices.Contains([]string{"query", "query-run", "result-set", "cohort"}, kind) {
			return notYet(first.at, "reference pipelines (from "+kind+":…)")
		}
	}
	return nil
}

// laterForm recognizes the forms that stand where an operand can stand.
func (p *parser) laterForm() *Error {
	t, next := p.peek(), p.ahead(1)
	if t.kind != tokWord || t.neg {
		return nil
	}
	word := strings.ToLower(t.raw)
	if word == "with" && p.i > 0 && next.kind == tokWord {
		unit := strings.ToLower(next.raw)
		unit = unit[:len(unit)-len(strings.TrimLeft(unit, "abcdefghijklmnopqrstuvwxyz-"))]
		known := LookupUnit(unit) != nil
		after := strings.TrimLeft(strings.TrimPrefix(p.text[next.at.Start:], next.raw[:len(unit)]), " ")
		if known && (after == "" || strings.ContainsRune("([,", rune(after[0]))) {
			return notYet(cover(t.at, next.at), "'with' projections").hint("quote the words if they are text")
		}
	}
	return nil
}
