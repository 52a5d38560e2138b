package bm25

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func random(t testing.TB) *rand.Rand {
	const fixed = 0
	seed := uint64(time.Now().UnixNano())
	if fixed != 0 {
		seed = fixed
	}
	t.Logf("seed %d (set fixed in bm25_test.go to repeat)", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// textbook is the formula of the FTS5 documentation, written down as it stands
// there: a query of phrases with frequencies fs and document frequencies dfs.
func textbook(rows, tokens int64, length uint32, fs []uint32, dfs []int64) float64 {
	const k1, b = 1.2, 0.75
	avgdl := float64(tokens) / float64(rows)
	sum := 0.0
	for i, f := range fs {
		idf := math.Log((float64(rows) - float64(dfs[i]) + 0.5) / (float64(dfs[i]) + 0.5))
		if idf <= 0 {
			idf = 1e-6
		}
		sum += idf * float64(f) * (k1 + 1) / (float64(f) + k1*(1-b+b*float64(length)/avgdl))
	}
	return -sum
}

func TestScoreAgainstTextbook(t *testing.T) {
	r := random(t)
	for range 5000 {
		rows := 1 + r.Int64N(1<<r.IntN(30))
		tokens := rows * (1 + r.Int64N(500))
		length := r.Uint32N(1 << (1 + r.IntN(16)))
		s := NewScorer(Stats{Rows: rows, Tokens: tokens})
		var fs []uint32
		var dfs []int64
		got := 0.0
		for range 1 + r.IntN(5) {
			f, df := r.Uint32N(300), 1+r.Int64N(rows)
			fs, dfs = append(fs, f), append(dfs, df)
			got += s.Score(IDF(rows, df), f, length)
		}
		want := textbook(rows, tokens, length, fs, dfs)
		if math.Abs(got-want) > 1e-12*math.Abs(want) || got > 0 {
			t.Fatalf("score of %v with df %v in %d tokens, %d rows, %d tokens = %v, want %v", fs, dfs, length, rows, tokens, got, want)
		}
	}
}

// TestScoreFixed pins values worked out by hand.
func TestScoreFixed(t *testing.T) {
	tests := []struct {
		name         string
		stats        Stats
		df           int64
		freq, length uint32
		want         float64
	}{
		// ln(9.5/1.5) · 2.2 / (1 + 1.2): a row of average length scores its idf.
		{"average row", Stats{10, 100}, 1, 1, 10, -1.8458266904983307},
		// ln(9.5/1.5) · 2·2.2 / (2 + 1.2·(0.25+0.75·2))
		{"a long row", Stats{10, 100}, 1, 2, 20, -1.8458266904983307 * 4.4 / 4.1},
		{"a phrase in half of the rows", Stats{10, 100}, 5, 1, 10, -1e-6},
		{"a phrase in all rows", Stats{10, 100}, 10, 1, 10, -1e-6},
		{"no instance", Stats{10, 100}, 1, 0, 10, 0},
		{"rows without tokens", Stats{10, 0}, 1, 1, 0, -1.8458266904983307},
	}
	for _, tt := range tests {
		got := NewScorer(tt.stats).Score(IDF(tt.stats.Rows, tt.df), tt.freq, tt.length)
		if math.Abs(got-tt.want) > 1e-15 {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestIDFIsPositive(t *testing.T) {
	for rows := range int64(50) {
		for df := range rows + 3 { // also more rows than there are
			if idf := IDF(rows, df); !(idf > 0) {
				t.Errorf("IDF(%d, %d) = %v", rows, df, idf)
			}
		}
	}
	if (Stats{}).AverageLength() != 0 {
		t.Error("an empty collection has an average length")
	}
}

// TestAddEqualsScore checks that scoring in blocks gives the same bits as scoring
// row by row, on either side of the table of norms.
func TestAddEqualsScore(t *testing.T) {
	r := random(t)
	const n = 3000
	s := NewScorer(Stats{Rows: 1000, Tokens: 77777})
	lengths, want, got := make([]uint32, n), make([]float64, n), make([]float64, n)
	for i := range lengths {
		lengths[i] = uint32(i) + r.Uint32N(3)
	}
	for range 4 {
		idf := IDF(1000, 1+r.Int64N(600))
		var rows []uint16
		var freqs []uint32
		for i := range n {
			if r.IntN(3) == 0 {
				f := 1 + r.Uint32N(9)
				rows, freqs = append(rows, uint16(i)), append(freqs, f)
				want[i] += s.Score(idf, f, lengths[i])
			}
		}
		s.Add(got, idf, rows, freqs, lengths)
	}
	for i := range want {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			t.Fatalf("row %d: %v, want %v", i, got[i], want[i])
		}
	}
}

func TestAddDoesNotAllocate(t *testing.T) {
	s := NewScorer(Stats{Rows: 10, Tokens: 100})
	acc, rows, freqs, lengths := make([]float64, 10), []uint16{1, 9}, []uint32{1, 2}, make([]uint32, 10)
	if n := testing.AllocsPerRun(100, func() { s.Add(acc, 1, rows, freqs, lengths) }); n != 0 {
		t.Errorf("Add allocates %v times", n)
	}
}

func BenchmarkAdd(b *testing.B) {
	r := random(b)
	const n = 1024
	s := NewScorer(Stats{Rows: 1 << 20, Tokens: 80 << 20})
	acc, lengths := make([]float64, n), make([]uint32, n)
	var rows []uint16
	var freqs []uint32
	for i := range n {
		lengths[i] = uint32(r.IntN(300))
		if r.IntN(3) == 0 {
			rows, freqs = append(rows, uint16(i)), append(freqs, 1+uint32(r.IntN(4)))
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Add(acc, 2.5, rows, freqs, lengths)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(rows)), "ns/row")
}

// TestScoreEqualsFTS5 pins what bm25() of SQLite 3 says, to the last bit, for the
// query "a OR b OR d" over ten rows: "a b", "a a b c d e f", "a", "b b b", "c d",
// "c e", "d", "f g h i", "g" and "h i j k l m n o p".
func TestScoreEqualsFTS5(t *testing.T) {
	s := NewScorer(Stats{Rows: 10, Tokens: 32})
	idf := IDF(10, 3) // each of the three words is in three rows
	tests := []struct {
		row    string
		length uint32
		freqs  [3]uint32
		want   float64
	}{
		{"a b", 2, [3]uint32{1, 1, 0}, -1.8004919350369646},
		{"a a b c d e f", 7, [3]uint32{2, 1, 1}, -1.8114750623558324},
		{"a", 1, [3]uint32{1, 0, 0}, -1.0603687680652478},
		{"b b b", 3, [3]uint32{0, 3, 0}, -1.2139063272421162},
		{"c d", 2, [3]uint32{0, 0, 1}, -0.90024596751848229},
		{"d", 1, [3]uint32{0, 0, 1}, -1.0603687680652478},
	}
	for _, tt := range tests {
		got := 0.0
		for _, f := range tt.freqs {
			got += s.Score(idf, f, tt.length)
		}
		if got != tt.want {
			t.Errorf("%q scores %.17g, want %.17g", tt.row, got, tt.want)
		}
	}
}
