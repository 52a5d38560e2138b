package postings

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

func ordinals(rows []Ord) []uint32 {
	var u []uint32
	for _, o := range rows {
		u = append(u, uint32(o))
	}
	return u
}

func TestSetRoundTrip(t *testing.T) {
	r := random(t)
	for name, rows := range shapesOfRows(r) {
		s := NewSet(ordinals(rows))
		b, err := s.AppendBinary([]byte("x"))
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := ReadSet(b[1:])
		if err != nil {
			t.Fatal(name, err)
		}
		if !got.Equal(s) || !s.Equal(got) || got.Len() != len(rows) || got.IsEmpty() != (len(rows) == 0) {
			t.Errorf("%s: %d rows read back, want %d", name, got.Len(), len(rows))
		}
		if all := slices.Collect(got.All()); !slices.Equal(all, rows) {
			t.Errorf("%s: rows differ", name)
		}
		for _, n := range []int{0, 64, 65537, 1 << 18} {
			bits := NewBits(n)
			got.AddTo(bits)
			want := NewBits(n)
			for _, o := range rows {
				if int64(o) < int64(n) {
					want.Add(o)
				}
			}
			if !slices.Equal(bits.Words(), want.Words()) {
				t.Errorf("%s: AddTo over %d rows differs", name, n)
			}
			bits.Reset(n)
			if err := AddSet(bits, b[1:]); err != nil || !slices.Equal(bits.Words(), want.Words()) {
				t.Errorf("%s: AddSet over %d rows differs, %v", name, n, err)
			}
			of := SetOf(want)
			again, err := of.AppendBinary(nil)
			if err != nil {
				t.Fatal(err)
			}
			read, err := ReadSet(again)
			if err != nil || !read.Equal(of) || of.Len() != want.Count() {
				t.Errorf("%s: SetOf %d rows reads back %d, %v", name, want.Count(), read.Len(), err)
			}
		}
		for _, o := range rows[:min(len(rows), 100)] {
			if !got.Contains(o) {
				t.Errorf("%s: row %d is missing", name, o)
			}
		}
	}
}

func TestSetAlgebra(t *testing.T) {
	r := random(t)
	for range 200 {
		n := 1 + r.IntN(2000)
		a, b := randomBits(r, n, 1+r.IntN(100)), randomBits(r, n, 1+r.IntN(100))
		if r.IntN(10) == 0 {
			a.Reset(n)
		}
		if r.IntN(10) == 0 {
			b.Reset(n)
		}
		s, u := SetOf(a), SetOf(b)
		for name, op := range map[string]struct {
			got  Set
			want func(*Bits, *Bits)
		}{
			"and":     {s.And(u), (*Bits).And},
			"or":      {s.Or(u), (*Bits).Or},
			"and not": {s.AndNot(u), (*Bits).AndNot},
		} {
			want := NewBits(n)
			want.Copy(a)
			op.want(want, b)
			if !op.got.Equal(SetOf(want)) || op.got.Len() != want.Count() {
				t.Fatalf("%s: %d rows, want %d", name, op.got.Len(), want.Count())
			}
		}
		if !s.Equal(SetOf(a)) || !u.Equal(SetOf(b)) {
			t.Fatal("an operand changed")
		}
		if s.Equal(u) != slices.Equal(a.Words(), b.Words()) {
			t.Fatal("Equal is wrong")
		}
	}
}

func TestReadSetErrors(t *testing.T) {
	large, err := NewSet(ordinals(shapesOfRows(random(t))["sparse"])).AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string][]byte{
		"nothing":        {},
		"unknown form":   {18, 1},
		"cut off":        {2, 5},
		"row too large":  {1, 0x80, 0x80, 0x80, 0x80, 0x10},
		"bytes after":    {1, 5, 0},
		"roaring short":  {17, 0x3a, 0x30},
		"roaring cut":    large[:len(large)-1],
		"roaring longer": append(slices.Clone(large), 0),
		"containers":     {17, 0x3a, 0x30, 0, 0, 0xff, 0xff, 0, 0},
	}
	for name, b := range tests {
		if s, err := ReadSet(b); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: ReadSet = %d rows, %v", name, s.Len(), err)
		}
		if err := AddSet(NewBits(100), b); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: AddSet says %v", name, err)
		}
	}
}

func FuzzReadSet(f *testing.F) {
	for _, rows := range [][]uint32{nil, {1}, {1, 2, 70000}} {
		b, _ := NewSet(rows).AppendBinary(nil)
		f.Add(b)
	}
	every := make([]uint32, 5000)
	for i := range every {
		every[i] = uint32(3 * i)
	}
	for _, n := range []int{17, 5000} {
		b, _ := NewSet(every[:n]).AppendBinary(nil)
		f.Add(b)
	}
	run := NewBits(70000)
	run.AddRange(65000, 66000)
	b, _ := SetOf(run).AppendBinary(nil)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ReadSet(b)
		if err != nil || s.Len() > 1<<18 { // a few bytes of runs hold billions of rows
			return
		}
		n, last := 0, int64(-1)
		for o := range s.All() {
			if int64(o) <= last {
				t.Fatalf("row %d after %d", o, last)
			}
			n, last = n+1, int64(o)
		}
		if n != s.Len() {
			t.Fatalf("%d rows, Len %d", n, s.Len())
		}
		bits := NewBits(100000)
		s.AddTo(bits)
		again, err := s.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		if u, err := ReadSet(again); err != nil || !u.Equal(s) {
			t.Fatalf("written again: %v", err)
		}
		if b[0] <= smallSet && !bytes.Equal(again, b) && minimal(b) {
			t.Fatalf("% x reads as % x", b, again)
		}
	})
}

// minimal reports whether no uvarint in b ends in a needless zero byte.
func minimal(b []byte) bool {
	for i := 1; i < len(b); i++ {
		if b[i] == 0 && b[i-1] >= 0x80 {
			return false
		}
	}
	return true
}

// TestReadSetDamage changes and cuts stored sets at random: reading must refuse
// them or give a set that holds what it says.
func TestReadSetDamage(t *testing.T) {
	r := random(t)
	shapes := shapesOfRows(r)
	refused := 0
	for _, name := range []string{"three in three", "65 rows", "array bitmap run", "runs"} {
		stored, err := NewSet(ordinals(shapes[name])).AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 500 {
			b := slices.Clone(stored)
			b[r.IntN(min(len(b), 1+r.IntN(len(b))))] ^= 1 << r.IntN(8)
			if r.IntN(3) == 0 {
				b = b[:r.IntN(len(b))]
			}
			s, err := ReadSet(b)
			if err != nil {
				refused++
				continue
			}
			n := 0
			for range s.All() {
				n++
			}
			if n != s.Len() {
				t.Fatalf("%s: %d rows, Len %d", name, n, s.Len())
			}
		}
	}
	if refused == 0 {
		t.Error("no damage was refused")
	}
}
