package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"time"
)

// tolerance of scores, relative: both engines add floating-point numbers, in orders
// of their own.
const tolerance = 1e-6

// compare checks that both engines give the same answers and then measures them.
func compare(ctx context.Context, c config, r *report, o *ours, p peer, queries []query) error {
	c.log("checking %d queries", len(queries))
	for _, q := range queries {
		if err := check(ctx, r, o, p, q); err != nil {
			return err
		}
	}
	if n := len(r.Checked.Differences); n > 0 {
		return fmt.Errorf("%d of %d queries are answered differently", n, len(queries))
	}
	times := make([]timing, len(queries))
	for round := range c.rounds {
		c.log("round %d of %d", round+1, c.rounds)
		for i, q := range queries {
			if err := times[i].take(ctx, o, p, q); err != nil {
				return err
			}
		}
	}
	r.queries(queries, times)
	r.Machine.LoadAfter = load()
	return profileQueries(ctx, c, o, queries)
}

// check asks both engines and notes whether they differ.
func check(ctx context.Context, r *report, o *ours, p peer, q query) error {
	ours, err := o.Search(ctx, q.text, limit)
	if err != nil {
		return fmt.Errorf("query %s: %w", q.text, err)
	}
	theirs, err := p.Search(q.match, limit)
	if err != nil {
		return fmt.Errorf("%s: query %s: %w", p.Name(), q.match, err)
	}
	r.Checked.Queries++
	if why := differ(ours, theirs); why != "" {
		r.Checked.Differences = append(r.Checked.Differences, q.class+" "+q.text+": "+why)
	}
	return nil
}

// differ says how two answers differ; empty if they do not.
func differ(ours, theirs answer) string {
	if ours.total != theirs.total {
		return fmt.Sprintf("%d sessions, the peer finds %d", ours.total, theirs.total)
	}
	if len(ours.scores) != len(theirs.scores) {
		return fmt.Sprintf("%d hits, the peer has %d", len(ours.scores), len(theirs.scores))
	}
	for i, s := range ours.scores {
		if t := theirs.scores[i]; math.Abs(s-t) > tolerance*max(math.Abs(s), math.Abs(t)) {
			return fmt.Sprintf("hit %d scores %.9g, the peer's %.9g", i+1, s, t)
		}
	}
	return ""
}

// A timing is the least CPU time that a query took; 0 before the first round.
type timing struct{ ours, theirs time.Duration }

func (t *timing) take(ctx context.Context, o *ours, p peer, q query) error {
	start := processCPU()
	if _, err := o.Search(ctx, q.text, limit); err != nil {
		return err
	}
	between := processCPU()
	if _, err := p.Search(q.match, limit); err != nil {
		return err
	}
	end := processCPU()
	t.ours, t.theirs = least(t.ours, between-start), least(t.theirs, end-between)
	return nil
}

func least(old, d time.Duration) time.Duration {
	if old == 0 || d < old {
		return d
	}
	return old
}

// percentile is the smallest value that at least share of the values do not exceed.
func percentile(of []time.Duration, share float64) time.Duration {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}

// profileQueries runs each class alone, long enough for a profile.
func profileQueries(ctx context.Context, c config, o *ours, queries []query) error {
	if c.profiles == "" {
		return nil
	}
	for _, class := range classes {
		err := profile(c, class.name, func() error {
			for start := time.Now(); time.Since(start) < 5*time.Second; {
				for _, q := range queries {
					if q.class != class.name {
						continue
					}
					if _, err := o.Search(ctx, q.text, limit); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// profile runs f, under the CPU profiler if profiles are wanted.
func profile(c config, name string, f func() error) (err error) {
	if c.profiles == "" {
		return f()
	}
	if err := os.MkdirAll(c.profiles, 0o755); err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(c.profiles, name+".pprof"))
	if err != nil {
		return err
	}
	defer func() {
		if e := out.Close(); err == nil {
			err = e
		}
	}()
	if err := pprof.StartCPUProfile(out); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return f()
}
