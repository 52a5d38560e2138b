package query

import (
	"context"
	"math/rand/v2"
	"testing"
)

// BenchmarkTopBlocks finds the ten best of 100,000 blocks, with the bounds of their
// posting lists and without.
func BenchmarkTopBlocks(b *testing.B) {
	f := newFake(clustered(rand.New(rand.NewPCG(1, 1)), 100_000))
	for _, text := range []string{"beta", "the OR alpha", "the alpha", `"the alpha"`, "al*"} {
		p := mustCompile(b, text)
		for _, s := range []struct {
			name   string
			source Source
		}{{"bounds", boundedFake{f}}, {"none", f}} {
			b.Run(text+"/"+s.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := TopBlocks(context.Background(), p, []Source{s.source}, RunOptions{Limit: 10}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(text+"/all", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := MatchBlocks(context.Background(), p, []Source{f}, RunOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
