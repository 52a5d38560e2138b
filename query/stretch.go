package query

// A stretch is a run of rows of one segment in which a text expression is evaluated
// and scored: a container, or one of its ranges. A window is a bit per row of it.
type stretch interface {
	node(slot int) []uint64                 // the window of a node; garbage before it is evaluated
	gate(depth int) []uint64                // a window for the rows where a node counts
	or(l *leaf, w []uint64)                 // adds the rows of a phrase to w
	andNot(l *leaf, w []uint64) (done bool) // removes them, if that takes no window
	phrase(l *leaf, gate []uint64)          // adds what a phrase scores in the rows of gate
}

// rowsOf leaves the rows of n in the window of its slot and reports whether there are
// any; those of a leaf below another node need not be kept.
func rowsOf(s stretch, n matchNode) bool {
	w := s.node(n.slot())
	switch n := n.(type) {
	case *leaf:
		clear(w)
		s.or(n, w)
	case *all:
		for i, k := range n.of {
			rowsOf(s, k)
			any := uint64(0)
			for j, word := range s.node(k.slot()) {
				if i > 0 {
					word &= w[j]
				}
				w[j] = word
				any |= word
			}
			if any == 0 {
				return false
			}
		}
		return true
	case *either:
		clear(w)
		for _, k := range n.of {
			if l, ok := k.(*leaf); ok {
				s.or(l, w)
				continue
			}
			rowsOf(s, k)
			for j, word := range s.node(k.slot()) {
				w[j] |= word
			}
		}
	case *without:
		if !rowsOf(s, n.left) {
			clear(w)
			return false
		}
		copy(w, s.node(n.left.slot()))
		if l, ok := n.right.(*leaf); !ok || !s.andNot(l, w) {
			rowsOf(s, n.right)
			for j, word := range s.node(n.right.slot()) {
				w[j] &^= word
			}
		}
	default:
		panic("query: unknown bound text node")
	}
	return anyRow(w)
}

// scoreRows scores the phrases under n in the rows of gate, where all above n match. A
// phrase counts in a row where every operator above it matches: rows of an AND that
// fails elsewhere in an OR, and the right side of a NOT, add nothing. Phrases are added
// in the order of the query. gate is what matches root; depth names the gate that is free
// below n.
func scoreRows(s stretch, root, n matchNode, gate []uint64, depth int) {
	switch n := n.(type) {
	case *leaf:
		s.phrase(n, gate)
	case *either:
		for _, k := range n.of {
			scoreRows(s, root, k, gate, depth)
		}
	case *all:
		below := narrow(s, root, n, gate, depth)
		for _, k := range n.of {
			scoreRows(s, root, k, below, depth+1)
		}
	case *without:
		scoreRows(s, root, n.left, narrow(s, root, n, gate, depth), depth+1)
	default:
		panic("query: unknown bound text node")
	}
}

// narrow returns the rows of gate where n matches.
func narrow(s stretch, root, n matchNode, gate []uint64, depth int) []uint64 {
	if n == root {
		return gate
	}
	own, below := s.node(n.slot()), s.gate(depth)
	for i := range below {
		below[i] = gate[i] & own[i]
	}
	return below
}

func anyRow(w []uint64) bool {
	any := uint64(0)
	for _, word := range w {
		any |= word
	}
	return any != 0
}
