package query

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hansard-search/hansard/lexer"
	"github.com/hansard-search/hansard/postings"
)

// countPlaces counts the places of the unit's terms in the terms of a row, one by
// one.
func countPlaces(u *unit, terms []string) uint32 {
	n := uint32(0)
	for at := 0; at+len(u.terms) <= len(terms); at++ {
		last := len(u.terms) - 1
		if slices.Equal(terms[at:at+last], u.terms[:last]) &&
			(terms[at+last] == u.terms[last] || u.prefix && strings.HasPrefix(terms[at+last], u.terms[last])) {
			n++
		}
	}
	return n
}

// wordsOf are random words; a is in nine rows of ten, the later letters are rarer.
func wordsOf(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(12) {
		k := 0
		for k < 7 && r.IntN(2) == 0 {
			k++
		}
		b.WriteString([]string{"a", "b", "c", "ca", "cb", "d", "e", "f"}[k] + " ")
	}
	return b.String()
}

// TestFollow compares phrases with a plain count, over rows enough for containers
// of every kind: with runs, bitmaps, arrays, and with few rows.
func TestFollow(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 5))
	for _, n := range []int{1, 40, 9_000, 67_000} {
		var texts [][]string
		var s fakeSession
		for i := range n {
			text := wordsOf(r)
			if n > 10_000 && i > 60_000 && i < 65_530 { // a container with few rows of each
				text = ""
			}
			texts = append(texts, lexer.Terms(text))
			s.blocks = append(s.blocks, fakeBlock{text: text})
		}
		f := newFake([]fakeSession{s})
		for _, text := range []string{`"a a"`, `"a b"`, `"b a"`, `"a b c"`, `"c b a"`, `"f a"`, `"a f"`, `"a f b"`, `"f e d"`,
			`"a a a a"`, `"a c"*`, `"f c"*`, `"a f c"*`, `"c c"*`, `"a f"*`, `"f f"`, `"a x"`, `"x a"`, `"a x"*`} {
			checkFollow(t, f, text, texts)
		}
	}
}

func checkFollow(t *testing.T, f *fakeSource, text string, texts [][]string) {
	t.Helper()
	u := mustCompile(t, text).units[0]
	s := new(scratch)
	m, err := readUnit(f, u, s)
	if err != nil {
		t.Fatal(err)
	}
	if s.counts != nil && *s.counts != [postings.ContainerRows]uint32{} {
		t.Fatalf("%s: counts left in the scratch", text)
	}
	for row, terms := range texts {
		rows, freqs := m.part(uint16(row >> 16))
		got := uint32(0)
		if i, ok := slices.BinarySearch(rows, uint16(row)); ok {
			got = freqs[i]
		}
		if want := countPlaces(u, terms); got != want {
			t.Fatalf("%s in row %d of %d, %v: %d places, want %d", text, row, len(texts), terms, got, want)
		}
	}
}
