package postings

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// exercise calls every method of a list that may be damaged. What it yields must
// have the promised length; nothing may panic or fail to end.
func exercise(t *testing.T, l List) {
	t.Helper()
	const most = 1 << 18 // a few bytes of runs can claim billions of rows
	b := NewBits(70000)
	b.AddRange(100, 69000)
	CountIn(l, b)
	l.AddTo(b)
	if o, ok := b.Next(70000); ok {
		t.Fatalf("AddTo sets row %d beyond the end", o)
	}
	budget := most
	for i := range l.Containers() {
		c := l.Container(i)
		if budget -= c.Len(); budget < 0 {
			break
		}
		exerciseContainer(t, c)
		if _, ok := l.Find(c.Key()); !ok {
			t.Fatalf("Find(%d) does not find container %d", c.Key(), i)
		}
	}
	n := 0
	for c := l.Cursor(); n < most && c.Next(); n++ {
		c.Row()
		if n%2 == 0 {
			c.Encoded()
		}
	}
	if n < min(l.Len(), most) {
		t.Fatalf("cursor yields %d rows, Len %d", n, l.Len())
	}
	if l.Len() < most {
		if err := l.Validate(70000); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
	}
}

func exerciseContainer(t *testing.T, c Container) {
	t.Helper()
	var words [windowWords]uint64
	c.OrInto(&words)
	c.CountIn(&words)
	rows, freqs := c.AppendRows(nil), c.AppendFreqs(nil)
	if len(rows) != c.Len() || len(freqs) != c.Len() {
		t.Fatalf("%d rows and %d frequencies, Len %d", len(rows), len(freqs), c.Len())
	}
	for _, low := range []uint16{0, 1, 511, 512, 40000, 65535} {
		rank, ok := c.Rank(low)
		if rank < 0 || rank > c.Len() || ok && rank == c.Len() {
			t.Fatalf("Rank(%d) = %d of %d", low, rank, c.Len())
		}
		c.Contains(low)
		c.Freq(rank)
		c.AppendPositions(nil, rank)
		window, rank := c.AppendRowsIn(nil, int(low), int(low)+2000)
		if rank+len(window) > c.Len() {
			t.Fatalf("window of %d rows at rank %d of %d", len(window), rank, c.Len())
		}
		c.AppendFreqsIn(nil, rank, len(window))
	}
	c.AppendPositions(nil, -1)
	rows, ranks := c.AppendMatches(nil, nil, words[:])
	if len(rows) != len(ranks) {
		t.Fatalf("%d rows with %d ranks", len(rows), len(ranks))
	}
	for _, r := range ranks {
		if int(r) >= c.Len() {
			t.Fatalf("rank %d of %d", r, c.Len())
		}
	}
	c.AndInto(&words)
	c.AndNotInto(&words)
}

func FuzzOpenList(f *testing.F) {
	r := random(f)
	for _, name := range []string{"four", "four in four", "65 rows", "array bitmap run", "run over an edge", "bitmap at its least"} {
		e := build(new(ListBuilder), withRows(r, shapesOfRows(r)[name]))
		f.Add(e.Doc, e.Freq, e.Pos)
		f.Add(e.Doc, []byte(nil), []byte(nil))
	}
	f.Fuzz(func(t *testing.T, doc, freq, pos []byte) {
		l, err := OpenList(doc, freq, pos)
		if err == nil {
			exercise(t, l)
		}
	})
}

func FuzzOpenTiny(f *testing.F) {
	r := random(f)
	for _, rows := range [][]Ord{{1}, {1, 2}, {1, 65536}, {1, 2, 3}, {1, 65536, 65537}, {1, 2, 65536}, {1, 65536, 1 << 20}} {
		f.Add(build(new(ListBuilder), withRows(r, rows)).Tiny)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if n, _ := TinyLen(b); n > len(b) {
			t.Fatalf("TinyLen = %d of %d", n, len(b))
		}
		l, err := OpenTiny(b)
		if err == nil {
			exercise(t, l)
		}
	})
}

func FuzzOpenBounds(f *testing.F) {
	r := random(f)
	l := mustOpen(f, build(new(ListBuilder), withRows(r, shapesOfRows(r)["dense"])))
	f.Add(build(new(ListBuilder), withRows(r, shapesOfRows(r)["dense"])).Bounds)
	f.Fuzz(func(t *testing.T, b []byte) {
		bounds, err := OpenBounds(b, l)
		if err != nil {
			return
		}
		for i := range l.Containers() {
			for x := range 64 {
				bounds.At(i, x)
			}
		}
	})
}

// FuzzListBuilder builds a list from arbitrary bytes: each is a step to the next
// row or a gap to the next position.
func FuzzListBuilder(f *testing.F) {
	f.Add([]byte{1, 2, 3, 0, 255, 255, 9}, uint16(1))
	f.Add([]byte{255, 1, 255, 1, 255, 1, 255, 1}, uint16(700))
	f.Fuzz(func(t *testing.T, steps []byte, stride uint16) {
		var model []posting
		row := Ord(0)
		for _, s := range steps {
			if n := len(model); s < 128 && n > 0 {
				p := &model[n-1].positions
				*p = append(*p, (*p)[len(*p)-1]+uint32(s)*uint32(stride))
				continue
			}
			row += 1 + Ord(s&127)*Ord(stride)
			model = append(model, posting{row: row, length: uint32(s), positions: []uint32{uint32(s)}})
		}
		l := mustOpen(t, build(new(ListBuilder), model))
		if err := l.Validate(math.MaxInt); err != nil {
			t.Fatal(err)
		}
		i := 0
		for c := l.Cursor(); c.Next(); i++ {
			if got := c.AppendPositions(nil); c.Row() != model[i].row || !slices.Equal(got, model[i].positions) {
				t.Fatalf("row %d at %v, want %d at %v", c.Row(), got, model[i].row, model[i].positions)
			}
		}
		if i != len(model) {
			t.Fatalf("%d rows, want %d", i, len(model))
		}
	})
}

// TestListDamage changes and cuts stored lists at random, which finds more in a
// second than a fuzzer that has to learn the form of the directory.
func TestListDamage(t *testing.T) {
	r := random(t)
	shapes := shapesOfRows(r)
	opened := 0
	for _, name := range []string{"three in one", "four in four", "65 rows", "sparse", "array bitmap run", "run over an edge"} {
		e := build(new(ListBuilder), withRows(r, shapes[name]))
		for range 60 {
			bad := e
			for _, part := range []*[]byte{&bad.Tiny, &bad.Doc, &bad.Freq, &bad.Pos} {
				b := slices.Clone(*part)
				if len(b) == 0 {
					continue
				}
				for range r.IntN(3) {
					b[r.IntN(min(len(b), 1+r.IntN(len(b))))] ^= 1 << r.IntN(8)
				}
				if r.IntN(10) == 0 {
					b = b[:r.IntN(len(b))]
				}
				*part = b
			}
			l, err := open(bad)
			if err != nil {
				continue
			}
			opened++
			exercise(t, l)
		}
	}
	if opened == 0 {
		t.Error("no damaged list was opened")
	}
}
