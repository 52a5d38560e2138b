package postings

import (
	"slices"
	"testing"
)

func TestPhraseFreq(t *testing.T) {
	max := ^uint32(0)
	tests := []struct {
		name    string
		lists   [][]uint32
		offsets []uint32
		want    []uint32
	}{
		{"no terms", nil, nil, nil},
		{"one term", [][]uint32{{3, 9}}, []uint32{0}, []uint32{3, 9}},
		{"adjacent", [][]uint32{{0, 5, 9}, {1, 7, 10}}, []uint32{0, 1}, []uint32{0, 9}},
		{"a repeated word", [][]uint32{{0, 1, 2}, {0, 1, 2}}, []uint32{0, 1}, []uint32{0, 1}},
		{"a gap", [][]uint32{{4}, {6}}, []uint32{0, 2}, []uint32{4}},
		{"before the start", [][]uint32{{0, 1}, {0}}, []uint32{0, 1}, nil},
		{"an absent term", [][]uint32{{1}, {}}, []uint32{0, 1}, nil},
		{"beyond the end", [][]uint32{{max}, {0}}, []uint32{0, 1}, nil},
		{"the last position", [][]uint32{{max - 1}, {max}}, []uint32{0, 1}, []uint32{max - 1}},
	}
	for _, tt := range tests {
		if got := AppendPhrase(nil, tt.lists, tt.offsets); !slices.Equal(got, tt.want) {
			t.Errorf("%s: AppendPhrase = %v, want %v", tt.name, got, tt.want)
		}
		if got := PhraseFreq(tt.lists, tt.offsets); got != len(tt.want) {
			t.Errorf("%s: PhraseFreq = %d, want %d", tt.name, got, len(tt.want))
		}
	}
}

// TestPhraseOracle compares with maps, also for phrases of more terms than have a
// cursor.
func TestPhraseOracle(t *testing.T) {
	r := random(t)
	found := 0
	for range 2000 {
		k, span := 1+r.IntN(20), 2+r.IntN(100)
		lists, offsets, sets := make([][]uint32, k), make([]uint32, k), make([]map[uint32]bool, k)
		for i := range k {
			offsets[i] = uint32(i + r.IntN(2))
			sets[i] = map[uint32]bool{}
			for p := range uint32(span) {
				if r.IntN(10) < 8 {
					lists[i] = append(lists[i], p)
					sets[i][p] = true
				}
			}
		}
		var want []uint32
	next:
		for p := range uint32(span) {
			for i := range k {
				if !sets[i][p+offsets[i]] {
					continue next
				}
			}
			want = append(want, p)
		}
		found += len(want)
		if got := AppendPhrase(nil, lists, offsets); !slices.Equal(got, want) {
			t.Fatalf("AppendPhrase(%v, %v) = %v, want %v", lists, offsets, got, want)
		}
	}
	if found == 0 {
		t.Error("no phrase was ever found")
	}
}
