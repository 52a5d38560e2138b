package postings

import (
	"fmt"
	"testing"
)

const benchRows = 1 << 20

// benchList is a list that holds about one of each every rows of a million.
func benchList(b *testing.B, every int) List {
	r := random(b)
	var rows []Ord
	for o := range Ord(benchRows) {
		if r.IntN(every) == 0 {
			rows = append(rows, o)
		}
	}
	return mustOpen(b, build(new(ListBuilder), withRows(r, rows)))
}

// perPosting reports the time per row of the list.
func perPosting(b *testing.B, n int) {
	b.ReportAllocs()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/row")
}

func BenchmarkList(b *testing.B) {
	for _, every := range []int{3, 100, 10000} {
		l := benchList(b, every)
		bits, mask := NewBits(benchRows), NewBits(benchRows)
		mask.AddRange(1000, benchRows/2)
		var rows, ranks []uint16
		var freqs, positions []uint32
		for _, bm := range []struct {
			name string
			run  func()
		}{
			{"AddTo", func() { l.AddTo(bits) }},
			{"CountIn", func() { CountIn(l, mask) }},
			{"AppendRows", func() {
				for i := range l.Containers() {
					rows = l.Container(i).AppendRows(rows[:0])
				}
			}},
			{"AppendFreqs", func() {
				for i := range l.Containers() {
					freqs = l.Container(i).AppendFreqs(freqs[:0])
				}
			}},
			{"AppendMatches", func() {
				for i := range l.Containers() {
					c := l.Container(i)
					rows, ranks = c.AppendMatches(rows[:0], ranks[:0], mask.Window(c.Key()))
				}
			}},
			{"Cursor", func() {
				for c := l.Cursor(); c.Next(); {
					c.Encoded()
				}
			}},
			{"CursorPositions", func() {
				for c := l.Cursor(); c.Next(); {
					positions = c.AppendPositions(positions[:0])
				}
			}},
		} {
			b.Run(fmt.Sprintf("%s/every=%d", bm.name, every), func(b *testing.B) {
				for b.Loop() {
					bm.run()
				}
				perPosting(b, l.Len())
			})
		}
	}
}

// BenchmarkRandomAccess is the price of one row of a list of survivors.
func BenchmarkRandomAccess(b *testing.B) {
	for _, every := range []int{3, 100} {
		l := benchList(b, every)
		c := l.Container(3)
		rows := c.AppendRows(nil)
		var positions []uint32
		i := 0
		b.Run(fmt.Sprintf("Rank/every=%d", every), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				i = (i + 7919) % len(rows)
				c.Rank(rows[i])
			}
		})
		b.Run(fmt.Sprintf("Freq/every=%d", every), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				i = (i + 7919) % len(rows)
				c.Freq(i)
			}
		})
		b.Run(fmt.Sprintf("Positions/every=%d", every), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				i = (i + 7919) % len(rows)
				positions = c.AppendPositions(positions[:0], i)
			}
		})
		b.Run(fmt.Sprintf("Find/every=%d", every), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				i++
				l.Find(uint16(i & 15))
			}
		})
	}
}

func BenchmarkOpenTiny(b *testing.B) {
	e := build(new(ListBuilder), withRows(random(b), []Ord{7, 70000}))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := OpenTiny(e.Tiny); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	r := random(b)
	for _, name := range []string{"one", "sparse", "dense"} {
		rows := map[string][]Ord{"one": {5}, "sparse": nil, "dense": nil}[name]
		if rows == nil {
			rows = shapesOfRows(r)[name]
		}
		model := withRows(r, rows)
		b.Run(name, func(b *testing.B) {
			var lb ListBuilder
			for b.Loop() {
				lb.Reset()
				for _, p := range model {
					lb.Add(p.row, p.length, p.positions)
				}
				lb.Finish()
			}
			perPosting(b, len(model))
		})
	}
}

func BenchmarkLift(b *testing.B) {
	r := random(b)
	s := randomSpans(r, 100000, 20)
	for _, every := range []int{3, 100, 10000} {
		children, parents := randomBits(r, s.Children(), every), NewBits(s.Parents())
		b.Run(fmt.Sprintf("Lift/every=%d", every), func(b *testing.B) {
			for b.Loop() {
				Lift(children, parents, s)
			}
			perPosting(b, max(children.Count(), 1))
		})
		above, below := randomBits(r, s.Parents(), every), NewBits(s.Children())
		b.Run(fmt.Sprintf("Lower/every=%d", every), func(b *testing.B) {
			for b.Loop() {
				Lower(above, below, s)
			}
			perPosting(b, max(above.Count(), 1))
		})
	}
}

func BenchmarkPhraseFreq(b *testing.B) {
	lists := [][]uint32{make([]uint32, 8), make([]uint32, 200)}
	for _, l := range lists {
		for i := range l {
			l[i] = uint32(i * (800 / len(l)))
		}
	}
	offsets := []uint32{0, 4}
	b.ReportAllocs()
	for b.Loop() {
		PhraseFreq(lists, offsets)
	}
}

// BenchmarkStoredSet is the price of one value of a keyword column.
func BenchmarkStoredSet(b *testing.B) {
	bits := NewBits(benchRows)
	stored, err := NewSet([]uint32{7, 800, 90000}).AppendBinary(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("AddSet", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := AddSet(bits, stored); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("ReadSet", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s, err := ReadSet(stored)
			if err != nil {
				b.Fatal(err)
			}
			s.AddTo(bits)
		}
	})
}

// BenchmarkBits is what the pool is for: a bitset over a million rows.
func BenchmarkBits(b *testing.B) {
	b.Run("pooled", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			x := GetBits(benchRows)
			x.Add(5)
			PutBits(x)
		}
	})
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			x := NewBits(benchRows)
			x.Add(5)
		}
	})
}
