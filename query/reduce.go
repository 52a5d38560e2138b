package query

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/hansard-search/hansard/postings"
)

// A reducer makes the groups of one segment.
type reducer struct {
	x      *segment
	plan   *Plan
	by     []groupColumn
	read   []func(postings.Ord) (int64, bool, error) // by metric field
	keep   []bool                                    // all its values are needed
	groups map[string]*tally                         // by the encoded keys

	key  []byte     // reused
	keys []GroupKey // reused
}

// A groupColumn is one field that is grouped by.
type groupColumn struct {
	words   postings.Dictionary // nil for numbers
	numbers postings.Numbers
	spans   *postings.Spans // of the sessions that own the rows, if the column is theirs
}

// fewValues is the size of a dictionary up to which groups are made by intersecting
// bitmaps. Beyond it, the values of each row are looked up.
const fewValues = 256

func (r *reducer) run() error {
	unit := r.plan.rowUnit
	rows, _, err := r.x.selectRows(unit.Rows, r.plan.rows)
	if err != nil {
		return err
	}
	if !rows.Any() {
		return nil
	}
	if err := r.open(unit); err != nil {
		return err
	}
	for _, c := range r.by {
		if c.words == nil || c.words.Len() > fewValues {
			return r.each(rows)
		}
	}
	return r.split(rows, 0)
}

// open opens the columns of groups and metrics.
func (r *reducer) open(unit *UnitSpec) error {
	for _, field := range r.plan.pipe.group {
		name := columnOf(unit, field)
		var c groupColumn
		var err error
		if field == "exit_code" {
			c.numbers, err = r.x.src.Numbers(name)
		} else {
			c.words, err = r.x.src.Keywords(name)
		}
		if err == nil && strings.HasPrefix(field, ownerPrefix) {
			var spans postings.Spans
			spans, err = r.x.src.Spans(postings.Session, unit.Rows)
			c.spans = &spans
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", name, err)
		}
		r.by = append(r.by, c)
	}
	for _, field := range metricFields(r.plan.pipe.agg) {
		read, err := r.metric(unit, field)
		if err != nil {
			return fmt.Errorf("metric %s: %w", field, err)
		}
		r.read, r.keep = append(r.read, read), append(r.keep, keeps(r.plan.pipe.agg, field))
	}
	return nil
}

// metric returns the reader of a metric field. A flag reads as 0 or 1.
func (r *reducer) metric(unit *UnitSpec, field string) (func(postings.Ord) (int64, bool, error), error) {
	name := columnOf(unit, field)
	if field != "is_error" {
		numbers, err := r.x.src.Numbers(name)
		if err != nil {
			return nil, err
		}
		return numbers.At, nil
	}
	words, err := r.x.src.Keywords(name)
	if err != nil {
		return nil, err
	}
	n := r.x.src.Rows(unit.Rows)
	if err := r.x.budget.take(int64(n) / 4); err != nil {
		return nil, err
	}
	no, yes := postings.NewBits(n), postings.NewBits(n)
	if err := (equals{"0"}).addRows(words, no, r.x.budget); err != nil {
		return nil, err
	}
	if err := (equals{"1"}).addRows(words, yes, r.x.budget); err != nil {
		return nil, err
	}
	return func(o postings.Ord) (int64, bool, error) {
		if yes.Has(o) {
			return 1, true, nil
		}
		return 0, no.Has(o), nil
	}, nil
}

// split makes the groups of rows by the fields from depth on: a bitmap for each value.
func (r *reducer) split(rows *postings.Bits, depth int) error {
	if depth == len(r.by) {
		return r.leaf(rows)
	}
	if err := r.x.budget.alive(); err != nil {
		return err
	}
	c := &r.by[depth]
	rest, some := postings.GetBits(rows.Len()), postings.GetBits(rows.Len())
	defer postings.PutBits(rest)
	defer postings.PutBits(some)
	rest.Or(rows)
	for i := range c.words.Len() {
		some.Reset(rows.Len())
		if err := c.addRows(r.x, i, some); err != nil {
			return err
		}
		some.And(rows)
		if !some.Any() {
			continue
		}
		rest.AndNot(some)
		v, err := c.words.Value(i)
		if err != nil {
			return err
		}
		r.keys = append(r.keys[:depth], GroupKey{Value: v})
		if err := r.split(some, depth+1); err != nil {
			return err
		}
	}
	if !rest.Any() {
		return nil
	}
	r.keys = append(r.keys[:depth], GroupKey{Missing: true})
	return r.split(rest, depth+1)
}

// addRows adds the rows that hold the i-th value, or whose session does.
func (c *groupColumn) addRows(x *segment, i int, out *postings.Bits) error {
	if c.spans == nil {
		return c.words.AddRows(i, out)
	}
	sessions := postings.GetBits(x.sessions)
	defer postings.PutBits(sessions)
	if err := c.words.AddRows(i, sessions); err != nil {
		return err
	}
	postings.Lower(sessions, out, *c.spans)
	return nil
}

// leaf tallies the rows of the group of r.keys.
func (r *reducer) leaf(rows *postings.Bits) error {
	t, err := r.tally()
	if err != nil {
		return err
	}
	t.count += int64(rows.Count())
	if len(r.read) == 0 {
		return nil
	}
	for o, ok := rows.Next(0); ok; o, ok = rows.Next(o + 1) {
		if err := r.gather(t, o); err != nil {
			return err
		}
	}
	return nil
}

// each tallies row by row.
func (r *reducer) each(rows *postings.Bits) error {
	var ids []int
	for o, ok := rows.Next(0); ok; o, ok = rows.Next(o + 1) {
		if o&4095 == 0 {
			if err := r.x.budget.alive(); err != nil {
				return err
			}
		}
		r.keys = r.keys[:0]
		for i := range r.by {
			k, err := r.by[i].key(o, &ids)
			if err != nil {
				return err
			}
			r.keys = append(r.keys, k)
		}
		t, err := r.tally()
		if err != nil {
			return err
		}
		t.count++
		if err := r.gather(t, o); err != nil {
			return err
		}
	}
	return nil
}

// key is the value of row o.
func (c *groupColumn) key(o postings.Ord, ids *[]int) (GroupKey, error) {
	if c.spans != nil {
		o = c.spans.Of(o)
	}
	if c.words == nil {
		n, known, err := c.numbers.At(o)
		if err != nil || !known {
			return GroupKey{Missing: true}, err
		}
		return GroupKey{Value: strconv.FormatInt(n, 10)}, nil
	}
	var err error
	if *ids, err = c.words.AppendOf((*ids)[:0], o); err != nil || len(*ids) == 0 {
		return GroupKey{Missing: true}, err
	}
	v, err := c.words.Value((*ids)[0])
	return GroupKey{Value: v}, err
}

// tally is the group of r.keys.
func (r *reducer) tally() (*tally, error) {
	r.key = r.key[:0]
	for _, k := range r.keys {
		if k.Missing {
			r.key = append(r.key, 0)
			continue
		}
		r.key = append(r.key, 1)
		r.key = binary.AppendUvarint(r.key, uint64(len(k.Value)))
		r.key = append(r.key, k.Value...)
	}
	if t := r.groups[string(r.key)]; t != nil {
		return t, nil
	}
	if err := r.x.budget.take(int64(groupBytes + len(r.key) + 64*len(r.keys))); err != nil {
		return nil, err
	}
	t := &tally{keys: append([]GroupKey{}, r.keys...), series: make([]series, len(r.read))}
	for i := range t.keys {
		t.keys[i].Value = strings.Clone(t.keys[i].Value) // a view of a segment that may be closed
	}
	r.groups[string(r.key)] = t
	return t, nil
}

// groupBytes is about what a group takes without its keys.
const groupBytes = 256

// gather takes the numbers of row o.
func (r *reducer) gather(t *tally, o postings.Ord) error {
	for i, read := range r.read {
		v, known, err := read(o)
		if err != nil {
			return err
		}
		if !known {
			continue
		}
		s := &t.series[i]
		s.add(v)
		if !r.keep[i] {
			continue
		}
		if len(s.values) == cap(s.values) {
			if err := r.x.budget.take(int64(8 * max(len(s.values), 8))); err != nil {
				return err
			}
		}
		s.values = append(s.values, v)
	}
	return nil
}
