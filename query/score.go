package query

import (
	"math/bits"

	"github.com/hansard-search/hansard/bm25"
	"github.com/hansard-search/hansard/postings"
)

// Stats are the statistics of the collection that scores were computed with. A
// later page of the same answer is scored with those of the first.
type Stats struct {
	Blocks, Tokens int64
	// DF is, per phrase of [Plan.Phrases], the number of blocks that hold it.
	DF []int64
}

// A ranking is the statistics of one run, ready for scoring.
type ranking struct {
	scorer *bm25.Scorer
	idf    []float64 // by phrase
}

func newRanking(s *Stats) *ranking {
	r := &ranking{scorer: bm25.NewScorer(bm25.Stats{Rows: s.Blocks, Tokens: s.Tokens})}
	for _, df := range s.DF {
		r.idf = append(r.idf, bm25.IDF(s.Blocks, df))
	}
	return r
}

// score leaves the scores of the rows of w, the matching rows of container key,
// in the scratch. A phrase counts in a row where every operator above it matches:
// rows of an AND that fails elsewhere in an OR, and the right side of a NOT, add
// nothing. Phrases are added in the order of the query.
func (x *segment) score(key uint16, w *window, lengths []uint32, rank *ranking) {
	clearScores(w, x.s.scores)
	x.scoreNode(x.plan.match, key, w, 0, lengths, rank)
}

// scoreNode scores the phrases under n in the rows of gate, where all above n
// match. depth names the window that is free for the gate below n.
func (x *segment) scoreNode(n matchNode, key uint16, gate *window, depth int, lengths []uint32, rank *ranking) {
	switch n := n.(type) {
	case *leaf:
		x.scorePhrase(n, key, gate, lengths, rank)
	case *either:
		for _, k := range n.of {
			x.scoreNode(k, key, gate, depth, lengths, rank)
		}
	case *all:
		below := x.narrow(n, gate, depth)
		for _, k := range n.of {
			x.scoreNode(k, key, below, depth+1, lengths, rank)
		}
	case *without:
		x.scoreNode(n.left, key, x.narrow(n, gate, depth), depth+1, lengths, rank)
	default:
		panic("query: unknown bound text node")
	}
}

// narrow returns the rows of gate where n matches.
func (x *segment) narrow(n matchNode, gate *window, depth int) *window {
	if n == x.plan.match {
		return gate
	}
	own, below := &x.s.nodes[n.slot()], &x.s.gates[depth]
	for i := range below {
		below[i] = gate[i] & own[i]
	}
	return below
}

// sparse is how many times fewer rows than a container has must be asked of it for
// looking them up one by one to be cheaper than reading them all.
const sparse = 16

func (x *segment) scorePhrase(n *leaf, key uint16, gate *window, lengths []uint32, rank *ranking) {
	m := x.units[n.unit.id]
	rows, freqs := x.s.rows[:0], x.s.freqs[:0]
	if m.simple() {
		c, ok := m.list.Find(key)
		if !ok {
			return
		}
		if gate.count()*sparse < c.Len() {
			x.scoreFew(&c, gate, lengths, rank.idf[n.phrase], rank.scorer)
			return
		}
		rows, freqs = c.AppendRows(rows), c.AppendFreqs(freqs)
		x.s.rows, x.s.freqs = rows, freqs
	} else {
		rows, freqs = m.part(key)
	}
	idf, scorer, scores := rank.idf[n.phrase], rank.scorer, x.s.scores
	for i, r := range rows {
		if gate.has(r) {
			scores[r] += scorer.Score(idf, freqs[i], lengths[r])
		}
	}
}

// scoreFew scores the rows of gate that c holds.
func (x *segment) scoreFew(c *postings.Container, gate *window, lengths []uint32, idf float64, scorer *bm25.Scorer) {
	for i, word := range gate {
		for ; word != 0; word &= word - 1 {
			low := i<<6 + bits.TrailingZeros64(word)
			if at, ok := c.Rank(uint16(low)); ok {
				x.s.scores[low] += scorer.Score(idf, c.Freq(at), lengths[low])
			}
		}
	}
}
