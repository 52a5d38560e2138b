package postings

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Validate reads the whole list and reports the first thing that its builder
// would not have written, over a unit of the given number of rows. Parts that were
// not opened are not checked.
func (l List) Validate(rows int) error {
	for i := range l.Containers() {
		c := l.Container(i)
		if err := c.validate(); err != nil {
			return fmt.Errorf("%w: container %d of a list: %w", ErrCorrupt, i, err)
		}
	}
	c, last, total := l.Cursor(), int64(-1), uint64(0)
	for c.Next() {
		if g := int(c.cont.base) + c.rank; len(l.pos) > 0 && g > 0 && g%indexStride == 0 {
			if err := l.checkIndex(g, &c); err != nil {
				return err
			}
		}
		last = int64(c.Row())
		total += uint64(c.Freq())
		c.Encoded()
		if c.err != nil {
			return c.err
		}
	}
	switch {
	case last >= int64(rows):
		return fmt.Errorf("%w: list with row %d of %d", ErrCorrupt, last, rows)
	case (l.ones || len(l.freq) > 0) && total != l.total:
		return fmt.Errorf("%w: list of %d occurrences holds %d", ErrCorrupt, l.total, total)
	case len(c.rest) > 0:
		return fmt.Errorf("%w: list with %d bytes after its positions", ErrCorrupt, len(c.rest))
	}
	return nil
}

// checkIndex compares the index of positions with where a walk has come to.
func (l *List) checkIndex(g int, c *Cursor) error {
	want := len(l.pos) - indexSize(l.rows) - len(c.rest)
	if got := binary.LittleEndian.Uint32(l.pos[4*(g/indexStride-1):]); uint64(got) != uint64(want) {
		return fmt.Errorf("%w: positions of posting %d at %d, index says %d", ErrCorrupt, g, want, got)
	}
	return nil
}

// validate checks what a walk over the rows does not see.
func (c *Container) validate() error {
	n := 0
	switch c.kind {
	case bitmapKind:
		for i := range windowWords {
			if i%rankWords == 0 {
				if r := binary.LittleEndian.Uint16(c.data[bitmapSize+i/rankWords*2:]); int(r) != n {
					return fmt.Errorf("rank %d at word %d, want %d", r, i, n)
				}
			}
			n += bits.OnesCount64(c.word(i))
		}
	case runKind:
		if int(c.low(0)) != c.runs() {
			return fmt.Errorf("%d runs, room for %d", c.low(0), c.runs())
		}
		for i := range c.runs() {
			lo, hi := c.run(i)
			n += hi - lo
		}
	default:
		return nil
	}
	if n != int(c.card) {
		return fmt.Errorf("%d rows, want %d", n, c.card)
	}
	return nil
}
