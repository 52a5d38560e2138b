package engine

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
)

// BenchmarkSearch is a whole search in an archive of 250,000 blocks on disk: terms of
// a few hits, where what is shown costs more than what is found. -archive keeps
// the archive between runs.
func BenchmarkSearch(b *testing.B) {
	e := bulkArchive(b)
	for _, hits := range []int{1, 3, 18} {
		queries := termsWith(b, e, hits)
		b.Run(fmt.Sprintf("%d hits", hits), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				env, err := e.Search(b.Context(), SearchRequest{Query: queries[i%len(queries)]})
				if err != nil || len(env.Hits) != hits {
					b.Fatalf("%s: %v", queries[i%len(queries)], err)
				}
			}
		})
	}
}

// benchArchive keeps the archive of BenchmarkSearch.
var benchArchive = flag.String("archive", "", "folder of the archive of BenchmarkSearch; empty makes a new one")

// bulkArchive opens an archive of 500 sessions of 500 blocks.
func bulkArchive(b *testing.B) *Engine {
	b.Helper()
	dir := *benchArchive
	if dir == "" {
		dir = filepath.Join(b.TempDir(), "archive")
	}
	e, err := Open(dir, Options{Create: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = e.Close() })
	if stats, err := e.Stats(b.Context()); err != nil || stats.Blocks > 0 {
		return e
	}
	src := b.TempDir()
	writeRollouts(b, src, rand.New(rand.NewPCG(7, 7)), 500, 500, 60)
	if _, err := e.Import(b.Context(), ImportRequest{Paths: []string{src}}); err != nil {
		b.Fatal(err)
	}
	return e
}

// termsWith are words that so many sessions hold.
func termsWith(b *testing.B, e *Engine, hits int) []string {
	b.Helper()
	var out []string
	for i := 0; i < 6000 && len(out) < 64; i++ {
		q := fmt.Sprintf("%c%x", "rq"[i%2], i/2)
		env, err := e.Search(b.Context(), SearchRequest{Query: q, Limit: 1})
		if err != nil {
			b.Fatal(err)
		}
		if env.Total == hits {
			out = append(out, q)
		}
	}
	if len(out) < 8 {
		b.Fatalf("%d words have %d hits", len(out), hits)
	}
	return out
}
