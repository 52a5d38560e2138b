package postings

import "testing"

func TestBounds(t *testing.T) {
	r := random(t)
	for name, rows := range shapesOfRows(r) {
		model := withRows(r, rows)
		e := build(new(ListBuilder), model)
		if (e.Bounds != nil) != (len(model) >= BoundsRows) {
			t.Errorf("%s: %d rows, %d bytes of bounds", name, len(model), len(e.Bounds))
		}
		if e.Bounds == nil {
			continue
		}
		l := mustOpen(t, e)
		b, err := OpenBounds(e.Bounds, l)
		if err != nil {
			t.Fatal(name, err)
		}
		type bound struct {
			freq   uint8
			length uint32
		}
		want := map[Ord]bound{}
		for _, p := range model {
			f, n := uint8(min(len(p.positions), 255)), LengthFloor(LengthCode(p.length))
			if w, ok := want[p.row/RangeRows]; ok {
				f, n = max(f, w.freq), min(n, w.length)
			}
			want[p.row/RangeRows] = bound{f, n}
		}
		seen := 0
		for i := range l.Containers() {
			for x := range 64 {
				f, n, ok := b.At(i, x)
				w, wok := want[Ord(l.Key(i))<<6|Ord(x)]
				if ok != wok || (bound{f, n}) != w || ok != (b.Ranges(i)>>x&1 == 1) {
					t.Fatalf("%s: At(%d, %d) = %d, %d, %v, want %v, %v", name, i, x, f, n, ok, w, wok)
				}
				if ok {
					seen++
				}
			}
		}
		if seen != len(want) {
			t.Errorf("%s: %d bounds, want %d", name, seen, len(want))
		}
	}
}

func TestLengthCode(t *testing.T) {
	var lengths []uint32
	for n := range uint32(5000) {
		lengths = append(lengths, n)
	}
	for shift := 13; shift < 32; shift++ {
		for eighth := range uint32(8) {
			n := (8 + eighth) << (shift - 3)
			lengths = append(lengths, n-1, n, n+1)
		}
	}
	lengths = append(lengths, 1<<32-1)
	last := uint8(0)
	for _, n := range lengths {
		code := LengthCode(n)
		floor := LengthFloor(code)
		if floor > n || float64(floor) < float64(n)*8/9-1 || LengthCode(floor) != code {
			t.Errorf("LengthCode(%d) = %d with floor %d", n, code, floor)
		}
		if code < last {
			t.Errorf("LengthCode(%d) = %d after %d", n, code, last)
		}
		if n < 16 && floor != n {
			t.Errorf("length %d is not exact", n)
		}
		last = code
	}
}
