package postings

import "testing"

// TestReadingDoesNotAllocate holds every read path to zero allocations.
func TestReadingDoesNotAllocate(t *testing.T) {
	r := random(t)
	shapes := shapesOfRows(r)
	for _, name := range []string{"three, one and two", "65 rows", "array bitmap run", "dense"} {
		e := build(new(ListBuilder), withRows(r, shapes[name]))
		l := mustOpen(t, e)
		b, mask := NewBits(1<<18), randomBits(r, 1<<18, 2)
		var words [windowWords]uint64
		rows, ranks := make([]uint16, 0, ContainerRows), make([]uint16, 0, ContainerRows)
		freqs, positions := make([]uint32, 0, ContainerRows), make([]uint32, 0, 4096)
		for what, read := range map[string]func(){
			"open": func() {
				if _, err := open(e); err != nil {
					t.Fatal(err)
				}
			},
			"AddTo":   func() { l.AddTo(b) },
			"CountIn": func() { CountIn(l, mask) },
			"All":     func() { l.All(func(Ord, uint32) bool { return true }) },
			"Cursor": func() {
				for c := l.Cursor(); c.Next(); {
					positions = c.AppendPositions(positions[:0])
				}
			},
			"containers": func() {
				for i := range l.Containers() {
					c := l.Container(i)
					rows = c.AppendRows(rows[:0])
					freqs = c.AppendFreqs(freqs[:0])
					positions = c.AppendPositions(positions[:0], c.Len()/2)
					rows, ranks = c.AppendMatches(rows[:0], ranks[:0], mask.Window(c.Key()))
					rows, _ = c.AppendRowsIn(rows[:0], 1024, 2048)
					freqs = c.AppendFreqsIn(freqs[:0], 0, 10)
					c.Rank(9)
					c.Contains(9)
					c.Freq(0)
					c.OrInto(&words)
					c.AndInto(&words)
					c.AndNotInto(&words)
					c.CountIn(&words)
					l.Find(c.Key())
				}
			},
		} {
			if n := testing.AllocsPerRun(5, read); n != 0 {
				t.Errorf("%s: %s allocates %v times", name, what, n)
			}
		}
	}
}

func TestKernelsDoNotAllocate(t *testing.T) {
	r := random(t)
	s := randomSpans(r, 1000, 5)
	children, parents := randomBits(r, s.Children(), 3), NewBits(s.Parents())
	lists, offsets := [][]uint32{{1, 5, 9}, {2, 6, 11}, {3, 7}}, []uint32{0, 1, 2}
	dst := make([]uint32, 0, 10)
	small, err := NewSet([]uint32{1, 5, 99}).AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	for what, run := range map[string]func(){
		"Lift":  func() { Lift(children, parents, s) },
		"Lower": func() { Lower(parents, children, s) },
		"AddSet": func() {
			if err := AddSet(parents, small); err != nil {
				t.Fatal(err)
			}
		},
		"PhraseFreq":   func() { PhraseFreq(lists, offsets) },
		"AppendPhrase": func() { dst = AppendPhrase(dst[:0], lists, offsets) },
	} {
		if n := testing.AllocsPerRun(100, run); n != 0 {
			t.Errorf("%s allocates %v times", what, n)
		}
	}
}

// TestBuilderReusesMemory builds the same list again and again.
func TestBuilderReusesMemory(t *testing.T) {
	r := random(t)
	model := withRows(r, shapesOfRows(r)["array bitmap run"])
	var b ListBuilder
	if n := testing.AllocsPerRun(5, func() {
		b.Reset()
		for _, p := range model {
			b.Add(p.row, p.length, p.positions)
		}
		b.Finish()
	}); n != 0 {
		t.Errorf("a used builder allocates %v times", n)
	}
}
