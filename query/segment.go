package query

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/hansard-search/hansard/bm25"
	"github.com/hansard-search/hansard/postings"
)

// A segment is one source during one run.
type segment struct {
	plan     *Plan
	src      Source
	index    int // of the source
	sessions int
	blocks   int
	s        *scratch
	units    []*matches // by unit id, nil until asked for

	totals   bm25.Stats
	df       []int64 // by phrase
	selected *postings.Bits

	ids   postings.Dictionary
	times postings.Numbers
}

func newSegment(p *Plan, src Source, index int) *segment {
	return &segment{
		plan: p, src: src, index: index,
		sessions: src.Rows(postings.Session),
		blocks:   src.Rows(postings.Block),
		units:    make([]*matches, len(p.units)),
	}
}

// unit returns the matches of u, read at the first call.
func (x *segment) unit(u *unit) (*matches, error) {
	if x.units[u.id] == nil {
		m, err := readUnit(x.src, u, x.s)
		if err != nil {
			return nil, err
		}
		x.units[u.id] = m
	}
	return x.units[u.id], nil
}

// measure reads what the segment adds to the statistics of the collection.
func (x *segment) measure() error {
	rows, tokens, err := x.src.Totals()
	if err != nil {
		return fmt.Errorf("totals: %w", err)
	}
	x.totals = bm25.Stats{Rows: rows, Tokens: tokens}
	x.df = make([]int64, len(x.plan.phrases))
	byUnit := make([]int64, len(x.units))
	for i, ph := range x.plan.phrases {
		u := ph.unit
		if x.units[u.id] == nil || byUnit[u.id] == 0 {
			m, err := x.unit(u)
			if err != nil {
				return err
			}
			if byUnit[u.id], err = x.frequency(m); err != nil {
				return err
			}
		}
		x.df[i] = byUnit[u.id]
	}
	return nil
}

// frequency is the number of live rows of m.
func (x *segment) frequency(m *matches) (int64, error) {
	if m.len() == 0 || x.src.AllLive() {
		return int64(m.len()), nil
	}
	live, err := x.src.Live(postings.Block)
	if err != nil {
		return 0, fmt.Errorf("live blocks: %w", err)
	}
	return int64(m.count(live)), nil
}

// filter evaluates the predicates of the plan and leaves the live sessions where
// they hold in x.selected; nil stands for all sessions.
func (x *segment) filter() error {
	if x.plan.where == nil && x.src.AllLive() {
		return nil
	}
	b := postings.NewBits(x.sessions)
	if x.plan.where == nil {
		b.Fill()
	} else if err := x.plan.where.add(x, b); err != nil {
		return fmt.Errorf("filter: %w", err)
	}
	if !x.src.AllLive() {
		live, err := x.src.Live(postings.Session)
		if err != nil {
			return fmt.Errorf("live sessions: %w", err)
		}
		b.And(live)
	}
	x.selected = b
	return nil
}

// columns opens what orders hits.
func (x *segment) columns() (err error) {
	if x.ids, err = x.src.Keywords("session.id"); err != nil {
		return fmt.Errorf("column session.id: %w", err)
	}
	if x.times, err = x.src.Numbers("session.time"); err != nil {
		return fmt.Errorf("column session.time: %w", err)
	}
	return nil
}

// sessionID is the id of session o, or "" if it has none.
func (x *segment) sessionID(o postings.Ord) (string, error) {
	var err error
	if x.s.ids, err = x.ids.AppendOf(x.s.ids[:0], o); err != nil || len(x.s.ids) == 0 {
		return "", err
	}
	return x.ids.Value(x.s.ids[0])
}

// blockMask returns the blocks that may match: live ones of selected sessions;
// nil stands for all.
func (x *segment) blockMask(spans postings.Spans) (*postings.Bits, error) {
	if x.selected == nil {
		return nil, nil
	}
	b := postings.NewBits(x.blocks)
	spread(spans, x.selected, b)
	if !x.src.AllLive() {
		live, err := x.src.Live(postings.Block)
		if err != nil {
			return nil, fmt.Errorf("live blocks: %w", err)
		}
		b.And(live)
	}
	return b, nil
}

// A visitor takes the matching rows of one container: the rows set in w, row i
// standing for base+i, with their scores.
type visitor func(base postings.Ord, w *window, scores *[postings.ContainerRows]float64) error

// match evaluates the text expression container by container and scores what
// matches.
func (x *segment) match(ctx context.Context, spans postings.Spans, rank *ranking, visit visitor) error {
	if empty(x.plan.match) || x.selected != nil && !x.selected.Any() {
		return nil
	}
	for _, ph := range x.plan.phrases {
		if _, err := x.unit(ph.unit); err != nil {
			return err
		}
	}
	mask, err := x.blockMask(spans)
	if err != nil {
		return err
	}
	lengths, err := x.src.Lengths()
	if err != nil {
		return fmt.Errorf("lengths: %w", err)
	}
	x.s.size(x.plan.nodes)
	for base := 0; base < x.blocks; base += postings.ContainerRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		w := x.evaluate(uint16(base>>16), mask)
		if w == nil {
			continue
		}
		end := min(base+postings.ContainerRows, x.blocks)
		n, err := lengths.Slice(postings.Ord(base), postings.Ord(end))
		if err != nil {
			return fmt.Errorf("lengths: %w", err)
		}
		x.score(uint16(base>>16), w, n, rank)
		if err := visit(postings.Ord(base), w, &x.s.scores); err != nil {
			return err
		}
	}
	return nil
}

// evaluate returns the matching rows of container key, nil if there are none.
func (x *segment) evaluate(key uint16, mask *postings.Bits) *window {
	root := x.plan.match
	if !x.possible(root, key) {
		return nil
	}
	x.rowsOf(root, key)
	w := &x.s.nodes[root.slot()]
	any := uint64(0)
	if mask == nil {
		for _, word := range w {
			any |= word
		}
	} else {
		from := mask.Words()[int(key)*windowWords:]
		from = from[:min(len(from), windowWords)]
		for i, word := range from {
			w[i] &= word
			any |= w[i]
		}
		clear(w[len(from):])
	}
	if any == 0 {
		return nil
	}
	return w
}

// possible reports whether n may match a row of container key, without looking at
// rows.
func (x *segment) possible(n matchNode, key uint16) bool {
	switch n := n.(type) {
	case *leaf:
		return x.units[n.unit.id].has(key)
	case *all:
		for _, k := range n.of {
			if !x.possible(k, key) {
				return false
			}
		}
		return true
	case *either:
		for _, k := range n.of {
			if x.possible(k, key) {
				return true
			}
		}
		return false
	case *without:
		return x.possible(n.left, key)
	default:
		panic("query: unknown bound text node")
	}
}

// rowsOf leaves the rows of n in container key in the window of its slot.
func (x *segment) rowsOf(n matchNode, key uint16) {
	w := &x.s.nodes[n.slot()]
	switch n := n.(type) {
	case *leaf:
		clear(w[:])
		x.units[n.unit.id].or(key, w)
	case *all:
		for i, k := range n.of {
			x.rowsOf(k, key)
			if kw := &x.s.nodes[k.slot()]; i == 0 {
				*w = *kw
			} else {
				for j := range w {
					w[j] &= kw[j]
				}
			}
		}
	case *either:
		clear(w[:])
		for _, k := range n.of {
			x.rowsOf(k, key)
			kw := &x.s.nodes[k.slot()]
			for j := range w {
				w[j] |= kw[j]
			}
		}
	case *without:
		x.rowsOf(n.left, key)
		x.rowsOf(n.right, key)
		left, right := &x.s.nodes[n.left.slot()], &x.s.nodes[n.right.slot()]
		for j := range w {
			w[j] = left[j] &^ right[j]
		}
	default:
		panic("query: unknown bound text node")
	}
}

// clearScores zeroes the scores of the rows of w.
func clearScores(w *window, scores *[postings.ContainerRows]float64) {
	for i, word := range w {
		for ; word != 0; word &= word - 1 {
			scores[i<<6+bits.TrailingZeros64(word)] = 0
		}
	}
}
