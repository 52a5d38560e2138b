package query

import (
	"strings"

	"github.com/hansard-search/hansard/postings"
)

// begins matches the values that begin with one of its own.
type begins []string

func (m begins) cost() Cost     { return CostBitmap }
func (m begins) String() string { return quoteAll("begins with", m) }

func (m begins) addRows(d postings.Dictionary, out *postings.Bits, b *budget) error {
	for _, prefix := range m {
		i, err := d.Seek(prefix)
		if err != nil {
			return err
		}
		for ; i < d.Len(); i++ {
			if i&1023 == 1023 {
				if err := b.alive(); err != nil {
					return err
				}
			}
			v, err := d.Value(i)
			if err != nil {
				return err
			}
			if !strings.HasPrefix(v, prefix) {
				break
			}
			if err := d.AddRows(i, out); err != nil {
				return err
			}
		}
	}
	return nil
}
