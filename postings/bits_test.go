package postings

import (
	"slices"
	"testing"
)

// setOf is the naive model of a bitset.
func setOf(b *Bits) map[Ord]bool {
	m := map[Ord]bool{}
	for i := range b.Len() {
		if b.Has(Ord(i)) {
			m[Ord(i)] = true
		}
	}
	return m
}

// sizes are lengths around the edges of words.
var sizes = []int{0, 1, 63, 64, 65, 127, 128, 129, 1000}

func TestBitsAlgebra(t *testing.T) {
	r := random(t)
	ops := []struct {
		name string
		do   func(a, b *Bits)
		want func(a, b bool) bool
	}{
		{"and", (*Bits).And, func(a, b bool) bool { return a && b }},
		{"or", (*Bits).Or, func(a, b bool) bool { return a || b }},
		{"and not", (*Bits).AndNot, func(a, b bool) bool { return a && !b }},
		{"copy", (*Bits).Copy, func(_, b bool) bool { return b }},
		{"invert", func(a, _ *Bits) { a.Invert() }, func(a, _ bool) bool { return !a }},
		{"fill", func(a, _ *Bits) { a.Fill() }, func(_, _ bool) bool { return true }},
		{"reset", func(a, _ *Bits) { a.Reset(a.Len()) }, func(_, _ bool) bool { return false }},
	}
	for _, n := range sizes {
		for _, op := range ops {
			a, b := randomBits(r, n, 2), randomBits(r, n, 3)
			before, other := setOf(a), setOf(b)
			op.do(a, b)
			count := 0
			for i := range n {
				want := op.want(before[Ord(i)], other[Ord(i)])
				if a.Has(Ord(i)) != want {
					t.Fatalf("%s over %d rows: row %d is %v, want %v", op.name, n, i, !want, want)
				}
				if want {
					count++
				}
			}
			checkReading(t, op.name, a, count)
		}
	}
}

// checkReading compares the ways of reading a bitset of count rows, and that
// nothing is set beyond its end.
func checkReading(t *testing.T, name string, b *Bits, count int) {
	t.Helper()
	if b.Count() != count || b.Any() != (count > 0) {
		t.Fatalf("%s: Count %d, Any %v, want %d", name, b.Count(), b.Any(), count)
	}
	var all, next []Ord
	for o := range b.All() {
		all = append(all, o)
	}
	for o, ok := b.Next(0); ok; o, ok = b.Next(o + 1) {
		next = append(next, o)
	}
	if len(all) != count || !slices.Equal(all, next) || !slices.IsSorted(all) {
		t.Fatalf("%s: All yields %v, Next %v, want %d rows", name, all, next, count)
	}
}

func TestBitsRanges(t *testing.T) {
	r := random(t)
	for range 2000 {
		n := 1 + r.IntN(300)
		lo, hi := Ord(r.IntN(n+1)), Ord(r.IntN(n+1))
		b := randomBits(r, n, 4)
		want := setOf(b)
		for o := lo; o < hi; o++ {
			want[o] = true
		}
		b.AddRange(lo, hi)
		if got := setOf(b); len(got) != len(want) || b.Count() != len(want) {
			t.Fatalf("AddRange(%d, %d) over %d rows: %d rows, want %d", lo, hi, n, len(got), len(want))
		}
		o := Ord(r.IntN(n + 10))
		clearAt := o
		for b.Has(clearAt) {
			clearAt++
		}
		if got := b.nextClear(o); got != min(clearAt, Ord(n)) {
			t.Fatalf("nextClear(%d) over %d rows = %d, want %d", o, n, got, clearAt)
		}
	}
}

func TestBitsSingle(t *testing.T) {
	b := NewBits(130)
	for _, o := range []Ord{0, 63, 64, 129} {
		b.Add(o)
		if !b.Has(o) {
			t.Errorf("row %d is not set", o)
		}
		b.Remove(o)
		if b.Has(o) || b.Any() {
			t.Errorf("row %d is still set", o)
		}
	}
	if b.Has(130) || b.Has(1<<32-1) {
		t.Error("a row beyond the end is set")
	}
	if _, ok := b.Next(1 << 31); ok {
		t.Error("Next finds a row beyond the end")
	}
	b.Fill()
	b.Reset(10)
	if b.Any() || b.Len() != 10 {
		t.Error("Reset leaves rows")
	}
}

func TestPool(t *testing.T) {
	b := GetBits(100)
	b.Fill()
	PutBits(b)
	PutBits(nil)
	for _, n := range []int{10, 1000} {
		if b := GetBits(n); b.Any() || b.Len() != n {
			t.Errorf("a pooled bitset has %d of %d rows", b.Count(), b.Len())
		}
	}
}

func TestWindow(t *testing.T) {
	b := NewBits(ContainerRows + 65)
	for key, want := range map[uint16]int{0: windowWords, 1: 2, 2: 0, 65535: 0} {
		if got := len(b.Window(key)); got != want {
			t.Errorf("Window(%d) has %d words, want %d", key, got, want)
		}
	}
}
