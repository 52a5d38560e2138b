package segments

import (
	"bytes"
	"math"
	"slices"

	"github.com/hansard-search/hansard/postings"
)

// numbers recounts what a number column says of itself.
func (c *checker) numbers(col Column) {
	name := tagNumbers + " " + col.Name
	n, err := c.s.Numbers(col.Name)
	if c.failed(name, err) {
		return
	}
	column := n.(*numberColumn)
	body, err := column.open()
	if c.failed(name, err) {
		return
	}
	lo, hi, count := int64(math.MaxInt64), int64(math.MinInt64), uint64(0)
	for o := range postings.Ord(column.rows) {
		v := body.lo + int64(packed(body.data, int(o), body.width))
		if !body.has(o) {
			if v != body.lo {
				c.fault(FaultColumnValue, name, "row %d has no number and yet %d", o, v)
			}
			continue
		}
		lo, hi = min(lo, v), max(hi, v)
		count++
	}
	if count == 0 {
		lo, hi = 0, 0
	}
	if lo != body.lo || hi != body.hi || count != body.count {
		c.fault(FaultColumnValue, name, "%d numbers from %d to %d, says %d from %d to %d", count, lo, hi, body.count, body.lo, body.hi)
	}
	if body.width != width(uint64(hi)-uint64(lo)) {
		c.fault(FaultColumnValue, name, "%d bytes for numbers from %d to %d", body.width, lo, hi)
	}
	if r := column.rows % 64; r != 0 && body.present != nil && body.present[len(body.present)-1]>>r != 0 {
		c.fault(FaultColumnValue, name, "presence beyond the last row")
	}
}

// keywords turns the inverted side of a keyword column around and compares it with
// the forward side.
func (c *checker) keywords(col Column) {
	d, err := c.s.Keywords(col.Name)
	if c.failed(tagValues+" "+col.Name, err) {
		return
	}
	column := d.(*keywordColumn)
	k, err := column.open()
	if c.failed(tagValues+" "+col.Name, err) {
		return
	}
	starts := make([]uint32, column.rows+1) // counts of the row before, then sums
	if !c.eachPair(column, k, func(_, row uint32) { starts[row+1]++ }) {
		return
	}
	for i := 1; i < len(starts); i++ {
		starts[i] += starts[i-1]
	}
	ids := make([]int, starts[column.rows])
	next := slices.Clone(starts)
	c.eachPair(column, k, func(value, row uint32) {
		ids[next[row]] = int(value)
		next[row]++
	})
	var got []int
	for row := range column.rows {
		got, err = column.AppendOf(got[:0], postings.Ord(row))
		if c.failed(tagForward+" "+col.Name, err) {
			return
		}
		if want := ids[starts[row]:starts[row+1]]; !slices.Equal(got, want) {
			c.fault(FaultColumnValue, tagForward+" "+col.Name, "row %d has the values %v, the sets say %v", row, got, want)
		}
	}
}

// eachPair calls f for every value and each of its rows, and reports whether the
// values and sets are sound.
func (c *checker) eachPair(column *keywordColumn, k *keywordBody, f func(value, row uint32)) bool {
	sound := true
	bad := func(code, tag, format string, args ...any) {
		c.fault(code, tag+" "+column.name, format, args...)
		sound = false
	}
	for i := range k.len() {
		if i > 0 && bytes.Compare(k.value(i-1), k.value(i)) >= 0 {
			bad(FaultDictionaryOrder, tagValues, "value %d is not after the one before", i)
		}
		set, err := column.Set(i)
		if c.failed(tagSets, err) {
			return false
		}
		if n := set.Len(); n != int(k.heads[2*i]) || n == 0 {
			bad(FaultColumnValue, tagSets, "value %d is in %d rows, says %d", i, n, k.heads[2*i])
		}
		for o := range set.All() {
			if int(o) >= column.rows {
				bad(FaultColumnValue, tagSets, "value %d is in row %d of %d", i, o, column.rows)
				break
			}
			f(uint32(i), uint32(o))
		}
	}
	return sound
}
