package segments

import (
	"fmt"

	"github.com/hansard-search/hansard/postings"
)

// numberHead is the fixed part of a NUMB section: width, flags, six zero bytes,
// least and greatest number, rows with a number.
const numberHead = 32

const flagSparse = 1 // a presence bitmap follows the head

// A numberColumn is the view of one NUMB section. Numbers are stored as their
// distance from the least one, in the fewest bytes that hold every distance; rows
// without a number store zero and are told apart by the presence bitmap.
type numberColumn struct {
	f    *file
	sect *section
	rows int
	body lazy[numberBody]
}

type numberBody struct {
	width   int
	lo, hi  int64
	count   uint64
	present []uint64 // nil when every row has a number
	data    []byte
}

func (c *numberColumn) open() (*numberBody, error) {
	b, err := c.body.get(c.parse)
	return &b, err
}

func (c *numberColumn) parse() (n numberBody, err error) {
	b, err := c.f.read(c.sect, 0, c.sect.size)
	if err != nil {
		return n, err
	}
	name := c.sect.String()
	if len(b) < numberHead {
		return n, corrupt(c.f.name, name, "%d bytes are too few", len(b))
	}
	n = numberBody{width: int(b[0]), lo: int64(le.Uint64(b[8:])), hi: int64(le.Uint64(b[16:])), count: le.Uint64(b[24:])}
	rest := b[numberHead:]
	if b[1]&flagSparse != 0 {
		words := (c.rows + 63) / 64
		if len(rest) < 8*words {
			return n, corrupt(c.f.name, name, "presence cut short")
		}
		n.present, rest = u64s(rest[:8*words]), rest[8*words:]
		if n.present == nil {
			n.present = []uint64{}
		}
	}
	okWidth := n.width == 0 || n.width == 1 || n.width == 2 || n.width == 4 || n.width == 8
	if !okWidth || len(rest) != n.width*c.rows || n.count > uint64(c.rows) || n.lo > n.hi ||
		(n.present == nil) != (n.count == uint64(c.rows)) {
		return n, corrupt(c.f.name, name, "%d numbers of %d bytes in %d", n.count, n.width, len(rest))
	}
	n.data = rest
	return n, nil
}

func (n *numberBody) has(o postings.Ord) bool {
	return n.present == nil || n.present[o>>6]>>(o&63)&1 != 0
}

// At returns the number of row o and whether it has one.
func (c *numberColumn) At(o postings.Ord) (int64, bool, error) {
	n, err := c.open()
	if err != nil || int(o) >= c.rows || !n.has(o) {
		return 0, false, err
	}
	return n.lo + int64(packed(n.data, int(o), n.width)), true, nil
}

// Bounds returns the least and the greatest number, and false if there is none.
func (c *numberColumn) Bounds() (lo, hi int64, any bool) {
	n, err := c.open()
	if err != nil {
		return -1 << 63, 1<<63 - 1, true // damage shows when the rows are read
	}
	return n.lo, n.hi, n.count > 0
}

// AddRange adds the rows whose number lies in [lo, hi] to b.
func (c *numberColumn) AddRange(lo, hi int64, b *postings.Bits) error {
	n, err := c.open()
	if err != nil {
		return err
	}
	if b.Len() != c.rows {
		return fmt.Errorf("segment %s: %s: bitset of %d rows for %d", c.f.name, c.sect, b.Len(), c.rows)
	}
	if n.count == 0 || hi < n.lo || lo > n.hi || lo > hi {
		return nil
	}
	from, to := uint64(0), uint64(n.hi)-uint64(n.lo)
	if lo > n.lo {
		from = uint64(lo) - uint64(n.lo)
	}
	if hi < n.hi {
		to = uint64(hi) - uint64(n.lo)
	}
	words := b.Words()
	for i := range words {
		m := n.matches(i, min(64, c.rows-64*i), from, to)
		if n.present != nil {
			m &= n.present[i]
		}
		words[i] |= m
	}
	return nil
}

// matches compares the numbers of the word-th 64 rows, of which there are rows.
// The distance is taken modulo 2^64, so one comparison does for both ends.
func (n *numberBody) matches(word, rows int, from, to uint64) (m uint64) {
	span := to - from
	at := word * 64
	switch n.width {
	case 0:
		if from == 0 {
			m = ^uint64(0) >> (64 - rows)
		}
	case 1:
		for i, v := range n.data[at : at+rows] {
			m |= bit(uint64(v)-from <= span) << i
		}
	case 2:
		d := n.data[2*at : 2*(at+rows)]
		for i := range rows {
			m |= bit(uint64(le.Uint16(d[2*i:]))-from <= span) << i
		}
	case 4:
		d := n.data[4*at : 4*(at+rows)]
		for i := range rows {
			m |= bit(uint64(le.Uint32(d[4*i:]))-from <= span) << i
		}
	default:
		d := n.data[8*at : 8*(at+rows)]
		for i := range rows {
			m |= bit(le.Uint64(d[8*i:])-from <= span) << i
		}
	}
	return m
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// openColumns makes a reader per column of the schema. A column whose sections
// are missing fails when it is used.
func (s *Segment) openColumns() {
	s.keywords = make(map[string]*keywordColumn)
	s.numbers = make(map[string]*numberColumn)
	for _, c := range s.schema {
		rows := s.Rows(c.Unit)
		if c.Kind == Number {
			s.numbers[c.Name] = &numberColumn{f: s.file, sect: s.find(tagNumbers, c.Name), rows: rows}
			continue
		}
		s.keywords[c.Name] = &keywordColumn{f: s.file, name: c.Name, rows: rows}
	}
}

// Keywords opens a keyword column by its name. One that the segment does not have
// is empty.
func (s *Segment) Keywords(column string) (postings.Dictionary, error) {
	c := s.keywords[column]
	if c == nil {
		return noColumn{}, nil
	}
	return c, c.load()
}

// Numbers opens a number column by its name. One that the segment does not have
// is empty.
func (s *Segment) Numbers(column string) (postings.Numbers, error) {
	c := s.numbers[column]
	if c == nil {
		return noColumn{}, nil
	}
	if c.sect == nil {
		return nil, corrupt(s.name, tagNumbers+" "+column, "missing")
	}
	_, err := c.open()
	return c, err
}

// noColumn is a column that holds nothing.
type noColumn struct{}

func (noColumn) Len() int                                            { return 0 }
func (noColumn) Value(int) (string, error)                           { return "", nil }
func (noColumn) Seek(string) (int, error)                            { return 0, nil }
func (noColumn) Count(int) (int, error)                              { return 0, nil }
func (noColumn) AddRows(int, *postings.Bits) error                   { return nil }
func (noColumn) AppendOf(dst []int, _ postings.Ord) ([]int, error)   { return dst, nil }
func (noColumn) At(postings.Ord) (int64, bool, error)                { return 0, false, nil }
func (noColumn) Bounds() (lo, hi int64, any bool)                    { return 0, 0, false }
func (noColumn) AddRange(lo, hi int64, b *postings.Bits) (err error) { return nil }
