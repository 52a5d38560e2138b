package postings

import (
	"fmt"
	"math/bits"
)

// A Cursor walks a list from its first row to its last, once, for merges. It
// belongs to one goroutine.
//
//	for c := l.Cursor(); c.Next(); {
//		b.AddEncoded(newRow(c.Row()), lengths[c.Row()], c.Freq(), c.Encoded())
//	}
type Cursor struct {
	list List
	cont Container
	next int    // container to load when cont is used up
	rank int    // of the current row in cont
	low  int    // of the current row
	word uint64 // bitmap: the rows of the current word after the current one
	run  int    // runs: the current run
	end  int    // runs: where it ends
	freq uint32
	rest []byte // positions from those of the first row not yet skipped
	owed uint64 // positions of earlier rows at the front of rest
	used bool   // the positions of the current row are no longer in rest
	last int64  // greatest row so far
	err  error
}

// Cursor returns a cursor before the first row.
func (l List) Cursor() Cursor {
	c := Cursor{list: l, used: true, last: -1}
	if len(l.pos) > 0 {
		c.rest = l.pos[indexSize(l.rows):]
	}
	return c
}

// Next moves to the next row and reports whether there is one.
func (c *Cursor) Next() bool {
	if !c.used {
		c.owed += uint64(c.freq)
	}
	c.rank++
	if c.rank >= int(c.cont.card) && !c.load() {
		c.used = true
		return false
	}
	switch c.cont.kind {
	case arrayKind:
		c.low = int(c.cont.low(c.rank))
	case bitmapKind:
		c.nextBit()
	default:
		c.nextInRun()
	}
	c.freq = c.cont.freqAt(int(c.cont.base) + c.rank)
	c.used = false
	if row := int64(c.Row()); row > c.last {
		c.last = row
	} else {
		c.damaged("rows that do not ascend")
	}
	return true
}

// load enters the next container.
func (c *Cursor) load() bool {
	if c.next == int(c.list.count) {
		return false
	}
	c.cont = c.list.container(c.next)
	c.next++
	c.rank = 0
	switch c.cont.kind {
	case bitmapKind:
		c.low, c.word = 0, c.cont.word(0)
	case runKind:
		c.run = 0
		lo, hi := c.cont.run(0)
		c.low, c.end = lo-1, hi
	}
	return true
}

// nextBit finds the next row of a bitmap. A damaged one that has fewer rows than
// promised repeats its last.
func (c *Cursor) nextBit() {
	i := c.low >> 6
	for c.word == 0 {
		if i++; i >= windowWords {
			c.low = ContainerRows - 1
			return
		}
		c.word = c.cont.word(i)
	}
	c.low = i<<6 + bits.TrailingZeros64(c.word)
	c.word &= c.word - 1
}

func (c *Cursor) nextInRun() {
	c.low++
	if c.low < c.end {
		return
	}
	if c.run++; c.run >= c.cont.runs() {
		c.low = ContainerRows - 1
		return
	}
	c.low, c.end = c.cont.run(c.run)
}

// Row is the current row.
func (c *Cursor) Row() Ord { return Ord(c.cont.key)<<16 + Ord(c.low) }

// Freq is the number of occurrences in the current row; zero if the list was
// opened without frequencies.
func (c *Cursor) Freq() uint32 { return c.freq }

// Encoded is the stored form of the positions of the current row, a view of the
// list's bytes, for [ListBuilder.AddEncoded]. It is there once per row: a second
// call returns nil, as does a list without positions.
func (c *Cursor) Encoded() []byte {
	if c.used || len(c.list.pos) == 0 {
		return nil
	}
	c.used = true
	if c.owed > 0 {
		n, _ := skipUvarints(c.rest, c.owed)
		c.rest, c.owed = c.rest[n:], 0
	}
	n, ok := skipUvarints(c.rest, uint64(c.freq))
	e := c.rest[:n]
	c.rest = c.rest[n:]
	if !ok {
		c.damaged("positions cut off")
	}
	return e
}

// AppendPositions appends the positions of the current row, ascending. Like
// [Cursor.Encoded] it yields them once per row.
func (c *Cursor) AppendPositions(dst []uint32) []uint32 {
	return appendGaps(dst, c.Encoded(), c.freq)
}

// Err is the first damage that the walk has met, if any. A merge asks for it after
// the last row.
func (c *Cursor) Err() error { return c.err }

func (c *Cursor) damaged(what string) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: list at row %d: %s", ErrCorrupt, c.Row(), what)
	}
}
