package segments

import (
	"fmt"
	"sort"

	"github.com/hansard-search/hansard/postings"
)

// A keywordColumn is the view of the three sections of a keyword column.
//
//	KVAL  values u64, offsets u32 × (values+1), bytes
//	KSET  per value: rows u32, where u32; then the sets. A value of one row has the
//	      row itself in where, another one the offset of its set among the sets:
//	      uvarint size, then a postings.Set.
//	KFWD  mode u8, bytes per index u8, six zero bytes; then per row an index plus
//	      one, or 0 (single); or u32 offsets, one more than rows, and the indexes
//	      (multi), ascending per row
type keywordColumn struct {
	f    *file
	name string
	rows int
	body lazy[keywordBody]
}

type keywordBody struct {
	offsets []uint32
	values  []byte
	heads   []uint32 // rows and where per value
	sets    []byte
	mode    byte
	width   int
	runs    []uint32 // of forwardMulti
	forward []byte
}

func (c *keywordColumn) load() error {
	_, err := c.body.get(c.parse)
	return err
}

func (c *keywordColumn) open() (*keywordBody, error) {
	if b := c.body.v.Load(); b != nil {
		return b, nil
	}
	if err := c.load(); err != nil {
		return nil, err
	}
	return c.body.v.Load(), nil
}

func (c *keywordColumn) bad(tag, format string, args ...any) error {
	return corrupt(c.f.name, tag+" "+c.name, format, args...)
}

func (c *keywordColumn) parse() (k keywordBody, err error) {
	if err := c.parseValues(&k); err != nil {
		return k, err
	}
	n := len(k.offsets) - 1
	b, err := c.f.must(tagSets, c.name)
	if err != nil {
		return k, err
	}
	if len(b) < 8*n {
		return k, c.bad(tagSets, "%d bytes for %d values", len(b), n)
	}
	k.heads, k.sets = u32s(b[:8*n]), b[8*n:]
	return k, c.parseForward(&k)
}

func (c *keywordColumn) parseValues(k *keywordBody) error {
	b, err := c.f.must(tagValues, c.name)
	if err != nil {
		return err
	}
	if len(b) < 12 || le.Uint64(b) > uint64(len(b)-12)/4 {
		return c.bad(tagValues, "%d bytes are too few", len(b))
	}
	n := int(le.Uint64(b))
	runs := b[8 : 8+4*(n+1)]
	k.values = b[8+len(runs):]
	k.offsets, err = c.f.offsets(runs, tagValues+" "+c.name, n, len(k.values))
	return err
}

func (c *keywordColumn) parseForward(k *keywordBody) error {
	b, err := c.f.must(tagForward, c.name)
	if err != nil {
		return err
	}
	if len(b) < 8 {
		return c.bad(tagForward, "%d bytes are too few", len(b))
	}
	n := len(k.offsets) - 1
	k.mode, k.width, k.forward = b[0], int(b[1]), b[8:]
	size := c.rows
	switch k.mode {
	case forwardSingle:
		n++
	case forwardMulti:
		if len(k.forward) < 4*(c.rows+1) {
			return c.bad(tagForward, "offsets cut short")
		}
		runs := k.forward[:4*(c.rows+1)]
		size = int(le.Uint32(runs[4*c.rows:]))
		if k.runs, err = c.f.offsets(runs, tagForward+" "+c.name, c.rows, size); err != nil {
			return err
		}
		k.forward = k.forward[len(runs):]
	default:
		return c.bad(tagForward, "unknown mode %d", k.mode)
	}
	if k.width != width(uint64(max(n-1, 0))) || len(k.forward) != k.width*size {
		return c.bad(tagForward, "%d indexes of %d bytes in %d", size, k.width, len(k.forward))
	}
	return nil
}

func (k *keywordBody) value(i int) []byte { return k.values[k.offsets[i]:k.offsets[i+1]] }

func (k *keywordBody) len() int { return len(k.offsets) - 1 }

// Len is the number of distinct values.
func (c *keywordColumn) Len() int {
	k, err := c.open()
	if err != nil {
		return 0 // a column is opened before it is handed out
	}
	return k.len()
}

// at opens the column and checks that it has a value i.
func (c *keywordColumn) at(i int) (*keywordBody, error) {
	k, err := c.open()
	if err == nil && uint(i) >= uint(k.len()) {
		err = fmt.Errorf("segment %s: column %s: no value %d of %d", c.f.name, c.name, i, k.len())
	}
	return k, err
}

// Value is the i-th value in byte order.
func (c *keywordColumn) Value(i int) (string, error) {
	k, err := c.at(i)
	if err != nil {
		return "", err
	}
	return string(k.value(i)), nil
}

// Seek returns the first i whose value is at or after v, or Len.
func (c *keywordColumn) Seek(v string) (int, error) {
	k, err := c.open()
	if err != nil {
		return 0, err
	}
	return sort.Search(k.len(), func(i int) bool { return string(k.value(i)) >= v }), nil
}

// Count is the number of rows that hold the i-th value.
func (c *keywordColumn) Count(i int) (int, error) {
	k, err := c.at(i)
	if err != nil {
		return 0, err
	}
	return int(k.heads[2*i]), nil
}

// Set is the rows that hold the i-th value.
func (c *keywordColumn) Set(i int) (postings.Set, error) {
	k, err := c.at(i)
	if err != nil {
		return postings.Set{}, err
	}
	n, where := k.heads[2*i], k.heads[2*i+1]
	if n == 1 {
		return postings.NewSet(k.heads[2*i+1 : 2*i+2]), nil
	}
	d := decoder{b: k.sets[min(int(where), len(k.sets)):]}
	b := d.take(int(d.uvarint()))
	if d.bad {
		return postings.Set{}, c.bad(tagSets, "set of value %d cut short", i)
	}
	set, err := postings.ReadSet(b)
	if err != nil {
		return set, c.bad(tagSets, "value %d: %v", i, err)
	}
	return set, nil
}

// AddRows adds the rows that hold the i-th value to b, which covers the unit.
func (c *keywordColumn) AddRows(i int, b *postings.Bits) error {
	k, err := c.at(i)
	if err != nil {
		return err
	}
	if k.heads[2*i] == 1 {
		row := k.heads[2*i+1]
		if int64(row) >= int64(b.Len()) {
			return c.bad(tagSets, "value %d in row %d of %d", i, row, b.Len())
		}
		b.Add(postings.Ord(row))
		return nil
	}
	set, err := c.Set(i)
	if err != nil {
		return err
	}
	set.AddTo(b)
	return nil
}

// AppendOf appends the indexes of the values that row o holds, ascending.
func (c *keywordColumn) AppendOf(dst []int, o postings.Ord) ([]int, error) {
	k, err := c.open()
	if err != nil || int(o) >= c.rows {
		return dst, err
	}
	if k.mode == forwardSingle {
		i := packed(k.forward, int(o), k.width)
		if i > uint64(k.len()) {
			return dst, c.bad(tagForward, "row %d has value %d of %d", o, i-1, k.len())
		}
		if i > 0 {
			dst = append(dst, int(i-1))
		}
		return dst, nil
	}
	for j := k.runs[o]; j < k.runs[o+1]; j++ {
		i := packed(k.forward, int(j), k.width)
		if i >= uint64(k.len()) {
			return dst, c.bad(tagForward, "row %d has value %d of %d", o, i, k.len())
		}
		dst = append(dst, int(i))
	}
	return dst, nil
}
