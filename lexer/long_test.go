package lexer

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"
)

// long asks for the full number of executions.
var long = flag.Bool("long", false, "ten million random texts through the laws instead of 120,000")

// testSeed repeats what a log tells.
var testSeed = flag.Uint64("seed", 0, "seed of the run through the laws; 0 means a new one")

// TestManyLaws tries the laws on random texts of every kind, on all processors. It is
// a plain loop: the fuzz engine's instrumentation makes it fifty times slower and
// finds nothing more, since the scanner has few branches. Nothing in the loop but the
// scanner could allocate, so the count of allocations is the scanner's.
func TestManyLaws(t *testing.T) {
	total := 120_000
	if *long {
		total = 10_000_000
	}
	workers := runtime.GOMAXPROCS(0)
	seed := cmp.Or(*testSeed, uint64(time.Now().UnixNano()))
	t.Logf("seed %d, %d workers", seed, workers)
	results := make([]lawRun, workers)
	start := time.Now()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { results[w].run(seed, uint64(w), total/workers) })
	}
	wg.Wait()
	runtime.ReadMemStats(&after)
	var sum lawRun
	for _, r := range results {
		if r.err != nil {
			t.Error(r.err)
		}
		sum.texts, sum.terms, sum.bytes = sum.texts+r.texts, sum.terms+r.terms, sum.bytes+r.bytes
	}
	took := time.Since(start)
	allocs := after.Mallocs - before.Mallocs
	t.Logf("%d executions, %d terms, %d bytes in %v, %d allocations", sum.texts, sum.terms, sum.bytes, took.Round(time.Millisecond), allocs)
	// Buffers grow a few times, and the runtime has its own business.
	if limit := uint64(2000 + sum.texts/1000); allocs > limit {
		t.Errorf("%d allocations in %d executions, want at most %d", allocs, sum.texts, limit)
	}
	if sum.terms < sum.texts {
		t.Errorf("%d texts have only %d terms", sum.texts, sum.terms)
	}
}

// A lawRun is what one worker did.
type lawRun struct {
	texts, terms, bytes int
	err                 error
}

func (r *lawRun) run(seed, worker uint64, n int) {
	pcg := rand.NewPCG(seed, worker)
	chance := rand.New(pcg)
	var l lawTester
	var text []byte
	for i := range n {
		text = makers[i%len(makers)](text[:0], chance)
		if err := l.check(text, chance.Uint()); err != nil {
			r.err = fmt.Errorf("worker %d, execution %d: %+q: %w", worker, i, text, err)
			return
		}
		r.texts, r.terms, r.bytes = r.texts+1, r.terms+len(l.places), r.bytes+len(text)
	}
}
