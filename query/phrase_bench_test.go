package query

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// prose is one source of n blocks of some thirty words each, the k-th most frequent
// word about 1/k as frequent as the first: its lists are of every kind, and those of
// the most frequent words are runs with many gaps.
func prose(n int) *fakeSource {
	r := rand.New(rand.NewPCG(7, uint64(n)))
	zipf := rand.NewZipf(r, 1.1, 1, 5_000)
	var sessions []fakeSession
	var text strings.Builder
	for i := range n {
		if i%10 == 0 {
			sessions = append(sessions, fakeSession{id: fmt.Sprintf("s%06d", i), time: int64(1 + i%977)})
		}
		text.Reset()
		for range 10 + r.IntN(40) {
			fmt.Fprintf(&text, "w%d ", zipf.Uint64())
		}
		s := &sessions[len(sessions)-1]
		s.blocks = append(s.blocks, fakeBlock{text: text.String()})
	}
	return newFake(sessions)
}

// BenchmarkPhrase reads the matches of phrases over 60,000 blocks of prose.
func BenchmarkPhrase(b *testing.B) {
	f := prose(60_000)
	for _, c := range []struct{ name, text string }{
		{"frequent", `"w0 w1"`},
		{"frequent_three", `"w0 w1 w2"`},
		{"mixed", `"w0 w40"`},
		{"mixed_last", `"w40 w0"`},
		{"rare", `"w2000 w0"`},
		{"prefix", `"w0 w3"*`},
	} {
		p := mustCompile(b, c.text)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			rows := 0
			for b.Loop() {
				s := scratchPool.Get().(*scratch)
				m, err := readUnit(f, p.units[0], s)
				if err != nil {
					b.Fatal(err)
				}
				rows = m.len()
				scratchPool.Put(s)
			}
			if rows == 0 {
				b.Fatal("no rows")
			}
			b.ReportMetric(float64(rows), "rows")
		})
	}
}

// BenchmarkSmall answers a query with one hit from many small sources: what is paid
// per source and per query.
func BenchmarkSmall(b *testing.B) {
	var sources []Source
	for i := range 20 {
		sources = append(sources, newFake([]fakeSession{{id: fmt.Sprint(i), time: 1, tags: []string{"x"},
			blocks: []fakeBlock{{text: fmt.Sprintf("alpha beta t%d", i)}, {text: "gamma"}}}}))
	}
	for _, c := range []struct{ name, text string }{
		{"term", "t7"}, {"all", "alpha"}, {"phrase", `"beta t7"`}, {"filtered", "t7 tag:x"}, {"list", "tag:x"}, {"none", "absent"},
	} {
		p := mustCompile(b, c.text)
		for _, workers := range []int{1, 4} {
			b.Run(fmt.Sprintf("%s/workers=%d", c.name, workers), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Run(context.Background(), p, sources, RunOptions{Workers: workers}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
