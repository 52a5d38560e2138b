package query

import (
	"slices"
	"strings"
)

// sourceUnits are the words that name a unit, singular and plural, with the
// plural of each.
var sourceUnits = map[string]string{
	"session": "sessions", "sessions": "sessions",
	"message": "messages", "messages": "messages",
	"action": "actions", "actions": "actions",
	"block": "blocks", "blocks": "blocks",
	"file": "files", "files": "files",
	"assertion": "assertions", "assertions": "assertions",
	"run": "runs", "runs": "runs",
	"observed-event": "observed-events", "observed-events": "observed-events",
	"context-snapshot": "context-snapshots", "context-snapshots": "context-snapshots",
	"delegation": "delegations", "delegations": "delegations",
}

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
	first, second := p.peek(), p.ahead(1)
	if first.kind != tokWord || first.neg {
		return nil
	}
	word := strings.ToLower(first.raw)
	if plural, ok := sourceUnits[word]; ok && second.kind == tokWord && strings.EqualFold(second.raw, "where") {
		return notYet(cover(first.at, second.at), "'"+plural+" where' queries").
			hint("quote the words if they are text")
	}
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
	switch {
	case word == "exists" && next.kind == tokWord:
		unit, _, paren := strings.Cut(strings.ToLower(next.raw), "(")
		_, known := sourceUnits[unit]
		if known && (paren || p.ahead(2).kind == tokOpen) {
			return notYet(cover(t.at, next.at), "exists predicates").hint("quote the words if they are text")
		}
	case (strings.HasPrefix(word, "seq(") || word == "seq" && next.kind == tokOpen) && strings.Contains(p.text, "->"):
		return notYet(t.at, "seq predicates").hint("quote the words if they are text")
	case word == "~" && next.kind == tokQuoted && next.glued, len(word) > 1 && word[0] == '~' && word[1] != '/':
		return notYet(t.at, "text leaves (~word)").hint("leave out the ~: words are text")
	case word == "with" && p.i > 0 && next.kind == tokWord:
		unit := strings.ToLower(next.raw)
		unit = unit[:len(unit)-len(strings.TrimLeft(unit, "abcdefghijklmnopqrstuvwxyz-"))]
		_, known := sourceUnits[unit]
		after := strings.TrimLeft(strings.TrimPrefix(p.text[next.at.Start:], next.raw[:len(unit)]), " ")
		if known && (after == "" || strings.ContainsRune("([,", rune(after[0]))) {
			return notYet(cover(t.at, next.at), "'with' projections").hint("quote the words if they are text")
		}
	}
	return nil
}
