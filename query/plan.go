package query

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hansard-search/hansard/lexer"
)

// A Plan is a query that is ready to run, made by [Bind]. It never changes.
type Plan struct {
	Query    *Query
	Warnings []string // what was left out of the query and why

	where    predicate // nil: every session
	rows     predicate // of the unit that is asked for; nil: sessions
	rowUnit  *UnitSpec
	pipe     *pipeline // of the rows
	match    matchNode // nil: no text
	ranked   bool
	units    []*unit
	phrases  []*phrase // of match, in the order of the query
	nodes    int       // of match
	lineages []*lineage

	matcherMade sync.Once
	matcher     *lexer.Matcher
}

// Unit is what the plan answers with.
func (p *Plan) Unit() Unit {
	if p.rowUnit == nil {
		return UnitSession
	}
	return p.rowUnit.Name
}

// Reduces reports whether the plan counts or reduces rows, and so answers with groups.
func (p *Plan) Reduces() bool { return p.pipe != nil && p.pipe.reduce }

// Ranked reports whether the query has text, so that hits are scored.
func (p *Plan) Ranked() bool { return p.ranked }

// A PhraseInfo is what highlighting needs to know about a phrase of the query.
type PhraseInfo struct {
	Terms    []string // index terms, side by side
	Prefix   bool     // the last term stands for all that begin with it
	Scored   bool     // false on the right side of NOT: no hit shows it
	Position Position // in the query text
}

// Phrases are the phrases of the text of the query in order; the document
// frequencies of [Stats] stand in the same order.
func (p *Plan) Phrases() []PhraseInfo {
	out := make([]PhraseInfo, 0, len(p.phrases))
	for _, ph := range p.phrases {
		out = append(out, PhraseInfo{slices.Clone(ph.unit.terms), ph.unit.prefix, ph.scored, ph.at})
	}
	return out
}

// Matcher finds the scored phrases in the texts of hits. It is made at the first
// call.
func (p *Plan) Matcher() *lexer.Matcher {
	p.matcherMade.Do(func() {
		var phrases []lexer.Phrase
		for _, ph := range p.phrases {
			if ph.scored {
				phrases = append(phrases, lexer.Phrase{Terms: ph.unit.terms, Prefix: ph.unit.prefix})
			}
		}
		p.matcher = lexer.NewMatcher(phrases)
	})
	return p.matcher
}

// MatchedTerms are the terms that a reader can expect to find in a hit: those of
// the scored phrases, in order, each once.
func (p *Plan) MatchedTerms() []string {
	out := []string{}
	for _, ph := range p.phrases {
		for _, t := range ph.unit.terms {
			if ph.scored && !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	return out
}

// An Operation is one step of a plan.
type Operation struct {
	Name   string // filter, text, rank, list
	Cost   Cost
	Detail string
}

// Operations are the steps of the plan in the order in which they run.
func (p *Plan) Operations() []Operation {
	var out []Operation
	where := p.where
	if p.rows != nil {
		where = p.rows
	}
	if where != nil {
		of, ok := where.(allOf)
		if !ok {
			of = allOf{where}
		}
		for _, k := range of {
			out = append(out, Operation{"filter", k.cost(), k.String()})
		}
	}
	if p.rows != nil {
		return append(out, p.pipe.operations(p.rowUnit)...)
	}
	if p.match == nil {
		return append(out, Operation{"list", CostColumn, "session.time descending, session.id ascending"})
	}
	if empty(p.match) {
		return append(out, Operation{"text", CostConstant, "nothing"})
	}
	cost := CostBitmap
	for _, ph := range p.phrases {
		if len(ph.unit.terms) > 1 {
			cost = CostPositions
		}
	}
	return append(out, Operation{"text", cost, strings.TrimSuffix(strings.TrimPrefix(p.match.String(), "("), ")")},
		Operation{"rank", CostColumn, "bm25 ascending, session.time descending, session.id ascending; best block per session"})
}

// String prints the plan, a line per stage.
func (p *Plan) String() string {
	var b strings.Builder
	for i, s := range p.Operations() {
		fmt.Fprintf(&b, "%d. %s (%s): %s\n", i+1, s.Name, s.Cost, s.Detail)
	}
	for _, w := range p.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	return b.String()
}
