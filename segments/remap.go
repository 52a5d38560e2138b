package segments

import "sort"

// A rowMap sends the rows of an input that a merge keeps to their new place: runs
// of rows, ascending on both sides.
type rowMap struct {
	runs []rowRun
	rows int // in all runs
}

type rowRun struct{ lo, hi, to uint32 }

// add keeps the rows [lo, hi), which lie beyond those kept before.
func (m *rowMap) add(lo, hi uint32) {
	if lo >= hi {
		return
	}
	m.rows += int(hi - lo)
	if n := len(m.runs); n > 0 && m.runs[n-1].hi == lo {
		m.runs[n-1].hi = hi
		return
	}
	m.runs = append(m.runs, rowRun{lo: lo, hi: hi})
}

// place sends the first kept row to row at, and the others behind it.
func (m *rowMap) place(at int) {
	for i := range m.runs {
		r := &m.runs[i]
		r.to = uint32(at)
		at += int(r.hi - r.lo)
	}
}

// A rowCursor looks ascending rows up in a rowMap.
type rowCursor struct {
	runs []rowRun // from the one of the last row on
}

func (m *rowMap) cursor() rowCursor { return rowCursor{m.runs} }

// at returns the new place of a row, and false if it is not kept.
func (c *rowCursor) at(row uint32) (uint32, bool) {
	if len(c.runs) > 0 && row >= c.runs[0].hi {
		c.runs = c.runs[sort.Search(len(c.runs), func(i int) bool { return row < c.runs[i].hi }):]
	}
	if len(c.runs) == 0 || row < c.runs[0].lo {
		return 0, false
	}
	return c.runs[0].to + row - c.runs[0].lo, true
}
