package query

import (
	"math/bits"
	"slices"

	"github.com/hansard-search/hansard/postings"
)

// hopeful reports whether n may match a row, by the sizes of the lists alone.
func (x *segment) hopeful(n matchNode) bool {
	switch n := n.(type) {
	case *leaf:
		return x.units[n.unit.id].len() > 0
	case *all:
		return !slices.ContainsFunc(n.of, func(k matchNode) bool { return !x.hopeful(k) })
	case *either:
		return slices.ContainsFunc(n.of, x.hopeful)
	case *without:
		return x.hopeful(n.left)
	case *nothing:
		return false
	default:
		panic("query: unknown bound text node")
	}
}

// A container is the stretch of one container of a segment. Its windows lie in the
// segment's scratch.
type container struct {
	x       *segment
	key     uint16
	lengths []uint32 // of its rows
	rank    *ranking
}

func (c *container) node(slot int) []uint64  { return c.x.s.nodes[slot][:] }
func (c *container) gate(depth int) []uint64 { return c.x.s.gates[depth][:] }

func (c *container) or(l *leaf, w []uint64) {
	c.x.units[l.unit.id].or(c.key, (*window)(w))
}

func (c *container) andNot(l *leaf, w []uint64) bool {
	return c.x.units[l.unit.id].andNot(c.key, (*window)(w))
}

// evaluate returns the matching rows, nil if there are none.
func (c *container) evaluate(mask *postings.Bits) *window {
	root := c.x.plan.match
	if !c.possible(root) || !rowsOf(c, root) {
		return nil
	}
	w := &c.x.s.nodes[root.slot()]
	if mask == nil {
		return w
	}
	from := mask.Words()[int(c.key)*windowWords:]
	from = from[:min(len(from), windowWords)]
	for i, word := range from {
		w[i] &= word
	}
	clear(w[len(from):])
	if !anyRow(w[:]) {
		return nil
	}
	return w
}

// possible reports whether n may match a row, without looking at rows.
func (c *container) possible(n matchNode) bool {
	switch n := n.(type) {
	case *leaf:
		return c.x.units[n.unit.id].has(c.key)
	case *all:
		for _, k := range n.of {
			if !c.possible(k) {
				return false
			}
		}
		return true
	case *either:
		for _, k := range n.of {
			if c.possible(k) {
				return true
			}
		}
		return false
	case *without:
		return c.possible(n.left)
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
