package query

import (
	"fmt"

	"github.com/hansard-search/hansard/postings"
)

// A lane narrows which blocks the text of a query may match and is counted over;
// filters, excluded words among them, still see every live block.

// textRows returns the live blocks of the lane; nil stands for every block. The
// bitset is not to be written.
func (x *segment) textRows() (*postings.Bits, error) {
	if x.lane != nil {
		return x.lane, nil
	}
	var live *postings.Bits
	if !x.src.AllLive() {
		var err error
		if live, err = x.src.Live(postings.Block); err != nil {
			return nil, fmt.Errorf("live blocks: %w", err)
		}
	}
	if len(x.types) == 0 {
		return live, nil
	}
	rows, err := x.blocksOf(x.types)
	if err != nil {
		return nil, fmt.Errorf("column block.type: %w", err)
	}
	if live != nil {
		rows.And(live)
	}
	x.lane = rows
	return rows, nil
}

// blocksOf returns the blocks whose type is one of types.
func (x *segment) blocksOf(types []string) (*postings.Bits, error) {
	column, err := x.src.Keywords("block.type")
	if err != nil {
		return nil, err
	}
	rows := postings.NewBits(x.blocks)
	for _, t := range types {
		i, err := column.Seek(t)
		if err != nil {
			return nil, err
		}
		if i == column.Len() {
			continue
		}
		v, err := column.Value(i)
		if err != nil {
			return nil, err
		}
		if v == t {
			if err := column.AddRows(i, rows); err != nil {
				return nil, err
			}
		}
	}
	return rows, nil
}
