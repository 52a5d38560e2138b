package query

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/hansard-search/hansard/postings"
)

func mustCompile(t testing.TB, text string) *Plan {
	t.Helper()
	p, err := Compile(text, Options{Now: testNow})
	if err != nil {
		t.Fatalf("Compile(%q): %v", text, err)
	}
	return p
}

// TestSourceErrors: whatever call fails, the error names the source.
func TestSourceErrors(t *testing.T) {
	sessions := []fakeSession{{id: "a", time: 1, words: 1, tags: []string{"x"}, blocks: []fakeBlock{{text: "alpha beta"}}}}
	const text = `alpha al* "alpha beta" tag:x words:>=0 -gamma`
	for _, call := range []string{"spans", "live", "term", "prefix", "lengths", "totals", "keywords", "numbers", "panic"} {
		bad := newFake(sessions)
		bad.fail = call
		_, err := Run(context.Background(), mustCompile(t, text), []Source{newFake(sessions), bad, newFake(sessions)}, RunOptions{Workers: 2})
		var se *SourceError
		if !errors.As(err, &se) || se.Source != 1 || se.Panicked != (call == "panic") || call != "panic" && !errors.Is(err, errFake) {
			t.Errorf("failing %s: %v", call, err)
		}
		if call == "panic" && !strings.Contains(se.Stack, "Lengths") {
			t.Errorf("the stack does not name the culprit: %s", se.Stack)
		}
	}
}

func TestRunCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, text := range []string{"alpha", "tag:x"} {
		if _, err := Run(ctx, mustCompile(t, text), []Source{newFake(nil)}, RunOptions{}); !errors.Is(err, context.Canceled) {
			t.Errorf("Run(%q) of a cancelled context: %v", text, err)
		}
	}
}

func TestStatsOfAnotherQuery(t *testing.T) {
	_, err := Run(context.Background(), mustCompile(t, "a b"), nil, RunOptions{Stats: &Stats{DF: []int64{1}}})
	if err == nil || !strings.Contains(err.Error(), "1 phrases for a query of 2") {
		t.Errorf("error = %v", err)
	}
	if _, err := MatchBlocks(context.Background(), mustCompile(t, "tag:a"), nil, RunOptions{}); err == nil {
		t.Error("blocks of a query without text")
	}
}

// TestFrozenStats: a later page is scored with the statistics of the first.
func TestFrozenStats(t *testing.T) {
	one := newFake([]fakeSession{{id: "a", blocks: []fakeBlock{{text: "alpha beta"}, {text: "gamma"}, {text: "x"}}}})
	more := newFake([]fakeSession{{id: "b", blocks: []fakeBlock{{text: "alpha alpha x y z"}}}})
	p := mustCompile(t, "alpha")
	first := runAll(t, p, []Source{one}, RunOptions{})
	later := runAll(t, p, []Source{one, more}, RunOptions{Stats: &first.Stats})
	fresh := runAll(t, p, []Source{one, more}, RunOptions{})
	score := func(r *Result) float64 {
		for _, h := range r.Hits {
			if h.ID == "a" {
				return h.Score
			}
		}
		t.Fatalf("a is no hit of %v", r.Hits)
		return 0
	}
	if score(later) != score(first) {
		t.Errorf("score with frozen statistics = %v, want %v", score(later), score(first))
	}
	if score(fresh) == score(first) {
		t.Error("fresh statistics changed nothing: the test proves nothing")
	}
}

func TestPhrases(t *testing.T) {
	p := mustCompile(t, `Foo-Bar (baz* OR foo) NOT qux -zap`)
	var got []string
	for _, ph := range p.Phrases() {
		s := strings.Join(ph.Terms, " ")
		if ph.Prefix {
			s += "*"
		}
		if !ph.Scored {
			s = "not " + s
		}
		got = append(got, s+"@"+p.Query.Source[ph.Position.Start:ph.Position.End])
	}
	if want := "foo bar@Foo-Bar, baz*@baz*, foo@foo, not qux@qux"; strings.Join(got, ", ") != want {
		t.Errorf("phrases = %v, want %s", got, want)
	}
	if got := strings.Join(p.MatchedTerms(), " "); got != "foo bar baz" {
		t.Errorf("matched terms = %s", got)
	}
}

// bigFake is one source of n blocks in sessions of ten, over two containers if n
// says so.
func bigFake(n int) *fakeSource {
	var sessions []fakeSession
	words := []string{"the", "alpha", "beta", "gamma"}
	for i := range n {
		if i%10 == 0 {
			sessions = append(sessions, fakeSession{id: "s", tags: []string{words[i/10%4]}, time: int64(1 + i%977),
				words: int64(i % 100), title: words[i/10%4], repo: words[i/10%3]})
		}
		text := "the"
		for k, w := range words {
			if i%(k*7+1) == 0 {
				text += " " + w
			}
		}
		s := &sessions[len(sessions)-1]
		s.blocks = append(s.blocks, fakeBlock{text: text})
	}
	for i := range sessions {
		sessions[i].id = "s" + string(rune('a'+i%26)) + strings.Repeat("x", i%7)
	}
	return newFake(sessions)
}

// TestContainers: containers beyond the first, and phrases in them.
func TestContainers(t *testing.T) {
	const n = 70_000
	f := bigFake(n)
	for text, want := range map[string]func(i int) bool{
		"gamma":        func(i int) bool { return i%22 == 0 },
		`"the alpha"`:  func(i int) bool { return i%8 == 0 },
		`"alpha be"*`:  func(i int) bool { return i%8 == 0 && i%15 == 0 },
		"g*":           func(i int) bool { return i%22 == 0 },
		"beta OR g*":   func(i int) bool { return i%15 == 0 || i%22 == 0 },
		"beta NOT g*":  func(i int) bool { return i%15 == 0 && i%22 != 0 },
		"tag:beta al*": func(i int) bool { return i/10%4 == 2 && i%8 == 0 },
	} {
		got, err := MatchBlocks(context.Background(), mustCompile(t, text), []Source{f}, RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		k := 0
		for i := range n {
			if !want(i) {
				continue
			}
			if k == len(got) || got[k].Block != postings.Ord(i) || got[k].Score >= 0 {
				t.Fatalf("%s: hit %d is not row %d", text, k, i)
			}
			k++
		}
		if k != len(got) {
			t.Errorf("%s: %d hits, want %d", text, len(got), k)
		}
	}
}

// TestNoAllocationPerRow: a hundred times the rows cost no more allocations.
func TestNoAllocationPerRow(t *testing.T) {
	small, big := bigFake(600), bigFake(60_000)
	for _, text := range []string{"the", "the alpha", "alpha OR beta", "the NOT beta", `"the alpha"`, `"the alpha b"*`} {
		p := mustCompile(t, text)
		allocs := func(f *fakeSource) float64 {
			least := math.Inf(1) // of some runs: a pool may lose what it was given
			for range 20 {
				least = min(least, testing.AllocsPerRun(1, func() {
					if _, err := Run(context.Background(), p, []Source{f}, RunOptions{Limit: 5}); err != nil {
						t.Fatal(err)
					}
				}))
			}
			return least
		}
		if a, b := allocs(small), allocs(big); b > a+40 {
			t.Errorf("%s: %v allocations over 600 rows, %v over 60,000", text, a, b)
		}
	}
}
