package oracle

import (
	"slices"
	"strings"

	"github.com/hansard-search/hansard/lexer"
	"github.com/hansard-search/hansard/query"
)

// A run is one query on its way through an archive.
type run struct {
	*Archive
	needles map[*query.Phrase]*needle
}

// A needle is a phrase as it is looked for.
type needle struct {
	terms  []string
	prefix bool    // the last term stands for all that begin with it
	df     float64 // blocks that hold it
}

func (r *run) needle(p *query.Phrase) *needle {
	if n := r.needles[p]; n != nil {
		return n
	}
	n := &needle{terms: lexer.Terms(p.Text)}
	// The star behind "foo-" lengthens no term.
	n.prefix = p.Prefix && len(lexer.Terms(p.Text+"x")) == len(n.terms)
	for i := range r.sessions {
		for _, b := range r.sessions[i].blocks {
			if n.count(b.terms) > 0 {
				n.df++
			}
		}
	}
	r.needles[p] = n
	return n
}

// count counts the places in terms where the phrase stands.
func (n *needle) count(terms []string) int {
	found := 0
	for i := 0; len(n.terms) > 0 && i+len(n.terms) <= len(terms); i++ {
		if n.standsAt(terms[i:]) {
			found++
		}
	}
	return found
}

func (n *needle) standsAt(terms []string) bool {
	for k, w := range n.terms {
		if n.prefix && k == len(n.terms)-1 {
			return strings.HasPrefix(terms[k], w)
		}
		if terms[k] != w {
			return false
		}
	}
	return true
}

// searched reports whether t holds a phrase with a term. Whatever does not is left
// out of the query.
func (r *run) searched(t query.Text) bool {
	switch n := t.(type) {
	case *query.Phrase:
		return len(r.needle(n).terms) > 0
	case *query.TextAnd:
		return slices.ContainsFunc(n.Of, r.searched)
	case *query.TextOr:
		return slices.ContainsFunc(n.Of, r.searched)
	case *query.TextNot:
		return r.searched(n.Left)
	}
	return false
}

// matches reports whether a block with these terms matches t.
func (r *run) matches(t query.Text, terms []string) bool {
	fits := func(k query.Text) bool { return r.matches(k, terms) }
	fails := func(k query.Text) bool { return r.searched(k) && !fits(k) }
	switch n := t.(type) {
	case *query.Phrase:
		return r.needle(n).count(terms) > 0
	case *query.TextAnd:
		return r.searched(n) && !slices.ContainsFunc(n.Of, fails)
	case *query.TextOr:
		return slices.ContainsFunc(n.Of, fits)
	case *query.TextNot:
		return fits(n.Left) && !fits(n.Right)
	}
	return false
}
