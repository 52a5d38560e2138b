package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// metamorphicQueries are requests that touch every part of an answer.
func metamorphicQueries(r *rand.Rand, n int) []SearchRequest {
	out := []SearchRequest{{}, {Query: "the", Limit: 5}, {Query: "the", Offset: 3, Limit: 4}, {Query: "tool:bash retry OR cache", Limit: 100},
		{Query: "nowhere-to-be-found"}, {Query: "git", Lane: LaneActions}, {Query: "NOT origin:codex-session"}, {Query: "-retry", Limit: 100}}
	for range n {
		out = append(out, SearchRequest{Query: randomExpression(r, 2), Limit: 1 + r.IntN(30)})
	}
	return out
}

func (w *world) answers(requests []SearchRequest) []string {
	w.t.Helper()
	var out []string
	for _, q := range requests {
		out = append(out, w.answer(q))
	}
	return out
}

func (w *world) sameAnswers(requests []SearchRequest, want []string, when string) {
	w.t.Helper()
	for i, got := range w.answers(requests) {
		if got != want[i] {
			w.t.Errorf("%s: %+v answers\n%s\nwant\n%s", when, requests[i], got, want[i])
			return
		}
	}
}

// optionSets are ways to run the same archive. Each number comes in combinations that
// no other number shares.
func optionSets() []Options {
	flush := []int{1, 1 << 10, 3 << 10, 8 << 10, 32 << 10, 128 << 10, 1 << 20, 1 << 30}
	var out []Options
	for i := range 24 {
		out = append(out, Options{
			FlushBytes: flush[i%len(flush)],
			NoMerge:    i%3 == 1,
			Workers:    []int{1, 2, 3, 5, 16}[i%5],
			DropRaw:    i%7 == 2,
			CacheBytes: []int64{0, 1, 64 << 10, 4 << 20}[(i/len(flush)+i)%4],
		})
	}
	return out
}

// TestOptionsChangeNoAnswer does the same operations under every option set: imports
// in pieces and whole, growth, copies, deletions, restarts, rebuilds, searches and
// walks through pages. Whatever an operation says, it must say it as the reference
// does, byte for byte: the sessions, their order, their scores, what reports count.
// In the middle of each run the options change, too.
func TestOptionsChangeNoAnswer(t *testing.T) {
	rounds, size := 1, 10
	first := cmp.Or(*testSeed, uint64(time.Now().UnixNano()))
	sets := optionSets()
	if *long {
		rounds, size = 21, 30 // 504 runs
	} else {
		rand.New(rand.NewPCG(first, 1)).Shuffle(len(sets), func(i, j int) { sets[i], sets[j] = sets[j], sets[i] })
		sets = sets[:6]
	}
	src := t.TempDir()
	asked, hits := 0, 0
	for round := range rounds {
		seed := first + uint64(round)
		t.Logf("round %d: seed %d", round, seed)
		ops := randomOperations(rand.New(rand.NewPCG(seed, 1)), size)
		var want []string
		for i, o := range append([]Options{{}}, sets...) {
			w := newWorldIn(t, o, src)
			w.emptied()
			got := w.playSwitching(ops, sets[(i+5)%len(sets)])
			if want == nil {
				want = got
			}
			for k := range ops {
				asked++
				hits += strings.Count(got[k], `session\":{`)
				if got[k] != want[k] {
					t.Fatalf("seed %d, option set %d %+v: operation %d, %s, says\n%s\nwant\n%s", seed, i, o, k, ops[k].what, got[k], want[k])
				}
			}
			w.check()
			w.close()
			if t.Failed() {
				t.Fatalf("seed %d, option set %d %+v", seed, i, o)
			}
		}
	}
	t.Logf("%d runs under %d option sets: %d operations compared, %d hits", rounds*len(sets), len(sets), asked, hits)
	if hits < 20*rounds*len(sets) {
		t.Error("too few operations find anything")
	}
}

// playSwitching plays operations, and reopens with other options halfway.
func (w *world) playSwitching(ops []operation, other Options) []string {
	w.t.Helper()
	half := len(ops) / 2
	out := w.play(ops[:half])
	w.reopen(other)
	return append(out, w.play(ops[half:])...)
}

// TestHistoryChangesNoAnswer holds that an archive whose sessions changed and were
// deleted on the way answers as one that saw only the end.
func TestHistoryChangesNoAnswer(t *testing.T) {
	r := seeded(t)
	w := newWorld(t, Options{FlushBytes: 2 << 10})
	scripts := randomScripts(r, 16)
	for range 6 {
		w.put(scripts...)
		w.load()
		for range 4 {
			scripts[r.IntN(len(scripts))].grow(r)
		}
	}
	w.put(scripts...)
	w.load()
	requests := metamorphicQueries(r, 40)
	fresh := newWorldIn(t, Options{NoMerge: true}, w.src)
	fresh.load()
	w.sameAnswers(requests, fresh.answers(requests), "grown in steps")
}

// TestImportTwice holds that a second import changes nothing, forced or not.
func TestImportTwice(t *testing.T) {
	r := seeded(t)
	w := newWorld(t, Options{FlushBytes: 8 << 10})
	w.put(randomScripts(r, 20)...)
	if first := w.load(); first.Added != 20 || first.Unchanged != 0 {
		t.Errorf("first import: %+v", first)
	}
	requests := metamorphicQueries(r, 10)
	want := w.answers(requests)
	generation := w.store.Generation()
	if again := w.load(); again.Added+again.Updated+again.Rejected != 0 || again.Unchanged != 20 || again.Files.Read != 0 {
		t.Errorf("second import: %+v", again)
	}
	if got := w.store.Generation(); got != generation {
		t.Errorf("second import: generation %d, was %d", got, generation)
	}
	forced, err := w.Import(t.Context(), ImportRequest{Paths: []string{w.src}, Force: true})
	if err != nil || forced.Added+forced.Updated != 0 || forced.Unchanged != 20 || forced.Files.Read != 20 {
		t.Errorf("forced import: %+v, %v", forced, err)
	}
	w.sameAnswers(requests, want, "imported again")
}

// TestCutImportResumes stops an import at every file, and at every fifth message or
// commit, and wants what a resumed import gives to equal an import in one go. The long
// form stops at each of them, until an import is over before it is stopped.
func TestCutImportResumes(t *testing.T) {
	r := seeded(t)
	base := newWorld(t, Options{})
	names := base.put(randomScripts(r, 8)...)
	base.load()
	requests := metamorphicQueries(r, 10)
	want := base.answers(requests)
	cuts, step := 30, 5
	if *long {
		cuts, step = 1<<20, 1
	}
	for cut := range cuts {
		w := newWorldIn(t, Options{FlushBytes: 1 << (10 + cut%12)}, base.src)
		if !w.importCut(cut, len(names), step) {
			t.Logf("%d cuts reach every point of the import", cut)
			return
		}
		if cut%3 == 0 {
			w.reopen(w.opts)
		}
		if cut%5 == 0 {
			w.check()
		}
		w.load()
		w.sameAnswers(requests, want, fmt.Sprintf("cut at %d", cut))
		if t.Failed() {
			return
		}
	}
}

// importCut runs an import that ends early: at a file for the first cuts, else
// after so many messages and commits. It reports whether it was cut.
func (w *world) importCut(cut, files, step int) bool {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	req := ImportRequest{Paths: []string{w.src}}
	if cut < files {
		req.Progress = func(p Progress) {
			if p.FilesDone == cut {
				cancel()
			}
		}
	} else {
		left := step * (cut - files)
		w.failpoint = func(string) {
			if left--; left < 0 {
				cancel()
			}
		}
		defer func() { w.failpoint = nil }()
	}
	report, err := w.Import(ctx, req)
	if err != nil && !errors.Is(err, context.Canceled) {
		w.t.Fatalf("cut %d: %v", cut, err)
	}
	if err != nil && !report.Stopped {
		w.t.Errorf("cut %d: the report does not say that the import stopped: %+v", cut, report)
	}
	if cut < files && err == nil {
		w.t.Errorf("cut %d: the import was not cut", cut)
	}
	return err != nil
}
