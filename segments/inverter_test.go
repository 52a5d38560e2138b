package segments

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/hansard-search/hansard/lexer"
	"github.com/hansard-search/hansard/postings"
)

// TestInverterModel compares what an inverter gathers with a map of lists, over
// terms of all lengths and lists that fill the record, one slice and many.
func TestInverterModel(t *testing.T) {
	type posting struct{ row, pos uint32 }
	r := newRand(t)
	v := newInverter()
	for round := range 2 { // the second after a reset
		model := map[string][]posting{}
		var lengths []uint32
		var scan lexer.Scanner
		for row := range uint32(600) {
			var text []string
			for range r.IntN(200) {
				n := r.IntN(1 << r.IntN(12))
				text = append(text, fmt.Sprintf("%s%d", strings.Repeat("x", n%41), n))
			}
			for pos, s := range text {
				model[s] = append(model[s], posting{row, uint32(pos)})
			}
			scan.ResetString(strings.Join(text, " "))
			if n := v.addBlock(&scan, row); int(n) != len(text) {
				t.Fatalf("round %d: row of %d terms, want %d", round, n, len(text))
			}
			lengths = append(lengths, uint32(len(text)))
		}
		var last, term []byte
		ids := v.sorted()
		if len(ids) != len(model) {
			t.Fatalf("round %d: %d terms, want %d", round, len(ids), len(model))
		}
		for i, id := range ids {
			rec := v.record(id)
			term = v.appendTerm(term[:0], rec)
			if i > 0 && bytes.Compare(last, term) >= 0 {
				t.Fatalf("round %d: %q after %q", round, term, last)
			}
			last = append(last[:0], term...)
			var got, want postings.ListBuilder
			got.AddOccurrences(v.appendOccurrences(nil, rec), lengths)
			for l := model[string(term)]; len(l) > 0; {
				n := 1
				for n < len(l) && l[n].row == l[0].row {
					n++
				}
				var at []uint32
				for _, p := range l[:n] {
					at = append(at, p.pos)
				}
				want.Add(postings.Ord(l[0].row), lengths[l[0].row], at)
				l = l[n:]
			}
			g, w := got.Finish(), want.Finish()
			if g.Rows != w.Rows || g.Total != w.Total || !slices.Equal(g.Tiny, w.Tiny) || !slices.Equal(g.Doc, w.Doc) ||
				!slices.Equal(g.Freq, w.Freq) || !slices.Equal(g.Pos, w.Pos) || !slices.Equal(g.Bounds, w.Bounds) {
				t.Fatalf("round %d: list of %q differs: %d rows, %d occurrences, want %d, %d", round, term, g.Rows, g.Total, w.Rows, w.Total)
			}
		}
		v.reset()
	}
}

// TestKey checks the padding of keys, also over a buffer with old bytes behind.
func TestKey(t *testing.T) {
	v := newInverter()
	for n := range 20 {
		term := strings.Repeat("a", n)
		var want [keyBytes]byte
		copy(want[:], term)
		for _, b := range [][]byte{[]byte(term)[:n:n], append([]byte(term), "behind the term's end"...)[:n]} {
			k0, k1 := v.key(b)
			if k0 != le.Uint64(want[:]) || k1 != le.Uint64(want[8:]) {
				t.Errorf("key(%q) = %x %x", term, k0, k1)
			}
		}
	}
}

func TestRecordBytes(t *testing.T) {
	if n := unsafe.Sizeof(termRecord{}); n != recordBytes {
		t.Errorf("a record has %d bytes, want %d", n, recordBytes)
	}
}

// TestInverterAllocs holds the hot path to no allocation once its terms are known.
func TestInverterAllocs(t *testing.T) {
	v := newInverter()
	var scan lexer.Scanner
	text := strings.Repeat("some words that come again and a_much_longer_identifier_than_fits ", 20)
	row := uint32(0)
	add := func() {
		scan.ResetString(text)
		v.addBlock(&scan, row)
		row++
	}
	add()
	v.pool.chunks = append(v.pool.chunks, make([]byte, poolChunk), make([]byte, poolChunk))
	if n := testing.AllocsPerRun(50, add); n != 0 {
		t.Errorf("%v allocations per block", n)
	}
}
