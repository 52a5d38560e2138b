package query

import "github.com/hansard-search/hansard/postings"

// equals matches the values that are byte for byte one of its own.
type equals []string

func (m equals) cost() Cost     { return CostBitmap }
func (m equals) String() string { return quoteAll("=", m) }

func (m equals) addRows(d postings.Dictionary, out *postings.Bits, _ *budget) error {
	for _, v := range m {
		i, err := d.Seek(v)
		if err != nil {
			return err
		}
		if i == d.Len() {
			continue
		}
		got, err := d.Value(i)
		if err != nil {
			return err
		}
		if got != v {
			continue
		}
		if err := d.AddRows(i, out); err != nil {
			return err
		}
	}
	return nil
}
