package main

import (
	"math"
	"slices"

	"github.com/hansard-search/hansard/lexer"
)

// An oracle answers questions by looking at every posting of their terms: plain
// loops over plain slices, with FTS5's formula. It knows the terms of its questions
// alone.
type oracle struct {
	terms    map[string]*occurrences
	prefixes map[string]*occurrences
	stems    []int    // lengths of prefixes
	lengths  []uint32 // tokens, by block
	sessions []uint32 // by block
	repos    []uint32
	times    []int64
	tokens   int64
	lex      lexer.Scanner
}

// occurrences are the blocks of a term, how often each holds it, and where.
type occurrences struct {
	blocks, counts []uint32
	first          []int    // index of the block's first position
	positions      []uint32 // kept only for terms of phrases
	placed         bool
}

func newOracle(questions []*question) *oracle {
	o := &oracle{terms: map[string]*occurrences{}, prefixes: map[string]*occurrences{}}
	for _, q := range questions {
		for _, t := range q.terms {
			into := o.terms
			if q.op == prefix {
				into = o.prefixes
				if !slices.Contains(o.stems, len(t)) {
					o.stems = append(o.stems, len(t))
				}
			}
			if into[t] == nil {
				into[t] = &occurrences{}
			}
			into[t].placed = into[t].placed || q.op == phrase
		}
	}
	return o
}

// add reads one block.
func (o *oracle) add(d *block) {
	n := uint32(0)
	o.lex.ResetString(d.text)
	for o.lex.Next() {
		t := o.lex.Term()
		if x := o.terms[string(t)]; x != nil {
			x.add(d.number, n)
		}
		for _, l := range o.stems {
			if len(t) >= l {
				if x := o.prefixes[string(t[:l])]; x != nil {
					x.add(d.number, n)
				}
			}
		}
		n++
	}
	o.lengths = append(o.lengths, n)
	o.sessions = append(o.sessions, d.session)
	o.repos = append(o.repos, d.repo)
	o.times = append(o.times, d.time)
	o.tokens += int64(n)
}

func (x *occurrences) add(block, position uint32) {
	if n := len(x.blocks); n == 0 || x.blocks[n-1] != block {
		x.blocks, x.counts, x.first = append(x.blocks, block), append(x.counts, 0), append(x.first, len(x.positions))
	}
	x.counts[len(x.counts)-1]++
	if x.placed {
		x.positions = append(x.positions, position)
	}
}

func (x *occurrences) at(i int) []uint32 {
	return x.positions[x.first[i] : x.first[i]+int(x.counts[i])]
}

// A truth is the exhaustive answer to a question.
type truth struct {
	blocks   []uint32  // that match, ascending
	scores   []float64 // of the ten best, best first; negative as FTS5's
	sessions int
	best     []float64 // of the best block of each of the ten best sessions
}

// answer looks at everything.
func (o *oracle) answer(q *question) *truth {
	phrases := o.phrases(q)
	score, hits := make([]float64, len(o.lengths)), make([]int, len(o.lengths))
	average := float64(o.tokens) / float64(len(o.lengths))
	for _, p := range phrases {
		idf := math.Log((float64(len(o.lengths)) - float64(len(p.blocks)) + 0.5) / (float64(len(p.blocks)) + 0.5))
		if idf <= 0 {
			idf = 1e-6
		}
		for i, b := range p.blocks {
			f := float64(p.counts[i])
			score[b] -= idf * f * 2.2 / (f + 1.2*(0.25+0.75*float64(o.lengths[b])/average))
			hits[b]++
		}
	}
	t := &truth{}
	best := map[uint32]float64{}
	var scores []float64
	for b, n := range hits {
		if n == 0 || q.op == all && n < len(phrases) || !q.where.holds(o.repos[b], o.times[b]) {
			continue
		}
		t.blocks, scores = append(t.blocks, uint32(b)), append(scores, score[b])
		if s, ok := best[o.sessions[b]]; !ok || score[b] < s {
			best[o.sessions[b]] = score[b]
		}
	}
	t.scores, t.sessions = smallest(scores), len(best)
	scores = scores[:0]
	for _, s := range best {
		scores = append(scores, s)
	}
	t.best = smallest(scores)
	return t
}

// smallest is the ten least of scores, ascending.
func smallest(scores []float64) []float64 {
	slices.Sort(scores)
	return slices.Clone(scores[:min(limit, len(scores))])
}

// phrases are what the question scores: its terms, or the phrase as one.
func (o *oracle) phrases(q *question) []*occurrences {
	switch q.op {
	case prefix:
		return []*occurrences{o.prefixes[q.terms[0]]}
	case phrase:
		return []*occurrences{o.adjacent(q.terms)}
	}
	var out []*occurrences
	for _, t := range q.terms {
		out = append(out, o.terms[t])
	}
	return out
}

// adjacent finds where the terms stand side by side.
func (o *oracle) adjacent(terms []string) *occurrences {
	lists := make([]*occurrences, len(terms))
	for i, t := range terms {
		lists[i] = o.terms[t]
	}
	out := &occurrences{}
	for i, b := range lists[0].blocks {
		for _, p := range lists[0].at(i) {
			whole := true
			for k, l := range lists[1:] {
				at, ok := slices.BinarySearch(l.blocks, b)
				if !ok {
					whole = false
					break
				}
				if _, ok = slices.BinarySearch(l.at(at), p+uint32(k)+1); !ok {
					whole = false
					break
				}
			}
			if whole {
				out.add(b, p)
			}
		}
	}
	return out
}
