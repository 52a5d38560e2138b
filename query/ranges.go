package query

import (
	"math/bits"
	"sort"

	"github.com/hansard-search/hansard/bm25"
	"github.com/hansard-search/hansard/postings"
)

const rangeWords = postings.RangeRows / 64

// rangeWindow is the rows of one range of one segment.
type rangeWindow [rangeWords]uint64

// ranges is the stretch of one range of a segment after another, in any order.
type ranges struct {
	x      *segment
	flat   bool // nothing but a phrase or an OR of phrases: no row needs a gate
	nodes  []rangeWindow
	gates  []rangeWindow
	parts  []unitPart // by unit
	scores [postings.RangeRows]float64
	hits   rangeWindow // what matches in the current range

	base, hi int // rows of the current range
	tokens   []uint32
	rank     *ranking
}

// A unitPart is the rows of a unit in the current range.
type unitPart struct {
	base  int      // of the range that it was read for, -1 for none
	rows  []uint16 // from the start of the container
	freqs []uint32 // nil until asked for
	list  int      // container of a simple unit
	rank  int      // of the first row there
	buf   []uint16
	fbuf  []uint32
}

func (x *segment) ranges() *ranges {
	e := &ranges{x: x, parts: make([]unitPart, len(x.units))}
	for i := range e.parts {
		e.parts[i].base = -1
	}
	switch n := x.plan.match.(type) {
	case *leaf:
		e.flat = true
	case *either:
		e.flat = true
		for _, k := range n.of {
			_, ok := k.(*leaf)
			e.flat = e.flat && ok
		}
	}
	if !e.flat {
		e.nodes = make([]rangeWindow, x.plan.nodes)
		e.gates = make([]rangeWindow, x.plan.nodes)
	}
	return e
}

// enter evaluates and scores the rows [lo, hi), and reports whether any matches.
func (e *ranges) enter(lo, hi int, mask *postings.Bits, tokens []uint32, rank *ranking) bool {
	e.base, e.hi, e.tokens, e.rank = lo, hi, tokens, rank
	allowed := rangeWindow{}
	if mask != nil {
		words := mask.Words()[lo/64:]
		copy(allowed[:], words[:min(rangeWords, len(words))])
		if !anyRow(allowed[:]) {
			return false
		}
	}
	if e.flat {
		clear(e.scores[:])
		clear(e.hits[:])
		e.scoreFlat(e.x.plan.match)
	} else if !rowsOf(e, e.x.plan.match) {
		return false
	} else {
		e.hits = e.nodes[e.x.plan.match.slot()]
	}
	if mask != nil {
		for i := range e.hits {
			e.hits[i] &= allowed[i]
		}
	}
	if !anyRow(e.hits[:]) {
		return false
	}
	if !e.flat {
		clear(e.scores[:])
		scoreRows(e, e.x.plan.match, e.x.plan.match, e.hits[:], 0)
	}
	return true
}

// offer gives the scored rows to best; threshold is the score to beat or to equal.
func (e *ranges) offer(best *bm25.TopK[BlockHit], threshold float64) {
	for i, word := range e.hits {
		for ; word != 0; word &= word - 1 {
			low := i<<6 + bits.TrailingZeros64(word)
			if s := e.scores[low]; s <= threshold {
				best.Offer(BlockHit{e.x.index, postings.Ord(e.base + low), s})
				if worst, full := best.Worst(); full {
					threshold = worst.Score
				}
			}
		}
	}
}

// part reads the rows of a unit in the current range.
func (e *ranges) part(u *unit) *unitPart {
	p := &e.parts[u.id]
	if p.base == e.base {
		return p
	}
	m, key := e.x.units[u.id], uint16(e.base>>16)
	lo := e.base & (postings.ContainerRows - 1)
	p.base, p.rows, p.freqs = e.base, nil, nil
	if !m.simple() {
		rows, freqs := m.part(key)
		from := sort.Search(len(rows), func(i int) bool { return int(rows[i]) >= lo })
		to := from + sort.Search(len(rows)-from, func(i int) bool { return int(rows[from+i]) >= lo+postings.RangeRows })
		p.rows, p.freqs = rows[from:to], freqs[from:to]
		return p
	}
	p.list = m.list.Seek(key)
	if p.list == m.list.Containers() || m.list.Key(p.list) != key {
		return p
	}
	p.buf, p.rank = m.list.Container(p.list).AppendRowsIn(p.buf[:0], lo, lo+postings.RangeRows)
	p.rows = p.buf
	return p
}

// frequencies reads those of the rows of p.
func (e *ranges) frequencies(u *unit, p *unitPart) []uint32 {
	if p.freqs == nil && len(p.rows) > 0 {
		p.fbuf = e.x.units[u.id].list.Container(p.list).AppendFreqsIn(p.fbuf[:0], p.rank, len(p.rows))
		p.freqs = p.fbuf
	}
	return p.freqs
}

// scoreFlat scores a phrase or an OR of phrases in the order of the query; each row
// that any of them holds is a hit.
func (e *ranges) scoreFlat(n matchNode) {
	of, ok := n.(*either)
	if ok {
		for _, k := range of.of {
			e.scoreFlat(k)
		}
		return
	}
	l := n.(*leaf)
	p := e.part(l.unit)
	freqs := e.frequencies(l.unit, p)
	idf, scorer := e.rank.idf[l.phrase], e.rank.scorer
	for i, row := range p.rows {
		low := row & (postings.RangeRows - 1)
		if int(low) < len(e.tokens) {
			e.hits[low>>6] |= 1 << (low & 63)
			e.scores[low] += scorer.Score(idf, freqs[i], e.tokens[low])
		}
	}
}

func (e *ranges) node(slot int) []uint64  { return e.nodes[slot][:] }
func (e *ranges) gate(depth int) []uint64 { return e.gates[depth][:] }

func (e *ranges) or(l *leaf, w []uint64) {
	for _, row := range e.part(l.unit).rows {
		low := row & (postings.RangeRows - 1)
		w[low>>6] |= 1 << (low & 63)
	}
}

func (e *ranges) andNot(l *leaf, w []uint64) bool {
	for _, row := range e.part(l.unit).rows {
		low := row & (postings.RangeRows - 1)
		w[low>>6] &^= 1 << (low & 63)
	}
	return true
}

func (e *ranges) phrase(n *leaf, gate []uint64) {
	p := e.part(n.unit)
	freqs := e.frequencies(n.unit, p)
	idf, scorer := e.rank.idf[n.phrase], e.rank.scorer
	for i, row := range p.rows {
		low := row & (postings.RangeRows - 1)
		if gate[low>>6]>>(low&63)&1 != 0 {
			e.scores[low] += scorer.Score(idf, freqs[i], e.tokens[low])
		}
	}
}
