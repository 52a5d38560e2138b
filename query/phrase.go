package query

import (
	"fmt"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/hansard-search/hansard/postings"
)

const windowWords = postings.ContainerRows / 64

// window is the rows of one container of one segment.
type window [windowWords]uint64

func (w *window) has(low uint16) bool { return w[low>>6]>>(low&63)&1 != 0 }

func (w *window) count() (n int) {
	for _, word := range w {
		n += bits.OnesCount64(word)
	}
	return n
}

// matches are the rows of one segment that hold a unit, with the number of its
// instances: a posting list as it stands or, for phrases and prefixes, one made of
// several.
type matches struct {
	list  postings.List // of a simple unit
	keys  []uint16      // else containers, ascending
	start []int32       // of keys[i] in rows; one more at the end
	rows  []uint16
	freqs []uint32
}

func (m *matches) simple() bool { return m.start == nil }

// len is the number of rows, dead ones included.
func (m *matches) len() int {
	if m.simple() {
		return m.list.Len()
	}
	return len(m.rows)
}

// part returns the rows of container key of a compound unit.
func (m *matches) part(key uint16) (rows []uint16, freqs []uint32) {
	i, ok := slices.BinarySearch(m.keys, key)
	if !ok {
		return nil, nil
	}
	return m.rows[m.start[i]:m.start[i+1]], m.freqs[m.start[i]:m.start[i+1]]
}

// has reports whether container key holds a row.
func (m *matches) has(key uint16) bool {
	if m.simple() {
		i := m.list.Seek(key)
		return i < m.list.Containers() && m.list.Key(i) == key
	}
	_, ok := slices.BinarySearch(m.keys, key)
	return ok
}

// or adds the rows of container key to w.
func (m *matches) or(key uint16, w *window) {
	if m.simple() {
		if c, ok := m.list.Find(key); ok {
			c.OrInto((*[windowWords]uint64)(w))
		}
		return
	}
	rows, _ := m.part(key)
	for _, r := range rows {
		w[r>>6] |= 1 << (r & 63)
	}
}

// andNot removes the rows of container key from w; it does nothing and returns false
// for a compound unit.
func (m *matches) andNot(key uint16, w *window) bool {
	if !m.simple() {
		return false
	}
	if c, ok := m.list.Find(key); ok {
		c.AndNotInto((*[windowWords]uint64)(w))
	}
	return true
}

// addTo adds all rows to b.
func (m *matches) addTo(b *postings.Bits) {
	if m.simple() {
		m.list.AddTo(b)
		return
	}
	for i, key := range m.keys {
		base := postings.Ord(key) << 16
		for _, r := range m.rows[m.start[i]:m.start[i+1]] {
			b.Add(base + postings.Ord(r))
		}
	}
}

// count is the number of rows in live.
func (m *matches) count(live *postings.Bits) int {
	if m.simple() {
		return postings.CountIn(m.list, live)
	}
	n := 0
	for i, key := range m.keys {
		base := postings.Ord(key) << 16
		for _, r := range m.rows[m.start[i]:m.start[i+1]] {
			if live.Has(base + postings.Ord(r)) {
				n++
			}
		}
	}
	return n
}

// closePart ends the container key, whose rows were appended.
func (m *matches) closePart(key uint16) {
	if last := m.start[len(m.start)-1]; int(last) < len(m.rows) {
		m.keys = append(m.keys, key)
		m.start = append(m.start, int32(len(m.rows)))
	}
}

// readUnit reads the matches of u in src.
func readUnit(src Source, u *unit, s *scratch) (*matches, error) {
	m := new(matches)
	if u.simple() {
		var err error
		if m.list, err = src.Term(u.keys[0], u.need); err != nil {
			return nil, fmt.Errorf("term %q: %w", u.keys[0], err)
		}
		return m, nil
	}
	heads := u.keys
	var prefix []postings.List
	if u.prefix {
		heads = u.keys[:len(u.keys)-1]
		last := u.keys[len(heads)]
		for l, err := range src.Prefix(last, u.need) {
			if err != nil {
				return nil, fmt.Errorf("terms %q*: %w", last, err)
			}
			if l.Len() > 0 {
				prefix = append(prefix, l)
			}
			if err := s.budget.expanded(u, len(prefix)); err != nil {
				return nil, err
			}
			if len(prefix)&255 == 0 {
				if err := s.budget.alive(); err != nil {
					return nil, err
				}
			}
		}
		if err := s.budget.take(int64(len(prefix)) * listBytes); err != nil {
			return nil, err
		}
	}
	lists := make([]postings.List, len(heads))
	for i, t := range heads {
		var err error
		if lists[i], err = src.Term(t, u.need); err != nil {
			return nil, fmt.Errorf("term %q: %w", t, err)
		}
		if lists[i].Len() == 0 {
			m.start = []int32{0}
			return m, nil
		}
	}
	if u.prefix && len(heads) == 0 && len(prefix) == 1 {
		m.list = prefix[0]
		return m, nil
	}
	m.start = append(m.start, 0)
	if u.prefix && len(heads) == 0 {
		return m, unite(m, prefix, u.need, s)
	}
	return m, follow(m, lists, prefix, u.prefix, s)
}

// What the budget counts per list of a prefix and per row of a compound unit: slices
// that grow are up to twice as long as what is in them.
const (
	listBytes = 2 * int64(unsafe.Sizeof(postings.List{}))
	rowBytes  = 2 * (2 + 4)
)

// unite makes the union of lists, in which a row has the sum of the frequencies:
// no position holds two terms.
func unite(m *matches, lists []postings.List, need postings.Need, s *scratch) error {
	s.count()
	for key, ok := firstKey(lists, 0); ok; key, ok = firstKey(lists, int(key)+1) {
		clear(s.union[:])
		for i, l := range lists {
			if i&63 == 63 {
				if err := s.budget.alive(); err != nil {
					return err
				}
			}
			c, ok := l.Find(key)
			if !ok {
				continue
			}
			c.OrInto((*[windowWords]uint64)(&s.union))
			if need == postings.Rows {
				continue
			}
			s.rows, s.freqs = c.AppendRows(s.rows[:0]), c.AppendFreqs(s.freqs[:0])
			for i, r := range s.rows {
				s.counts[r] += s.freqs[i]
			}
		}
		before := len(m.rows)
		m.appendCounted(key, &s.union, s)
		if err := s.step(len(m.rows) - before); err != nil {
			return err
		}
	}
	return nil
}

// step accounts for rows that a container added, and ends the work of a run that is
// over.
func (s *scratch) step(rows int) error {
	if err := s.budget.take(int64(rows) * rowBytes); err != nil {
		return err
	}
	return s.budget.alive()
}

// appendCounted appends the rows of w with their counts, which it clears, as
// container key.
func (m *matches) appendCounted(key uint16, w *window, s *scratch) {
	for i, word := range w {
		for ; word != 0; word &= word - 1 {
			r := uint16(i<<6 + bits.TrailingZeros64(word))
			m.rows = append(m.rows, r)
			m.freqs = append(m.freqs, s.counts[r])
			s.counts[r] = 0
		}
	}
	m.closePart(key)
}

// firstKey is the least key at or after from of any list.
func firstKey(lists []postings.List, from int) (uint16, bool) {
	best := postings.ContainerRows
	if from >= best {
		return 0, false
	}
	for _, l := range lists {
		if i := l.Seek(uint16(from)); i < l.Containers() {
			best = min(best, int(l.Key(i)))
		}
	}
	return uint16(best), best < postings.ContainerRows
}
