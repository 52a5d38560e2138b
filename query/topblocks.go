package query

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/hansard-search/hansard/bm25"
	"github.com/hansard-search/hansard/postings"
)

// A Bounder is a Source whose long posting lists carry score bounds.
type Bounder interface {
	// Bounds returns the bounds of the list of a term, the zero value if it has none.
	Bounds(term []byte, l postings.List) (postings.Bounds, error)
}

// TopBlocks returns the best matching blocks of a ranked plan, best first: score
// ascending, then source and row. They are the first of what [MatchBlocks] returns
// in that order, found without looking at every match: ranges of rows in which
// nothing can be among the best are passed over, so that there is no total. Of o it
// reads Limit, Stats, Workers, BlockTypes and Limits.
func TopBlocks(ctx context.Context, p *Plan, sources []Source, o RunOptions) ([]BlockHit, error) {
	if !p.ranked {
		return nil, errors.New("query: blocks asked of a query without text")
	}
	r, err := newRun(ctx, p, sources, o)
	if err != nil {
		return nil, err
	}
	limit := o.Limit
	rows := 0
	for _, x := range r.segments {
		rows += x.blocks
	}
	if limit == 0 {
		limit = DefaultLimit
	}
	if limit < 0 {
		limit = rows
	}
	best := bm25.NewTopK(min(limit, rows), func(a, b BlockHit) bool { return a.before(&b) })
	for i, x := range r.segments {
		if x.hopeless || x.selected != nil && !x.selected.Any() {
			continue
		}
		err := guard(i, func(int) error {
			return x.use(func() error { return x.best(ctx, r.ranking, best) })
		})
		if err != nil {
			return nil, err
		}
	}
	return best.AppendSorted(make([]BlockHit, 0, best.Len())), ctx.Err()
}

func (h *BlockHit) before(o *BlockHit) bool {
	switch {
	case h.Score != o.Score:
		return h.Score < o.Score
	case h.Source != o.Source:
		return h.Source < o.Source
	}
	return h.Block < o.Block
}

// best offers the blocks of the segment that may be among the best, the most
// promising ranges first.
func (x *segment) best(ctx context.Context, rank *ranking, best *bm25.TopK[BlockHit]) error {
	spans, err := x.src.Spans(postings.Session, postings.Block)
	if err != nil {
		return err
	}
	mask, err := x.blockMask(spans)
	if err != nil {
		return err
	}
	lengths, err := x.src.Lengths()
	if err != nil {
		return fmt.Errorf("lengths: %w", err)
	}
	promises, err := x.promises(rank)
	if err != nil {
		return err
	}
	e := x.ranges()
	for n, p := range promises {
		if n&255 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		threshold := math.Inf(1)
		if worst, full := best.Worst(); full {
			threshold = worst.Score
		}
		if p.score > threshold {
			break // nor can any later range
		}
		lo := p.rng * postings.RangeRows
		hi := min(lo+postings.RangeRows, x.blocks)
		tokens, err := lengths.Slice(postings.Ord(lo), postings.Ord(hi))
		if err != nil {
			return fmt.Errorf("lengths: %w", err)
		}
		if e.enter(lo, hi, mask, tokens, rank) {
			e.offer(best, threshold)
		}
	}
	return nil
}

// A promise is the least score that a block of a range can have.
type promise struct {
	rng   int
	score float64
}

// slack makes up for what rounding may take from a bound: the score of a greater
// frequency may come out lower by a last bit.
const slack = 1 + 1e-12

// promises returns the ranges in which the text may match, the most promising
// first.
func (x *segment) promises(rank *ranking) ([]promise, error) {
	n := (x.blocks + postings.RangeRows - 1) / postings.RangeRows
	scores := make([]float64, n)
	if err := x.promise(x.plan.match, scores, rank); err != nil {
		return nil, err
	}
	out := make([]promise, 0, n)
	for i, s := range scores {
		if s < 0 {
			out = append(out, promise{i, s * slack})
		}
	}
	slices.SortFunc(out, func(a, b promise) int {
		switch {
		case a.score < b.score:
			return -1
		case a.score > b.score:
			return 1
		}
		return a.rng - b.rng
	})
	return out, nil
}

// promise sets the least score that n may add in each range; zero where it cannot
// match.
func (x *segment) promise(n matchNode, scores []float64, rank *ranking) error {
	switch n := n.(type) {
	case *leaf:
		return x.promiseLeaf(n, scores, rank)
	case *all:
		return x.promiseEach(n.of, scores, rank, func(sum, one float64) float64 {
			if sum == 0 || one == 0 {
				return 0
			}
			return sum + one
		})
	case *either:
		return x.promiseEach(n.of, scores, rank, func(sum, one float64) float64 { return sum + one })
	case *without:
		return x.promise(n.left, scores, rank)
	default:
		panic("query: unknown bound text node")
	}
}

func (x *segment) promiseEach(of []matchNode, scores []float64, rank *ranking, add func(sum, one float64) float64) error {
	if err := x.promise(of[0], scores, rank); err != nil {
		return err
	}
	one := make([]float64, len(scores))
	for _, k := range of[1:] {
		clear(one)
		if err := x.promise(k, one, rank); err != nil {
			return err
		}
		for i := range scores {
			scores[i] = add(scores[i], one[i])
		}
	}
	return nil
}

const rangesPerContainer = postings.ContainerRows / postings.RangeRows

// promiseLeaf reads the bounds of a posting list; where there are none, it looks at
// the frequencies.
func (x *segment) promiseLeaf(n *leaf, scores []float64, rank *ranking) error {
	m, idf := x.units[n.unit.id], rank.idf[n.phrase]
	if m.simple() {
		if b, ok := x.src.(Bounder); ok && m.list.Len() >= postings.BoundsRows && len(n.unit.terms) == 1 && !n.unit.prefix {
			bounds, err := b.Bounds(n.unit.keys[0], m.list)
			if err != nil {
				return fmt.Errorf("bounds of %q: %w", n.unit.keys[0], err)
			}
			if !bounds.IsEmpty() {
				boundedLeaf(m.list, bounds, scores, idf, rank.scorer)
				return nil
			}
		}
		for i := range m.list.Containers() {
			c := m.list.Container(i)
			x.s.rows, x.s.freqs = c.AppendRows(x.s.rows[:0]), c.AppendFreqs(x.s.freqs[:0])
			promiseRows(c.Key(), x.s.rows, x.s.freqs, scores, idf, rank.scorer)
		}
		return nil
	}
	for _, key := range m.keys {
		rows, freqs := m.part(key)
		promiseRows(key, rows, freqs, scores, idf, rank.scorer)
	}
	return nil
}

func boundedLeaf(l postings.List, b postings.Bounds, scores []float64, idf float64, scorer *bm25.Scorer) {
	for i := range l.Containers() {
		first := int(l.Key(i)) * rangesPerContainer
		for r := range min(rangesPerContainer, len(scores)-first) {
			freq, length, ok := b.At(i, r)
			switch {
			case !ok:
			case freq == math.MaxUint8: // any frequency from it on
				scores[first+r] = -idf * (bm25.K1 + 1)
			default:
				scores[first+r] = scorer.Score(idf, uint32(freq), length)
			}
		}
	}
}

// promiseRows bounds the score of rows by their frequency alone.
func promiseRows(key uint16, rows []uint16, freqs []uint32, scores []float64, idf float64, scorer *bm25.Scorer) {
	first := int(key) * rangesPerContainer
	for i, row := range rows {
		r := first + int(row)/postings.RangeRows
		scores[r] = min(scores[r], scorer.Score(idf, freqs[i], 0))
	}
}
