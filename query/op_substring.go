package query

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/hansard-search/hansard/postings"
)

// contains matches the values that contain one of its own, without regard to case
// and with nothing special about % and _. With slash, \ is the same as /.
type contains struct {
	needles []string
	folded  [][]byte
	slash   bool
}

func newContains(needles []string, slash bool) contains {
	m := contains{needles: needles, slash: slash}
	for _, n := range needles {
		m.folded = append(m.folded, foldPath(nil, n, slash))
	}
	return m
}

func (m contains) cost() Cost     { return CostColumn }
func (m contains) String() string { return quoteAll("contains", m.needles) }

func (m contains) addRows(d postings.Dictionary, out *postings.Bits, b *budget) error {
	return addScanned(d, out, b, m.slash, func(v []byte) bool {
		for _, n := range m.folded {
			if bytes.Contains(v, n) {
				return true
			}
		}
		return false
	})
}

// under matches directories that are one of its own or lie below it.
type under struct {
	dirs   []string
	folded [][]byte // with a slash at the end
}

func newUnder(dirs []string) under {
	m := under{dirs: dirs}
	for _, d := range dirs {
		m.folded = append(m.folded, append(bytes.TrimRight(foldPath(nil, d, true), "/"), '/'))
	}
	return m
}

func (m under) cost() Cost     { return CostColumn }
func (m under) String() string { return quoteAll("under", m.dirs) }

func (m under) addRows(d postings.Dictionary, out *postings.Bits, b *budget) error {
	return addScanned(d, out, b, true, func(v []byte) bool {
		for _, dir := range m.folded {
			if bytes.HasPrefix(v, dir) || bytes.Equal(v, dir[:len(dir)-1]) {
				return true
			}
		}
		return false
	})
}

// addScanned adds the rows of the values whose fold is accepted.
func addScanned(d postings.Dictionary, out *postings.Bits, b *budget, slash bool, accept func(fold []byte) bool) error {
	var fold []byte
	for i := range d.Len() {
		if i&1023 == 1023 {
			if err := b.alive(); err != nil {
				return err
			}
		}
		v, err := d.Value(i)
		if err != nil {
			return fmt.Errorf("value %d: %w", i, err)
		}
		fold = foldPath(fold[:0], v, slash)
		if !accept(fold) {
			continue
		}
		if err := d.AddRows(i, out); err != nil {
			return fmt.Errorf("value %d: %w", i, err)
		}
	}
	return nil
}

func foldPath(dst []byte, s string, slash bool) []byte {
	if slash && strings.IndexByte(s, '\\') >= 0 {
		s = strings.ReplaceAll(s, `\`, "/")
	}
	return appendFold(dst, s)
}
