package postings

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// randomSpans are the spans of parents that own up to most children, some none.
func randomSpans(r *rand.Rand, parents, most int) Spans {
	offsets := make([]uint32, parents+1)
	for i := range parents {
		offsets[i+1] = offsets[i] + uint32(r.IntN(most+1))
	}
	return NewSpans(offsets)
}

func TestLiftAndLower(t *testing.T) {
	r := random(t)
	for range 500 {
		s := randomSpans(r, r.IntN(200), []int{0, 1, 2, 10, 100}[r.IntN(5)])
		children := randomBits(r, s.Children(), 1+r.IntN(50))
		parents := randomBits(r, s.Parents(), 1+r.IntN(10))
		lifted, want := NewBits(s.Parents()), NewBits(s.Parents())
		for c := range children.All() {
			want.Add(s.Of(c))
		}
		Lift(children, lifted, s)
		if !slices.Equal(lifted.Words(), want.Words()) {
			t.Fatalf("Lift over %v of %v = %v, want %v", s.Offsets(), setOf(children), setOf(lifted), setOf(want))
		}
		lowered, below := NewBits(s.Children()), NewBits(s.Children())
		for p := range parents.All() {
			lo, hi := s.Run(p)
			for c := lo; c < hi; c++ {
				below.Add(c)
			}
		}
		Lower(parents, lowered, s)
		if !slices.Equal(lowered.Words(), below.Words()) {
			t.Fatalf("Lower over %v of %v = %v, want %v", s.Offsets(), setOf(parents), setOf(lowered), setOf(below))
		}
	}
}

// TestLiftAdds checks that what a target already holds stays.
func TestLiftAdds(t *testing.T) {
	s := NewSpans([]uint32{0, 2, 2, 5})
	parents, children := NewBits(3), NewBits(5)
	parents.Add(1)
	children.Add(4)
	Lift(children, parents, s)
	if !parents.Has(1) || !parents.Has(2) || parents.Has(0) {
		t.Errorf("Lift gives %v", setOf(parents))
	}
	parents.Reset(3)
	parents.Add(0)
	Lower(parents, children, s)
	if children.Count() != 3 || !children.Has(4) {
		t.Errorf("Lower gives %v", setOf(children))
	}
}

func TestSpans(t *testing.T) {
	var none Spans
	if none.Parents() != 0 || none.Children() != 0 {
		t.Error("the zero spans have rows")
	}
	s := randomSpans(random(t), 100, 3)
	c := Ord(0)
	for p := range Ord(s.Parents()) {
		for lo, hi := s.Run(p); lo < hi; lo++ {
			if lo != c || s.Of(c) != p {
				t.Fatalf("child %d of parent %d: Of = %d", c, p, s.Of(c))
			}
			c++
		}
	}
	if int(c) != s.Children() {
		t.Errorf("%d children, want %d", s.Children(), c)
	}
}
