package segments

import (
	"github.com/hansard-search/hansard/postings"
)

// rows writes the sections that hold something per row: the same, in the same
// order, as batch.encodeRows.
func (m *merger) rows(dst *sink) error {
	var refs, totals []uint64
	for i := range m.in {
		in := &m.in[i]
		if in.seg.Rows(postings.Session) == 0 {
			continue
		}
		t, err := in.seg.sessionTable()
		if err != nil {
			return err
		}
		if in.joinSession {
			last := totals[len(totals)-2:]
			last[0] += t.totals[0]
			last[1] += t.totals[1]
		}
		for _, r := range in.kept[postings.Session].runs {
			refs = append(refs, t.refs[2*r.lo:2*r.hi]...)
			totals = append(totals, t.totals[2*r.lo:2*r.hi]...)
		}
	}
	for i := 0; i < len(totals); i += 2 {
		m.info.Blocks += int64(totals[i])
		m.info.Tokens += int64(totals[i+1])
	}
	dst.u64s(tagRefs, "", refs)
	dst.u64s(tagTotals, "", totals)
	for _, k := range spanKinds {
		if err := m.spans(dst, k[0], k[1]); err != nil {
			return err
		}
	}
	for _, step := range []func(*sink) error{m.actions, m.inherited, m.searchable, m.lengths} {
		if err := step(dst); err != nil {
			return err
		}
	}
	return m.ctx.Err()
}

// spans counts the children of each kept parent.
func (m *merger) spans(dst *sink, parent, child postings.Unit) error {
	dst.begin(tagSpans, spanName(parent, child))
	defer dst.end()
	at := uint32(0)
	var buf []uint32
	for i := range m.in {
		in := &m.in[i]
		spans, err := in.seg.Spans(parent, child)
		if err != nil {
			return err
		}
		if parent == postings.Session && in.joinSession || parent == postings.Message && in.joinMessage {
			lo, hi := spans.Run(0)
			at += uint32(hi - lo)
			if child == postings.Message && in.joinMessage {
				at-- // the first message has no row of its own
			}
		}
		for _, r := range in.kept[parent].runs {
			for p := r.lo; p < r.hi; p++ {
				lo, hi := spans.Run(postings.Ord(p))
				buf = append(buf, at)
				at += uint32(hi - lo)
			}
			dst.putU32s(buf)
			buf = buf[:0]
		}
	}
	dst.putU32s([]uint32{at})
	return nil
}

func (m *merger) actions(dst *sink) error {
	dst.begin(tagActions, "")
	defer dst.end()
	for i := range m.in {
		b, err := m.in[i].seg.must(tagActions, "")
		if err != nil {
			return err
		}
		if len(b) != 8*m.in[i].seg.Rows(postings.Action) {
			return corrupt(m.in[i].seg.name, tagActions, "%d bytes for %d actions", len(b), m.in[i].seg.Rows(postings.Action))
		}
		for _, r := range m.in[i].kept[postings.Action].runs {
			dst.put(b[8*int(r.lo) : 8*int(r.hi)])
		}
	}
	return nil
}

func (m *merger) inherited(dst *sink) error {
	for u := range postings.Unit(postings.Units) {
		var rows []uint32
		for i := range m.in {
			set, err := m.in[i].seg.Inherited(u)
			if err != nil {
				return err
			}
			c := m.in[i].kept[u].cursor()
			for o := range set.All() {
				if row, ok := c.at(uint32(o)); ok {
					rows = append(rows, row)
				}
			}
		}
		if err := encodeInherited(dst, u, postings.NewSet(rows)); err != nil {
			return err
		}
	}
	return nil
}

func (m *merger) searchable(dst *sink) error {
	var out bitWords
	for i := range m.in {
		bits := postings.NewBits(m.in[i].seg.Rows(postings.Block))
		if err := m.in[i].seg.Searchable(bits); err != nil {
			return err
		}
		c := m.in[i].kept[postings.Block].cursor()
		for o := range bits.All() {
			if row, ok := c.at(uint32(o)); ok {
				out.add(int(row))
			}
		}
	}
	dst.u64s(tagSearchable, textIndex, out.padded(m.info.Rows[postings.Block]))
	return nil
}

func (m *merger) lengths(dst *sink) error {
	dst.begin(tagLengths, textIndex)
	defer dst.end()
	for i := range m.in {
		for _, r := range m.in[i].kept[postings.Block].runs {
			v, err := m.in[i].seg.text.Slice(postings.Ord(r.lo), postings.Ord(r.hi))
			if err != nil {
				return err
			}
			dst.putU32s(v)
		}
	}
	return nil
}
