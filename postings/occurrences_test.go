package postings

import (
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAddOccurrences compares lists from strings of occurrences with lists built
// row by row.
func TestAddOccurrences(t *testing.T) {
	r := random(t)
	for name, rows := range shapesOfRows(r) {
		if len(rows) == 0 || rows[len(rows)-1] > 1<<22 {
			continue // lengths has an entry per row
		}
		model := withRows(r, rows)
		lengths := make([]uint32, rows[len(rows)-1]+1)
		var s []byte
		next := uint64(0) // row before, counted from 1
		for _, p := range model {
			lengths[p.row] = p.length
			s = binary.AppendUvarint(s, (uint64(p.row)+1-next)<<1|1)
			s = binary.AppendUvarint(s, uint64(p.positions[0]))
			for i, at := range p.positions[1:] {
				s = binary.AppendUvarint(s, uint64(at-p.positions[i])<<1)
			}
			next = uint64(p.row) + 1
		}
		var b ListBuilder
		b.AddOccurrences(s, lengths)
		if diff := cmp.Diff(build(new(ListBuilder), model), b.Finish()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
