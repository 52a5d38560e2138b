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

// rowsOf leaves the rows of n in container key in the window of its slot; that of a
// leaf below another node is not kept.
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
			if l, ok := k.(*leaf); ok {
				x.units[l.unit.id].or(key, w)
				continue
			}
			x.rowsOf(k, key)
			kw := &x.s.nodes[k.slot()]
			for j := range w {
				w[j] |= kw[j]
			}
		}
	case *without:
		x.rowsOf(n.left, key)
		*w = x.s.nodes[n.left.slot()]
		if l, ok := n.right.(*leaf); ok && x.units[l.unit.id].andNot(key, w) {
			return
		}
		x.rowsOf(n.right, key)
		right := &x.s.nodes[n.right.slot()]
		for j := range w {
			w[j] &^= right[j]
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
