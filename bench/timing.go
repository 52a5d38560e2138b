package main

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"time"
)

// A timing is the least CPU time that an engine took for a question.
type timing struct {
	best  time.Duration
	spent time.Duration // in all rounds
	runs  int
	n     int // how often it is asked in a run, so that short answers can be measured
}

// Short questions are asked until a run takes about shortRun. An engine that spent
// patience on a question in two runs is not asked again: its figure does not change
// much, and the others wait.
const (
	shortRun = 200 * time.Microsecond
	patience = 250 * time.Millisecond
)

func (t *timing) done() bool { return t.runs >= 2 && t.spent > patience }

// take measures one run.
func (t *timing) take(ctx context.Context, p prepared, m mode) error {
	n := max(t.n, 1)
	d, err := p.Time(ctx, m, n)
	if err != nil {
		return err
	}
	t.spent += d * time.Duration(n)
	if t.runs++; t.runs == 1 || d < t.best {
		t.best = d
	}
	t.n = int(min(50, shortRun/max(t.best, 1)))
	return nil
}

// race asks all questions of all engines, in rounds: the engines take turns at each
// question, and another one begins in each round. The garbage collector rests while
// a question is asked and runs between, for all engines in this process alike.
func race(ctx context.Context, c config, names []string, questions []*asked) error {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for round := range c.rounds {
		c.log("round %d of %d", round+1, c.rounds)
		for i, q := range questions {
			for k := range names {
				name := names[(k+round+i)%len(names)]
				if q.by[name] == nil || q.took[name].done() {
					continue
				}
				if err := q.took[name].take(ctx, q.by[name], q.mode); err != nil {
					return fmt.Errorf("%s: %s: %w", name, q.text(), err)
				}
				collect()
			}
		}
	}
	return nil
}

// collect collects garbage if there is much of it.
func collect() {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Uint64() > 1<<30 {
		runtime.GC()
	}
}

// percentile is the smallest value that at least share of the values do not exceed.
func percentile(of []time.Duration, share float64) time.Duration {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
