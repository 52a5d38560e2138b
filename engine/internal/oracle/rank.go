package oracle

import (
	"math"

	"github.com/hansard-search/hansard/query"
)

// The parameters of SQLite's bm25().
const (
	k1       = 1.2
	b        = 0.75
	floorIDF = 1e-6
)

// score is the BM25 of a block; lower is better. A phrase counts where every
// operator above it matches, and never on the right side of NOT.
func (r *run) score(t query.Text, terms []string) (sum float64) {
	if !r.matches(t, terms) {
		return 0
	}
	switch n := t.(type) {
	case *query.Phrase:
		return r.phrase(r.needle(n), terms)
	case *query.TextAnd:
		for _, k := range n.Of {
			sum += r.score(k, terms)
		}
	case *query.TextOr:
		for _, k := range n.Of {
			sum += r.score(k, terms)
		}
	case *query.TextNot:
		sum = r.score(n.Left, terms)
	}
	return sum
}

func (r *run) phrase(n *needle, terms []string) float64 {
	f, average := float64(n.count(terms)), float64(r.tokens)/float64(r.rows)
	idf := math.Log((float64(r.rows) - n.df + 0.5) / (n.df + 0.5))
	if idf <= 0 {
		idf = floorIDF
	}
	return -(idf * ((f * (k1 + 1)) / (f + k1*(1-b+b*float64(len(terms))/average))))
}
