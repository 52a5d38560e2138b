package owner

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hansard-search/hansard/engine"
)

// TestSearchesDuringImport: eight processes search while one imports. All answer, each
// with a state that was, and the last answer is the local one.
func TestSearchesDuringImport(t *testing.T) {
	tmp := t.TempDir()
	dir := filepath.Join(tmp, "archive")
	finish[engine.Report](t, start(t, job{Dir: dir, Do: "import", Paths: []string{write(t, tmp, "base", 5, 10, 1)}}))
	before := finish[engine.SearchEnvelope](t, start(t, job{Dir: dir, Do: "search", Query: "base"}))
	rounds, size := 1, 60
	if testing.Short() {
		size = 20
	}
	if *long {
		rounds = 10
	}
	load := start(t, job{Dir: dir, Do: "import", Paths: []string{write(t, tmp, "more", size, 40, 2)}})
	for range rounds {
		var ps []*process
		for range 8 {
			ps = append(ps, start(t, job{Dir: dir, Do: "search", Query: "base"}))
		}
		for _, p := range ps {
			// Scores depend on what else is there; which sessions match does not.
			env := finish[engine.SearchEnvelope](t, p)
			if env.Total != before.Total || len(env.Hits) != len(before.Hits) || env.Partial {
				t.Errorf("%d of %d sessions", env.Total, before.Total)
			}
		}
	}
	r := finish[engine.Report](t, load)
	if r.Added != size || r.Records.Read != int64(40*size) {
		t.Errorf("import: %+v", r)
	}
	remote := attach(t, dir, Options{})
	client := attach(t, dir, Options{})
	for _, q := range []string{"base", "more", "basket1 -tax2", "repo:shop"} {
		a, aErr := remote.Search(t.Context(), engine.SearchRequest{Query: q})
		b, bErr := client.Search(t.Context(), engine.SearchRequest{Query: q})
		if diff := cmp.Diff(document(t, a, aErr), document(t, b, bErr)); diff != "" {
			t.Errorf("%s: %s", q, diff)
		}
	}
	check(t, client.Close())
	check(t, remote.Close())
	if got := checked(t, dir).Sessions; got != 5+size {
		t.Errorf("%d sessions, want %d", got, 5+size)
	}
}

// TestTwoImports: two processes import at once, from folders that share sessions. Both
// end well; the archive is the union, nothing is there twice, and their reports add up.
func TestTwoImports(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes")
	}
	for round := range 3 {
		tmp := t.TempDir()
		dir := filepath.Join(tmp, "archive")
		shared := write(t, tmp, "shared", 10, 20, 1)
		one, two := write(t, tmp, "one", 10, 20, 2), write(t, tmp, "two", 15, 20, 3)
		a := start(t, job{Dir: dir, Do: "import", Paths: []string{shared, one}})
		b := start(t, job{Dir: dir, Do: "import", Paths: []string{two, shared}})
		ra, rb := finish[engine.Report](t, a), finish[engine.Report](t, b)
		if ra.Added+rb.Added != 35 || ra.Unchanged+rb.Unchanged != 10 || ra.Stopped || rb.Stopped {
			t.Errorf("round %d: %d and %d added, %d and %d unchanged", round, ra.Added, rb.Added, ra.Unchanged, rb.Unchanged)
		}
		if n := ra.Records.Read + rb.Records.Read; n != 35*20 || ra.Files.Read+rb.Files.Read != 35 || ra.Messages+rb.Messages != 700 {
			t.Errorf("round %d: %d records, %d and %d files read, %d messages", round, n, ra.Files.Read, rb.Files.Read, ra.Messages+rb.Messages)
		}
		if got := checked(t, dir).Sessions; got != 35 {
			t.Errorf("round %d: %d sessions, want 35", round, got)
		}
		env := finish[engine.SearchEnvelope](t, start(t, job{Dir: dir, Do: "search", Query: "needle"}))
		if env.Total != 35 {
			t.Errorf("round %d: %d sessions found, want 35", round, env.Total)
		}
	}
}

// TestOwnerKilled kills the owner while clients search and import. No call fails; what
// was acknowledged before is there; the archive passes its check.
func TestOwnerKilled(t *testing.T) {
	rounds := 3
	switch {
	case *long:
		rounds = 50
	case testing.Short():
		rounds = 1
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 2))
	tmp := t.TempDir()
	dir := filepath.Join(tmp, "archive")
	finish[engine.Report](t, start(t, job{Dir: dir, Do: "import", Paths: []string{write(t, tmp, "base", 5, 10, 1)}}))
	want := 5
	var gaps []time.Duration
	for round := range rounds {
		own := start(t, job{Dir: dir, Do: "own"})
		clients := make([]*Archive, 4)
		for i := range clients {
			clients[i] = attach(t, dir, Options{})
		}
		src := write(t, tmp, fmt.Sprint("round", round), 10, 20, uint64(100+round))
		var killed atomic.Int64 // when, in nanoseconds
		var worst atomic.Int64  // the longest call that was under way then, from the kill on
		stop := make(chan struct{})
		var asking sync.WaitGroup
		for i, c := range clients[1:] {
			asking.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					begin := time.Now()
					env, err := c.Search(context.Background(), engine.SearchRequest{Query: "base"})
					if err != nil || env.Total != 5 {
						t.Errorf("round %d, client %d: %v", round, i, err)
						return
					}
					if at := killed.Load(); at != 0 && begin.UnixNano() <= at {
						worst.Store(max(worst.Load(), time.Now().UnixNano()-at))
					}
				}
			})
		}
		asking.Go(func() {
			r, err := clients[0].Import(context.Background(), engine.ImportRequest{Paths: []string{src}})
			if err != nil || r.Added+r.Unchanged != 10 || r.Stopped {
				t.Errorf("round %d: import: %+v, %v", round, r, err)
			}
		})
		time.Sleep(time.Duration(rng.IntN(60)) * time.Millisecond)
		killed.Store(time.Now().UnixNano())
		check(t, own.Process.Kill())
		_ = own.Wait()
		time.Sleep(150 * time.Millisecond)
		close(stop)
		asking.Wait()
		want += 10
		if round%10 == 0 || round == rounds-1 {
			r, err := clients[1].Check(t.Context())
			check(t, err)
			for _, f := range r.Faults {
				t.Errorf("round %d: check: %s: %s", round, f.Where, f.What)
			}
		}
		env, err := clients[2].Search(t.Context(), engine.SearchRequest{})
		check(t, err)
		if env.Total != want {
			t.Errorf("round %d: %d sessions, want %d", round, env.Total, want)
		}
		for _, c := range clients {
			check(t, c.Close())
		}
		gaps = append(gaps, time.Duration(worst.Load()))
	}
	slices.Sort(gaps)
	t.Logf("%d kills; from the kill to the answer of the slowest call under way: median %v, longest %v", rounds, gaps[len(gaps)/2], gaps[len(gaps)-1])
	if got := checked(t, dir).Sessions; got != want {
		t.Errorf("%d sessions, want %d", got, want)
	}
}
