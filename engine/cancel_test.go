package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/internal/faultfs"
)

// TestCancelAnywhere cancels every sort of call at random points, alone and beside
// each other. A call returns its answer or the error of its context; nothing is left
// of it: no goroutine, no file, no snapshot, no segment; and the archive is whole.
func TestCancelAnywhere(t *testing.T) {
	defer noLeaks(t)()
	r := seeded(t)
	rounds := 5
	if *long {
		rounds = 1000
	}
	src := &world{t: t, src: t.TempDir()}
	src.put(randomScripts(r, 20)...)
	l := &leaks{t: t, fs: faultfs.New(vfs.NewMem())}
	e := openOrFail(t, Options{Create: true, FS: l.fs, FlushBytes: 4 << 10, Workers: 3})
	if _, err := e.Import(t.Context(), ImportRequest{Paths: []string{src.src}}); err != nil {
		t.Fatal(err)
	}
	ids := idsOf(searchOrFail(t, e, SearchRequest{Limit: 100}))
	took := map[string]time.Duration{} // about how long a whole call takes
	cut := map[string]int{}
	for range rounds {
		var all sync.WaitGroup
		var mu sync.Mutex
		for _, c := range calls(r, src.src, ids) {
			mu.Lock()
			whole := took[c.name]
			mu.Unlock()
			after := time.Duration(r.Int64N(int64(whole) + int64(whole)/4 + 1))
			run := func() {
				start := time.Now()
				ctx, cancel := context.WithTimeoutCause(context.Background(), after, errors.New("enough"))
				if whole == 0 {
					ctx = context.Background()
				}
				defer cancel()
				err := c.do(ctx, e)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					took[c.name] = time.Since(start)
				} else if cut[c.name]++; !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s, cancelled: %v", c.name, err)
				}
			}
			if whole == 0 || r.IntN(2) == 0 {
				run()
			} else {
				all.Go(run)
			}
		}
		all.Wait()
		if n := e.store.Snapshots(); n > 1 {
			t.Fatalf("%d snapshots are open, one is kept", n)
		}
		if got := idsOf(searchOrFail(t, e, SearchRequest{Limit: 100})); !slices.Equal(got, ids) {
			t.Fatalf("there is %v, want %v", got, ids)
		}
	}
	if report, err := e.Check(t.Context()); err != nil || len(report.Faults) > 0 {
		t.Errorf("check: %+v, %v", report, err)
	}
	l.note(e)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	l.none(e)
	t.Logf("%d rounds; cut short: %v", rounds, cut)
	for _, c := range calls(r, src.src, ids) {
		if *long && cut[c.name] < rounds/10 {
			t.Errorf("%s was cancelled %d times only", c.name, cut[c.name])
		}
	}
}

// latencies are how long calls took to return after they were cancelled.
type latencies []time.Duration

func (l latencies) at(share float64) time.Duration {
	s := slices.Sorted(slices.Values(l))
	return s[min(len(s)-1, int(share*float64(len(s))))]
}

// cancelled runs a call, cancels it at a random point of the time that it takes, and
// returns how long it then took to return.
func cancelled(t *testing.T, r *rand.Rand, e *Engine, c call, whole time.Duration) (late time.Duration, ok bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var at time.Time
	var mu sync.Mutex
	timer := time.AfterFunc(time.Duration(r.Int64N(int64(whole))), func() {
		mu.Lock()
		at = time.Now()
		mu.Unlock()
		cancel()
	})
	defer timer.Stop()
	err := c.do(ctx, e)
	end := time.Now()
	cancel()
	if err == nil {
		return 0, false
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%s, cancelled: %v", c.name, err)
	}
	mu.Lock()
	defer mu.Unlock()
	return end.Sub(at), true
}
