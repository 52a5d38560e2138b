package query

import (
	"context"
	"testing"
)

// BenchmarkCountBlocks counts the matches among 60,000 blocks.
func BenchmarkCountBlocks(b *testing.B) {
	f := bigFake(60_000)
	for _, text := range []string{"the", "alpha beta", "alpha OR beta OR gamma", "the NOT alpha"} {
		p := mustCompile(b, text)
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := CountBlocks(context.Background(), p, []Source{f}, RunOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
