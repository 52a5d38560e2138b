package postings

import (
	"slices"
	"testing"
)

// TestKernels compares the kernels of containers with the same work on bits.
func TestKernels(t *testing.T) {
	r := random(t)
	for name, rows := range shapesOfRows(r) {
		t.Run(name, func(t *testing.T) {
			model := withRows(r, rows)
			l := mustOpen(t, build(new(ListBuilder), model))
			for _, n := range []int{0, 1, 63, 64, 65, 65535, 65536, 65537, 1 << 18, 1<<18 + 100} {
				mask := randomBits(r, n, 3)
				checkKernels(t, l, bitsOf(model, n), mask)
			}
		})
	}
}

func checkKernels(t *testing.T, l List, own, mask *Bits) {
	t.Helper()
	n := mask.Len()
	got, want := NewBits(n), NewBits(n)
	got.Copy(mask)
	want.Copy(mask)
	l.AddTo(got)
	want.Or(own)
	if !slices.Equal(got.Words(), want.Words()) {
		t.Fatalf("AddTo over %d rows differs", n)
	}
	want.Copy(mask)
	want.And(own)
	if got := CountIn(l, mask); got != want.Count() {
		t.Fatalf("CountIn over %d rows = %d, want %d", n, got, want.Count())
	}
	for k := range l.Containers() {
		c := l.Container(k)
		checkContainer(t, c, own.Window(c.Key()), mask.Window(c.Key()))
	}
}

func checkContainer(t *testing.T, c Container, own, mask []uint64) {
	t.Helper()
	var words, kept, cut, added [windowWords]uint64
	copy(words[:], mask)
	kept, cut, added = words, words, words
	c.AndInto(&kept)
	c.AndNotInto(&cut)
	c.OrInto(&added)
	for i := range mask {
		if kept[i] != mask[i]&own[i] || cut[i] != mask[i]&^own[i] {
			t.Fatalf("word %d: and %x, andNot %x of %x and %x", i, kept[i], cut[i], mask[i], own[i])
		}
	}
	both := Bits{n: ContainerRows, words: kept[:]}
	if got := c.CountIn(&words); got != both.Count() {
		t.Fatalf("CountIn = %d, want %d", got, both.Count())
	}
	lows := c.AppendRows(nil)
	if got := (&Bits{n: ContainerRows, words: added[:]}).Count(); got != c.Len()+(&Bits{words: cut[:]}).Count() {
		t.Fatalf("OrInto leaves %d rows", got)
	}
	rows, ranks := c.AppendMatches(nil, nil, mask)
	if len(rows) != both.Count() || len(ranks) != len(rows) {
		t.Fatalf("AppendMatches: %d rows, %d ranks, want %d", len(rows), len(ranks), both.Count())
	}
	for i, low := range rows {
		if !both.Has(Ord(low)) || lows[ranks[i]] != low {
			t.Fatalf("AppendMatches: row %d at rank %d", low, ranks[i])
		}
	}
}

// TestWindows reads containers in windows and compares with reading them whole.
func TestWindows(t *testing.T) {
	r := random(t)
	for name, rows := range shapesOfRows(r) {
		l := mustOpen(t, build(new(ListBuilder), withRows(r, rows)))
		for k := range l.Containers() {
			c := l.Container(k)
			var got []uint16
			var freqs []uint32
			for lo := 0; lo < ContainerRows; {
				hi := lo + 1 + r.IntN(3000)
				n := len(got)
				var rank int
				got, rank = c.AppendRowsIn(got, lo, hi)
				if len(got) > n && rank != n {
					t.Fatalf("%s: window at %d begins at rank %d, want %d", name, lo, rank, n)
				}
				freqs = c.AppendFreqsIn(freqs, rank, len(got)-n)
				lo = hi
			}
			if !slices.Equal(got, c.AppendRows(nil)) || !slices.Equal(freqs, c.AppendFreqs(nil)) {
				t.Fatalf("%s: windows of container %d differ from the whole", name, k)
			}
		}
	}
}
