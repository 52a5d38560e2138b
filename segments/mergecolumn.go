package segments

import (
	"errors"
	"slices"

	"github.com/hansard-search/hansard/postings"
)

// columns merges column by column.
func (m *merger) columns(dst *sink) error {
	for _, c := range m.schema {
		if err := m.ctx.Err(); err != nil {
			return err
		}
		merge := m.keywords
		if c.Kind == Number {
			merge = m.numbers
		}
		if err := merge(dst, c); err != nil {
			return err
		}
	}
	return nil
}

func (m *merger) numbers(dst *sink, c Column) error {
	cols := make([]*numberColumn, len(m.in))
	for i := range m.in {
		n, err := m.in[i].seg.Numbers(c.Name)
		if err != nil {
			return err
		}
		cols[i], _ = n.(*numberColumn) // nil where the input lacks the column
	}
	encodeNumbers(dst, c.Name, m.info.Rows[c.Unit], func(yield func(uint32, int64) bool) {
		for i, col := range cols {
			if col == nil {
				continue
			}
			for _, r := range m.in[i].kept[c.Unit].runs {
				for row := r.lo; row < r.hi; row++ {
					// The column was opened, hence verified: no error is left.
					v, ok, _ := col.At(postings.Ord(row))
					if ok && !yield(r.to+row-r.lo, v) {
						return
					}
				}
			}
		}
	})
	return nil
}

// dropped marks a value that no kept row holds.
const dropped = 1<<32 - 1

// A keywordMerger is one input of the merge of a keyword column.
type keywordMerger struct {
	col  *keywordColumn
	body *keywordBody
	at   int      // the value that it is at
	ids  []uint32 // new index of each value
	kept *rowMap
	run  int    // of the forward pass
	row  uint32 // next row in it
	tmp  []int
}

func (m *merger) keywords(dst *sink, c Column) (err error) {
	enc := newKeywordEncoder(m.scratch, c.Name, m.info.Rows[c.Unit])
	defer func() { err = errors.Join(err, enc.close()) }()
	ins, s, err := m.openKeywords(c)
	if err != nil {
		return err
	}
	var value []byte
	var rows []uint32
	for n := 0; len(s.heap) > 0; n++ {
		if n%1024 == 0 && m.ctx.Err() != nil {
			return m.ctx.Err()
		}
		value, rows = append(value[:0], s.heap[0].key...), rows[:0]
		id := uint32(len(enc.offsets) - 1)
		for len(s.heap) > 0 && string(s.heap[0].key) == string(value) {
			in := &ins[s.heap[0].src]
			before := len(rows)
			if rows, err = in.appendRows(rows); err != nil {
				return err
			}
			if in.ids[in.at] = id; len(rows) == before {
				in.ids[in.at] = dropped
			}
			if in.at++; in.at < in.body.len() {
				s.next(in.body.value(in.at), true)
			} else {
				s.next(nil, false)
			}
		}
		if len(rows) > 0 {
			enc.add(value, rows)
		}
	}
	return enc.finish(dst, forwardMerger(ins))
}

func (m *merger) openKeywords(c Column) ([]keywordMerger, *sorter, error) {
	ins, s := make([]keywordMerger, len(m.in)), new(sorter)
	for i := range m.in {
		d, err := m.in[i].seg.Keywords(c.Name)
		if err != nil {
			return nil, nil, err
		}
		in := &ins[i]
		in.kept = &m.in[i].kept[c.Unit]
		if in.col, _ = d.(*keywordColumn); in.col == nil {
			continue // the input lacks the column
		}
		if in.body, err = in.col.open(); err != nil {
			return nil, nil, err
		}
		if in.ids = make([]uint32, in.body.len()); len(in.ids) > 0 {
			s.push(in.body.value(0), i)
		}
	}
	return ins, s, nil
}

// appendRows appends the new rows of the current value.
func (in *keywordMerger) appendRows(dst []uint32) ([]uint32, error) {
	set, err := in.col.Set(in.at)
	if err != nil {
		return dst, err
	}
	to := in.kept.cursor()
	for o := range set.All() {
		if row, ok := to.at(uint32(o)); ok {
			dst = append(dst, row)
		}
	}
	return dst, nil
}

// forwardMerger walks the kept rows of all inputs in order and translates their
// values.
func forwardMerger(ins []keywordMerger) func([]uint32, uint32) ([]uint32, error) {
	return func(dst []uint32, _ uint32) (_ []uint32, err error) {
		for len(ins) > 0 && ins[0].run == len(ins[0].kept.runs) {
			ins = ins[1:]
		}
		in := &ins[0]
		r := in.kept.runs[in.run]
		row := max(in.row, r.lo)
		if in.row = row + 1; in.row == r.hi {
			in.run++
		}
		if in.col == nil {
			return dst, nil
		}
		if in.tmp, err = in.col.AppendOf(in.tmp[:0], postings.Ord(row)); err != nil {
			return dst, err
		}
		for _, i := range in.tmp {
			if id := in.ids[i]; id != dropped {
				dst = append(dst, id)
			}
		}
		slices.Sort(dst)
		return dst, nil
	}
}
