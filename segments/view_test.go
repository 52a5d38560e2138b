package segments_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/hansard-search/hansard/postings"
	"github.com/hansard-search/hansard/query"
	"github.com/hansard-search/hansard/segments"
)

// A view is what the executor reads.
var _ query.Source = (*segments.View)(nil)

func TestViewHidesDeadAndInherited(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 30 {
		w, err := segments.NewWriter(segments.Options{})
		if err != nil {
			t.Fatal(err)
		}
		check := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		var dead []uint32
		var live [postings.Units][]postings.Ord
		var next [postings.Units]postings.Ord
		var blocks, tokens int64
		allLive := true
		add := func(u postings.Unit, alive bool) {
			if alive {
				live[u] = append(live[u], next[u])
			}
			allLive = allLive && alive
			next[u]++
		}
		for s := range r.IntN(70) {
			alive := r.IntN(4) > 0
			if !alive {
				dead = append(dead, uint32(s))
			}
			check(w.BeginSession(segments.Ref{No: uint64(s)}, nil))
			add(postings.Session, alive)
			for range r.IntN(5) {
				inherited := r.IntN(8) == 0
				check(w.Message(inherited, nil))
				add(postings.Message, alive && !inherited)
				for range r.IntN(3) {
					text := []string{"", "one", "one two"}[r.IntN(3)]
					check(w.Block(text, inherited, nil))
					add(postings.Block, alive && !inherited)
					if alive && !inherited && text != "" {
						blocks++
						tokens += int64(len(text)+1) / 4
					}
				}
				check(w.Action(-1, -1, inherited, nil))
				add(postings.Action, alive && !inherited)
			}
			check(w.EndSession())
		}
		var buf bytes.Buffer
		if _, err := w.Finish(&buf); err != nil {
			t.Fatal(err)
		}
		seg, err := segments.OpenBytes("view", buf.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		v := segments.NewView(seg, postings.NewSet(dead))
		for u := range postings.Unit(postings.Units) {
			bits, err := v.Live(u)
			if err != nil {
				t.Fatal(err)
			}
			if got := slices.Collect(bits.All()); fmt.Sprint(got) != fmt.Sprint(live[u]) || bits.Len() != int(next[u]) {
				t.Fatalf("Live(%v) = %v of %d, want %v of %d", u, got, bits.Len(), live[u], next[u])
			}
		}
		if b, n, err := v.Totals(); err != nil || b != blocks || n != tokens {
			t.Fatalf("Totals = %d, %d, %v, want %d, %d", b, n, err, blocks, tokens)
		}
		if v.AllLive() != allLive {
			t.Fatalf("AllLive = %v, want %v", v.AllLive(), allLive)
		}
	}
}
