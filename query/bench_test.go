package query

import (
	"context"
	"testing"
)

// BenchmarkRun answers a query of each class over one source of 60,000 blocks in
// memory; the columns of the fake are slow, so that filters say little.
func BenchmarkRun(b *testing.B) {
	f := bigFake(60_000)
	for _, c := range []struct{ name, text string }{
		{"term_rare", "gamma"},
		{"term_frequent", "the"},
		{"and", "alpha beta"},
		{"or_frequent", "the OR alpha"},
		{"not", "the NOT alpha"},
		{"phrase", `"the alpha"`},
		{"prefix", "a*"},
		{"phrase_prefix", `"alpha b"*`},
		{"nested", "(alpha beta) OR (gamma NOT beta)"},
		{"exclude", "the -gamma"},
		{"filtered", "the tag:beta"},
	} {
		p := mustCompile(b, c.text)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Run(context.Background(), p, []Source{f}, RunOptions{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(60_000*float64(b.N)/b.Elapsed().Seconds(), "blocks/s")
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	const text = `repo:x tag:(a|b) since:7d messages >= 5 "null pointer" (foo* OR bar-baz) NOT qux -zap`
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(text, Options{Now: testNow}); err != nil {
			b.Fatal(err)
		}
	}
}
