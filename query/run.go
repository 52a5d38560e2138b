package query

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/hansard-search/hansard/postings"
)

// Run answers a plan from the sources of one snapshot. A failing source is
// returned as a *[SourceError], the one of the least index if there are several.
func Run(ctx context.Context, p *Plan, sources []Source, o RunOptions) (*Result, error) {
	r, err := newRun(ctx, p, sources, o)
	if err != nil {
		return nil, err
	}
	limit := math.MaxInt
	if o.Limit >= 0 {
		limit = o.Limit
		if limit == 0 {
			limit = DefaultLimit
		}
		limit += max(o.Offset, 0)
	}
	found := make([]*collector, len(sources))
	err = r.each(func(i int, x *segment) error {
		c, err := newCollector(x, limit, o.After)
		if err != nil {
			return err
		}
		found[i] = c
		if p.ranked {
			return c.rank(r.ctx, r.ranking)
		}
		return c.list(r.ctx)
	})
	if err != nil {
		return nil, err
	}
	out := &Result{Ranked: p.ranked, Stats: r.stats, Hits: []Hit{}}
	for _, c := range found {
		if c != nil {
			out.Total += c.sessions
			out.Blocks += c.blocks
		}
	}
	top := newTop(limit, int(out.Total))
	for _, c := range found {
		if c == nil {
			continue
		}
		for _, h := range c.top.sorted() {
			top.offer(h)
		}
	}
	out.Hits = append(out.Hits, top.sorted()...)
	out.Hits = out.Hits[min(max(o.Offset, 0), len(out.Hits)):]
	return out, nil
}

// A BlockHit is a matching block.
type BlockHit struct {
	Source int
	Block  postings.Ord
	Score  float64
}

// MatchBlocks returns every matching block with its score, by source and row.
// The plan must be ranked.
func MatchBlocks(ctx context.Context, p *Plan, sources []Source, o RunOptions) ([]BlockHit, error) {
	if !p.ranked {
		return nil, errors.New("query: blocks asked of a query without text")
	}
	r, err := newRun(ctx, p, sources, o)
	if err != nil {
		return nil, err
	}
	found := make([][]BlockHit, len(sources))
	err = r.each(func(i int, x *segment) error {
		spans, err := x.src.Spans(postings.Session, postings.Block)
		if err != nil {
			return err
		}
		return x.match(r.ctx, spans, r.ranking, func(base postings.Ord, w *window, scores *[postings.ContainerRows]float64) error {
			for j, word := range w {
				for ; word != 0; word &= word - 1 {
					low := j<<6 + bits.TrailingZeros64(word)
					found[i] = append(found[i], BlockHit{i, base + postings.Ord(low), scores[low]})
				}
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	var out []BlockHit
	for _, f := range found {
		out = append(out, f...)
	}
	return out, nil
}

// rowsPerWorker is the number of sessions and blocks that one more worker is
// worth: it takes longer to start one than to look at fewer.
const rowsPerWorker = 4096

// A run is the state that the segments of one query share. Its first phase reads
// the filters and the statistics; scoring needs those of all segments.
type run struct {
	ctx      context.Context // of the query that the run belongs to and ends with
	workers  int
	segments []*segment
	stats    Stats
	ranking  *ranking
}

func newRun(ctx context.Context, p *Plan, sources []Source, o RunOptions) (*run, error) {
	if o.Stats != nil && len(o.Stats.DF) != len(p.phrases) {
		return nil, fmt.Errorf("query: statistics of %d phrases for a query of %d", len(o.Stats.DF), len(p.phrases))
	}
	spent := newBudget(ctx, p, o.Limits)
	r := &run{ctx: ctx, workers: workersFor(sources, o.Workers), segments: make([]*segment, len(sources))}
	if err := spent.take(int64(r.workers) * scratchBytes(p.nodes)); err != nil {
		return nil, err
	}
	err := eachSegment(ctx, p, sources, r.workers, spent, o.BlockTypes, func(i int, x *segment) error {
		r.segments[i] = x
		return x.prepare(o.Stats == nil)
	})
	if err != nil {
		return nil, err
	}
	if !p.ranked {
		return r, nil
	}
	if o.Stats != nil {
		r.stats = *o.Stats
	} else {
		r.stats.DF = make([]int64, len(p.phrases))
		for _, x := range r.segments {
			r.stats.Blocks += x.totals.Rows
			r.stats.Tokens += x.totals.Tokens
			for i, n := range x.df {
				r.stats.DF[i] += n
			}
		}
	}
	r.ranking = newRanking(&r.stats)
	return r, nil
}

// eachSegment calls f, with scratch, for the segment of each source, as each does.
func eachSegment(ctx context.Context, p *Plan, sources []Source, workers int, spent *budget, types []string, f func(i int, x *segment) error) error {
	kin, err := kinOf(ctx, p, sources)
	if err != nil {
		return err
	}
	return each(ctx, len(sources), workers, func(i int) error {
		x := newSegment(p, sources[i], i, types)
		x.budget, x.kin = spent, kin
		return x.use(func() error { return f(i, x) })
	})
}

// workersFor is the number of workers that sources are worth, at most limit.
func workersFor(sources []Source, limit int) int {
	rows := 0
	for _, s := range sources {
		rows += s.Rows(postings.Session) + s.Rows(postings.Block)
	}
	return max(min(limit, rows/rowsPerWorker), 1)
}

// prepare is the first phase: it reads the text, adds to the statistics if they
// are wanted, and filters the sessions unless the text leaves no hope.
func (x *segment) prepare(measure bool) error {
	if x.plan.ranked {
		if err := x.read(); err != nil {
			return err
		}
		if measure {
			if err := x.measure(); err != nil {
				return err
			}
		}
		if x.hopeless {
			return nil
		}
	}
	return x.filter()
}

// each runs f, with scratch, over the segments where something may match.
func (r *run) each(f func(i int, x *segment) error) error {
	return each(r.ctx, len(r.segments), r.workers, func(i int) error {
		x := r.segments[i]
		if x.hopeless {
			return nil
		}
		return x.use(func() error { return f(i, x) })
	})
}

// use lends scratch to x while f runs. After a panic it is not returned: counts
// may not be zero.
func (x *segment) use(f func() error) error {
	x.s = scratchPool.Get().(*scratch)
	x.s.budget = x.budget
	err := f()
	if err == nil {
		x.s.budget = nil
		clear(x.s.conts[:cap(x.s.conts)]) // views of a segment that may be closed
		scratchPool.Put(x.s)
	}
	x.s = nil
	return err
}

// each calls f for 0 … n-1 from several workers and returns the error of the least
// index, as a *SourceError or, where a limit was passed, an *Error; or the error
// of ctx. A panic is an error.
func each(ctx context.Context, n, workers int, f func(i int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	work := func() {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			errs[i] = guard(i, f)
		}
	}
	var wg sync.WaitGroup
	for range min(workers, n) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func guard(i int, f func(int) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			e, ok := p.(error)
			if !ok {
				e = fmt.Errorf("%v", p)
			}
			err = &SourceError{Source: i, Panicked: true, Stack: string(debug.Stack()), Err: e}
		}
	}()
	err = f(i)
	var limit *Error
	if err == nil || errors.As(err, &limit) {
		return err // a limit is the query's fault, not the source's
	}
	return &SourceError{Source: i, Err: err}
}
