package postings

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// posting is one row of the naive model that every kernel is compared with.
type posting struct {
	row       Ord
	length    uint32
	positions []uint32
}

// random returns a source whose seed the test logs; set fixed to repeat a run.
func random(t testing.TB) *rand.Rand {
	const fixed = 0
	seed := uint64(time.Now().UnixNano())
	if fixed != 0 {
		seed = fixed
	}
	t.Logf("seed %d (set fixed in model_test.go to repeat)", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// build returns the stored parts of a model, in memory of their own.
func build(b *ListBuilder, model []posting) Encoded {
	b.Reset()
	for _, p := range model {
		b.Add(p.row, p.length, p.positions)
	}
	e := b.Finish()
	e.Tiny, e.Doc, e.Freq, e.Pos, e.Bounds = slices.Clone(e.Tiny), slices.Clone(e.Doc), slices.Clone(e.Freq), slices.Clone(e.Pos), slices.Clone(e.Bounds)
	return e
}

func open(e Encoded) (List, error) {
	switch {
	case e.Rows == 0:
		return List{}, nil
	case e.Tiny != nil:
		return OpenTiny(e.Tiny)
	}
	return OpenList(e.Doc, e.Freq, e.Pos)
}

func mustOpen(t testing.TB, e Encoded) List {
	t.Helper()
	l, err := open(e)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// withRows gives rows random frequencies: mostly 1 and 2, now and then more than
// a byte holds.
func withRows(r *rand.Rand, rows []Ord) []posting {
	model := make([]posting, len(rows))
	for i, row := range rows {
		n := 1
		switch x := r.IntN(1000); {
		case x < 2:
			n = 250 + r.IntN(20)
		case x < 300:
			n = 2 + r.IntN(4)
		}
		p := posting{row: row, positions: make([]uint32, n)}
		at := uint32(r.IntN(300))
		for j := range p.positions {
			p.positions[j] = at
			at += 1 + uint32(r.IntN(1<<r.IntN(10)))
		}
		p.length = at + uint32(r.IntN(1000))
		model[i] = p
	}
	return model
}

// shapesOfRows are lists on either side of each boundary of the format.
func shapesOfRows(r *rand.Rand) map[string][]Ord {
	every := func(lo, hi, step Ord) (rows []Ord) {
		for x := lo; x < hi; x += step {
			rows = append(rows, x)
		}
		return rows
	}
	sample := func(n int, below Ord) []Ord {
		rows := make([]Ord, n)
		for i := range rows {
			rows[i] = Ord(r.Uint32N(uint32(below)))
		}
		slices.Sort(rows)
		return slices.Compact(rows)
	}
	return map[string][]Ord{
		"empty":               nil,
		"first row":           {0},
		"last row":            {1<<32 - 1},
		"two in one":          {7, 65535},
		"two in two":          {7, 65536},
		"three in one":        {1, 2, 3},
		"three, one and two":  {1, 65536, 65537},
		"three, two and one":  {1, 2, 65536},
		"three in three":      {1, 65536, 1 << 20},
		"four":                {0, 1, 2, 3},
		"four in four":        {0, 1 << 16, 2 << 16, 9 << 16},
		"63 rows":             every(0, 63*5, 5),
		"64 rows":             every(0, 64*5, 5),
		"65 rows":             every(0, 65*5, 5),
		"bounds minus one":    every(0, 127*900, 900),
		"bounds":              every(0, 128*900, 900),
		"array at its most":   every(1, 1+2*arrayMax, 2),
		"bitmap at its least": every(1, 1+2*(arrayMax+1), 2),
		"one full container":  every(0, ContainerRows, 1),
		"full and one more":   every(0, ContainerRows+1, 1),
		"runs":                append(append(every(10, 500, 1), every(9000, 20000, 1)...), every(65000, 65536, 1)...),
		"run over an edge":    every(65000, 140000, 1),
		"array bitmap run":    append(append(every(0, 60000, 33), every(65536, 131072, 3)...), every(131072, 150000, 1)...),
		"sparse":              sample(500, 1<<24),
		"dense":               sample(100000, 1<<18),
		"half":                sample(40000, 1<<16),
	}
}

// bitsOf are the rows of a model below n.
func bitsOf(model []posting, n int) *Bits {
	b := NewBits(n)
	for _, p := range model {
		if int64(p.row) < int64(n) {
			b.Add(p.row)
		}
	}
	return b
}

// randomBits sets about one of each every rows.
func randomBits(r *rand.Rand, n, every int) *Bits {
	b := NewBits(n)
	for i := range n {
		if r.IntN(every) == 0 {
			b.Add(Ord(i))
		}
	}
	return b
}
