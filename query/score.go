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

// score leaves the scores of the rows of w, its matching rows, in the scratch.
func (c *container) score(w *window) {
	clearScores(w, c.x.s.scores)
	scoreRows(c, c.x.plan.match, c.x.plan.match, w[:], 0)
}

// sparse is how many times fewer rows than a container has must be asked of it for
// looking them up one by one to be cheaper than reading them all.
const sparse = 16

func (c *container) phrase(l *leaf, gate []uint64) {
	x, w := c.x, (*window)(gate)
	m := x.units[l.unit.id]
	rows, freqs := x.s.rows[:0], x.s.freqs[:0]
	if m.simple() {
		list, ok := m.list.Find(c.key)
		if !ok {
			return
		}
		if w.count()*sparse < list.Len() {
			c.few(&list, w, c.rank.idf[l.phrase])
			return
		}
		rows, freqs = list.AppendRows(rows), list.AppendFreqs(freqs)
		x.s.rows, x.s.freqs = rows, freqs
	} else {
		rows, freqs = m.part(c.key)
	}
	idf, scorer, scores, lengths := c.rank.idf[l.phrase], c.rank.scorer, x.s.scores, c.lengths
	for i, r := range rows {
		if w.has(r) {
			scores[r] += scorer.Score(idf, freqs[i], lengths[r])
		}
	}
}

// few scores the rows of w that a posting list holds.
func (c *container) few(list *postings.Container, w *window, idf float64) {
	for i, word := range w {
		for ; word != 0; word &= word - 1 {
			low := i<<6 + bits.TrailingZeros64(word)
			if at, ok := list.Rank(uint16(low)); ok {
				c.x.s.scores[low] += c.rank.scorer.Score(idf, list.Freq(at), c.lengths[low])
			}
		}
	}
}
