// Package bm25 scores rows as the bm25() function of SQLite's FTS5 does and
// keeps the best of them.
//
// The formula is the one in the FTS5 documentation (section "The bm25()
// function"), with its constants k1 = 1.2 and b = 0.75, over phrases p of a query
// and a row d:
//
//	score(d) = -1 · Σp IDF(p) · f(p,d)·(k1+1) / (f(p,d) + k1·(1 - b + b·|d|/avgdl))
//	IDF(p)   = ln((N - n(p) + 0.5) / (n(p) + 0.5)), or 1e-6 where that is not positive
//
// where f is the number of instances of the phrase in the row, |d| the number of
// tokens of the row, avgdl the mean of |d| over all rows, N the number of rows and
// n(p) the number of rows that hold the phrase.
//
// Laws: a score is never positive and lower is better; equal statistics and equal
// counts give equal bits, whatever the order in which rows are scored, as long as
// the phrases of a row are added in the order of the query.
package bm25

import "math"

// The constants of FTS5, which offers no way to change them.
const (
	K1 = 1.2
	B  = 0.75
)

// minIDF stands for the weight of a phrase that half of the rows or more hold, so
// that a match never makes a row worse.
const minIDF = 1e-6

// Stats are the statistics of a collection: its rows and all their tokens.
type Stats struct{ Rows, Tokens int64 }

// AverageLength is the mean number of tokens of a row, zero without rows.
func (s Stats) AverageLength() float64 {
	if s.Rows <= 0 {
		return 0
	}
	return float64(s.Tokens) / float64(s.Rows)
}

// IDF is the weight of a phrase that df of rows rows hold.
func IDF(rows, df int64) float64 {
	idf := math.Log((float64(rows-df) + 0.5) / (float64(df) + 0.5))
	if !(idf > 0) {
		return minIDF
	}
	return idf
}

// A Scorer scores the rows of one query. It is made once per query, never
// changes, and is safe for concurrent use.
type Scorer struct {
	average float64
	norms   [exactNorms]float64 // by length, for the lengths that nearly all rows have
}

// exactNorms is the number of lengths whose norm is looked up; a longer row pays
// a division.
const exactNorms = 1024

// NewScorer returns the scorer for a collection.
func NewScorer(s Stats) *Scorer {
	c := &Scorer{average: s.AverageLength()}
	for i := range c.norms {
		c.norms[i] = c.norm(uint32(i))
	}
	return c
}

// Norm is what a row of the given length adds to the denominator.
func (c *Scorer) Norm(length uint32) float64 {
	if length < exactNorms {
		return c.norms[length]
	}
	return c.norm(length)
}

// norm computes in the order of FTS5, so that the bits agree. The conversions here
// and in Score keep a compiler from fusing a product with a sum, which would round
// differently from one processor to the next.
func (c *Scorer) norm(length uint32) float64 {
	if c.average == 0 {
		return K1
	}
	return float64(K1 * (1 - B + float64(B*float64(length))/c.average))
}

// Score is what a phrase of weight idf adds to the score of a row that holds it
// freq times; zero if it does not. The row's score is the sum over the phrases,
// in the order of the query: never positive, lower is better.
func (c *Scorer) Score(idf float64, freq, length uint32) float64 {
	f := float64(freq)
	return -float64(idf * (float64(f*(K1+1)) / (f + c.Norm(length))))
}

// Add adds the contributions of one phrase to a block of rows: acc[rows[i]] gets
// the score of freqs[i] instances in a row of lengths[rows[i]] tokens. rows index
// acc and lengths, which are as long as each other; freqs is as long as rows.
func (c *Scorer) Add(acc []float64, idf float64, rows []uint16, freqs, lengths []uint32) {
	freqs = freqs[:len(rows)]
	lengths = lengths[:len(acc)]
	for i, r := range rows {
		acc[r] += c.Score(idf, freqs[i], lengths[r])
	}
}
