package query

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hansard-search/hansard/postings"
)

// TestWorkers: sources large enough for several workers give the same answer
// whatever their number.
func TestWorkers(t *testing.T) {
	var sources []Source
	for i := range 6 {
		sources = append(sources, bigFake(rowsPerWorker+100*i))
	}
	if n := workersFor(sources, 4); n != 4 {
		t.Fatalf("%d workers for %d sources, want 4: the test proves nothing", n, len(sources))
	}
	for _, text := range []string{"the", `"the alpha"`, `"alpha b"*`, "g* tag:beta", "alpha -gamma", "tag:beta", "the NOT beta", "absent"} {
		p := mustCompile(t, text)
		want := runAll(t, p, sources, RunOptions{Limit: 7, Workers: 1})
		for range 3 {
			if got := runAll(t, p, sources, RunOptions{Limit: 7, Workers: 4}); !cmp.Equal(got, want) {
				t.Errorf("%s: four workers differ from one: %s", text, cmp.Diff(want, got))
			}
		}
	}
}

func TestWorkersFor(t *testing.T) {
	small := newFake(nil)
	big := rowsOnly(10 * rowsPerWorker)
	for _, c := range []struct {
		name    string
		sources []Source
		limit   int
		want    int
	}{
		{"none", nil, 4, 1},
		{"tiny", []Source{small, small, small}, 4, 1},
		{"one worker asked for", []Source{big, big}, 1, 1},
		{"nothing asked for", []Source{big, big}, 0, 1},
		{"large", []Source{big, small}, 4, 4},
	} {
		if got := workersFor(c.sources, c.limit); got != c.want {
			t.Errorf("%s: %d workers, want %d", c.name, got, c.want)
		}
	}
}

// rowsOnly is a source that has rows of every unit and no more is asked of.
func rowsOnly(n int) Source {
	f := newFake(nil)
	for u := range f.rows {
		f.rows[u] = n
	}
	return f
}

// TestHopelessSourceIsLeftAlone: of a source where the text cannot match, nothing
// is read but terms and totals, which the scores need.
func TestHopelessSourceIsLeftAlone(t *testing.T) {
	hit := newFake([]fakeSession{{id: "a", time: 1, blocks: []fakeBlock{{text: "alpha beta"}}}})
	miss := newFake([]fakeSession{{id: "b", time: 1, tags: []string{"x"}, blocks: []fakeBlock{{text: "alpha"}, {text: "gamma"}}}})
	for _, text := range []string{"alpha beta", "beta", `"alpha beta"`, "beta NOT gamma", "beta OR bet*", "alpha beta -gamma"} {
		p := mustCompile(t, text)
		want := runAll(t, p, []Source{hit, miss}, RunOptions{})
		for _, call := range []string{"spans", "live", "keywords", "numbers", "lengths"} {
			miss.fail = call
			if got := runAll(t, p, []Source{hit, miss}, RunOptions{}); !cmp.Equal(got, want) {
				t.Errorf("%s without %s: %s", text, call, cmp.Diff(want, got))
			}
		}
		miss.fail = "totals"
		if _, err := Run(context.Background(), p, []Source{hit, miss}, RunOptions{}); err == nil {
			t.Errorf("%s: statistics without the totals of a source", text)
		}
		miss.fail = ""
		if want.Stats.Blocks != int64(hit.rows[postings.Block]+miss.rows[postings.Block]) {
			t.Errorf("%s: statistics of %d blocks", text, want.Stats.Blocks)
		}
	}
}
