package query

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/hansard-search/hansard/postings"
)

// A boundedFake is a fake whose long lists carry bounds, as those of segments do.
type boundedFake struct{ *fakeSource }

func (f boundedFake) Bounds(term []byte, l postings.List) (postings.Bounds, error) {
	b := f.lists[string(term)].Bounds
	if len(b) == 0 {
		return postings.Bounds{}, nil
	}
	return postings.OpenBounds(b, l)
}

// clustered makes sessions whose words come and go, so that ranges of rows differ.
func clustered(r *rand.Rand, blocks int) []fakeSession {
	var out []fakeSession
	for n := 0; n < blocks; {
		s := fakeSession{id: fmt.Sprintf("s%d", n), tags: []string{pick(r, "alpha", "beta")}, dead: r.IntN(15) == 0, time: int64(n + 1)}
		theme := randomWords[r.IntN(len(randomWords))]
		for range min(1+r.IntN(120), blocks-n) {
			text := randomText(r, r.IntN(8))
			for range r.IntN(4) * r.IntN(6) {
				text += " " + theme
			}
			s.blocks = append(s.blocks, fakeBlock{text: text, dead: r.IntN(40) == 0})
			n++
		}
		out = append(out, s)
	}
	return out
}

// TestTopBlocks: the best blocks are the first of all matching blocks in order, to
// the last bit of their scores, and the count is their number.
func TestTopBlocks(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	sources := []Source{boundedFake{newFake(clustered(r, 5000))}, newFake(clustered(r, 1500)), boundedFake{newFake(nil)}, boundedFake{newFake(clustered(r, 3000))}}
	some := 0
	for range 600 {
		text := randomMatch(r, r.IntN(4))
		if r.IntN(4) == 0 {
			text += " tag:" + pick(r, "alpha", "beta")
		}
		p := mustCompile(t, text)
		if !p.Ranked() {
			continue
		}
		all, err := MatchBlocks(context.Background(), p, sources, RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(all, func(a, b BlockHit) int {
			if a.before(&b) {
				return -1
			}
			return 1
		})
		for _, limit := range []int{1, 10, -1} {
			got, err := TopBlocks(context.Background(), p, sources, RunOptions{Limit: limit})
			if err != nil {
				t.Fatal(err)
			}
			want := all
			if limit >= 0 {
				want = all[:min(limit, len(all))]
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s: best %d blocks are\n%v, want\n%v", text, limit, got, want)
			}
		}
		n, err := CountBlocks(context.Background(), p, sources, RunOptions{Workers: 2})
		if err != nil || n != int64(len(all)) {
			t.Fatalf("%s: %d blocks counted, %d match; %v", text, n, len(all), err)
		}
		some += min(1, len(all))
	}
	if some < 100 {
		t.Errorf("only %d queries found blocks", some)
	}
}

// TestTopBlocksPassOver: rows in ranges without hope are not looked at.
func TestTopBlocksPassOver(t *testing.T) {
	var sessions []fakeSession
	for i := range 60 {
		s := fakeSession{id: fmt.Sprint(i)}
		for k := range 1000 {
			text := "alpha x y z x y z x y z"
			if i == 41 && k == 7 {
				text = "alpha alpha alpha"
			}
			s.blocks = append(s.blocks, fakeBlock{text: text})
		}
		sessions = append(sessions, s)
	}
	p := mustCompile(t, "alpha")
	f := boundedFake{newFake(sessions)}
	x := newSegment(p, f, 0, nil)
	err := x.use(func() error {
		if err := x.prepare(true); err != nil {
			return err
		}
		promises, err := x.promises(newRanking(&Stats{Blocks: 60_000, Tokens: 600_000, DF: []int64{100}}))
		if err != nil {
			return err
		}
		if want := 41_007 / postings.RangeRows; promises[0].rng != want || promises[1].score == promises[0].score {
			t.Errorf("the most promising range is %d of %v, want %d", promises[0].rng, promises[:2], want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	best, err := TopBlocks(context.Background(), p, []Source{f}, RunOptions{Limit: 1})
	if err != nil || len(best) != 1 || best[0].Block != 41_007 {
		t.Errorf("best block = %v, %v", best, err)
	}
}
