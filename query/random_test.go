package query

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

var testNow = time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)

var randomWords = []string{"alpha", "beta", "gamma", "delta", "Über", "café", "cafe", "al", "alp", "x1", "the", "the", "the"}

func randomText(r *rand.Rand, n int) string {
	seps := []string{" ", " ", " ", "-", "/", ". ", "_"}
	var b strings.Builder
	for range n {
		b.WriteString(randomWords[r.IntN(len(randomWords))])
		b.WriteString(seps[r.IntN(len(seps))])
	}
	return b.String()
}

func pick(r *rand.Rand, from ...string) string { return from[r.IntN(len(from))] }

func randomSessions(r *rand.Rand, n int) []fakeSession {
	var out []fakeSession
	for i := range n {
		native := fmt.Sprintf("%03x", r.IntN(4096))
		s := fakeSession{
			id: fmt.Sprintf("codex-session:%s-%d", native, i), native: fmt.Sprintf("%s-%d", native, i),
			origin: pick(r, "codex-session", "claude-code-session", "grok-export"),
			title:  pick(r, "", "100% done", "Fix ÜBER query", "fix_query", "a b"),
			cwd:    pick(r, "", "/srv/App", "/srv/apple", "/srv/app/sub", `C:\work\app`, "/"),
			repo:   pick(r, "", "hansard", "Tools"), root: r.IntN(2) == 0, dead: r.IntN(8) == 0,
			time:     int64(r.IntN(3)) * testNow.AddDate(0, 0, -r.IntN(60)).UnixMilli(),
			messages: int64(r.IntN(12)) - 1, words: int64(r.IntN(200)) - 1, userMessages: int64(r.IntN(5)) - 1,
		}
		if s.time > testNow.UnixMilli() {
			s.time = testNow.UnixMilli() // several sessions of one time
		}
		if s.repo != "" {
			s.repoFull, s.repoURL = pick(r, "acme/", "other/")+s.repo, "git/Acme/"+s.repo
		}
		for _, t := range []string{"review", "stale", "a|b"} {
			if r.IntN(3) == 0 {
				s.tags = append(s.tags, t)
			}
		}
		for _, h := range []string{"paste", "tools", "thinking", "code"} {
			if r.IntN(3) == 0 {
				s.has = append(s.has, h)
			}
		}
		randomRows(r, &s)
		out = append(out, s)
	}
	return out
}

func randomTerm(r *rand.Rand) string {
	w := func() string { return randomWords[r.IntN(len(randomWords))] }
	switch r.IntN(8) {
	case 0:
		return `"` + w() + " " + w() + `"`
	case 1:
		return start(w(), 2) + "*"
	case 2:
		return w() + "-" + w()
	case 3:
		return `"` + w() + " " + start(w(), 1) + `"*`
	case 4:
		return "missing"
	}
	return w()
}

func start(s string, n int) string { return string([]rune(s)[:n]) }

func randomMatch(r *rand.Rand, depth int) string {
	if depth == 0 || r.IntN(3) == 0 {
		return randomTerm(r)
	}
	kid := func() string {
		s := randomMatch(r, depth-1)
		if strings.ContainsAny(s, " ") {
			return "(" + s + ")"
		}
		return s
	}
	var parts []string
	for range 2 + r.IntN(2) {
		parts = append(parts, kid())
	}
	return strings.Join(parts, pick(r, " ", " AND ", " OR ", " OR ", " NOT "))
}

func randomClause(r *rand.Rand) string {
	return pick(r, "repo:HANS", "repo:acme/t", "repo:zzz", "origin:codex-session", "origin:(codex-session|grok-export)",
		"-origin:grok-export", "tag:review", "-tag:stale", `tag:"a|b"|review`, "title:100%", "title:fix_", "title:über",
		"tool:BASH", "tool:none", "-tool:edit", "tool:none|edit", "action:shell", "-action:none", "path:query/a_b", "path:%",
		"cwd:/srv/app", "cwd:/", `cwd:c:/work`, "has:paste", "has:(code|thinking)", "since:7d", "until:2026-03-01", "since:today",
		"root:true", "root:no", "messages:>=5", "messages > 5", "words < 100", "messages = 3", "messages between 2 and 4",
		"date >= 2026-02", "date < 2026-03-20", "date between 2026-01 and 2026-02", "id:codex-session:0", "id:0", "id:7", "-alpha",
		`-"the the"`, "-al*", "-zzz", "session:codex-session:none", "contains:lph", `contains:"THE CAF"|zz`)
}

func randomQuery(r *rand.Rand) string {
	var parts []string
	if r.IntN(4) == 0 {
		var ors []string
		for range 1 + r.IntN(3) {
			c := pick(r, "", "NOT ") + randomClause(r)
			if r.IntN(3) == 0 {
				c += " AND user_messages >= 2"
			}
			ors = append(ors, c)
		}
		where := strings.Join(ors, " OR ")
		if r.IntN(2) == 0 {
			return where
		}
		parts = append(parts, "("+where+")")
	} else {
		for range r.IntN(3) {
			parts = append(parts, randomClause(r))
		}
	}
	if r.IntN(4) > 0 {
		parts = append(parts, randomMatch(r, r.IntN(4)))
	}
	return strings.Join(parts, " ")
}

// TestRunAgainstOracle compares answers with those of plain loops, over one source
// and over several, with dead and inherited rows.
func TestRunAgainstOracle(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	archives, queries := 12, 80
	if !testing.Short() {
		archives, queries = 60, 200
	}
	ran := 0
	for range archives {
		sessions := randomSessions(r, 1+r.IntN(40))
		o := &oracle{sessions: sessions, options: Options{Now: testNow}}
		whole := []Source{newFake(sessions)}
		parts := split(r, sessions)
		for range queries {
			text := randomQuery(r)
			plan, err := Compile(text, o.options)
			if err != nil {
				t.Fatalf("Compile(%q): %v", text, err)
			}
			want := o.answer(plan.Query)
			if len(want.hits) > 0 {
				ran++
			}
			one := runAll(t, plan, whole, RunOptions{Limit: -1})
			many := runAll(t, plan, parts, RunOptions{Limit: -1, Workers: 3})
			compareAnswer(t, text, whole, one, want)
			compareAnswer(t, text, parts, many, want)
			comparePages(t, text, plan, parts, many)
			for i := range one.Hits {
				if one.Hits[i].Anchor != many.Hits[i].Anchor {
					t.Errorf("%q: hit %d = %v in one source, %v in several", text, i, one.Hits[i].Anchor, many.Hits[i].Anchor)
				}
			}
			if t.Failed() {
				return
			}
		}
	}
	if ran < archives*queries/4 {
		t.Errorf("only %d of %d queries found anything", ran, archives*queries)
	}
}

func split(r *rand.Rand, sessions []fakeSession) []Source {
	var out []Source
	for rest := sessions; len(rest) > 0; {
		n := 1 + r.IntN(len(rest))
		out = append(out, newFake(rest[:n]))
		rest = rest[n:]
	}
	return append(out, newFake(nil))
}

func runAll(t *testing.T, p *Plan, sources []Source, o RunOptions) *Result {
	t.Helper()
	res, err := Run(context.Background(), p, sources, o)
	if err != nil {
		t.Fatalf("Run(%q): %v", p.Query.Source, err)
	}
	return res
}

func compareAnswer(t *testing.T, text string, sources []Source, got *Result, want oracleAnswer) {
	t.Helper()
	if int(got.Total) != len(want.hits) || len(got.Hits) != len(want.hits) || int(got.Blocks) != want.blocks {
		t.Errorf("%q: %d hits, total %d, %d blocks, want %d, %d", text, len(got.Hits), got.Total, got.Blocks, len(want.hits), want.blocks)
		return
	}
	for i, n := range want.df {
		if got.Stats.DF[i] != int64(n) {
			t.Errorf("%q: df of phrase %d = %d, want %d", text, i, got.Stats.DF[i], n)
		}
	}
	for i, w := range want.hits {
		h := got.Hits[i]
		if h.ID != w.id || math.Abs(h.Score-w.score) > 1e-12*math.Abs(w.score) || h.Time != w.time || h.HasTime != (w.time != 0) {
			t.Errorf("%q: hit %d = %s %v %v, want %s %v %v", text, i, h.ID, h.Score, h.Time, w.id, w.score, w.time)
			return
		}
		if w.block >= 0 {
			lo, _ := sources[h.Source].(*fakeSource).blocks().Run(h.Session)
			if int(h.Block-lo) != w.block {
				t.Errorf("%q: hit %d is block %d, want %d", text, i, h.Block-lo, w.block)
			}
		}
	}
}

// comparePages walks the answer page by page, by offset and by anchor.
func comparePages(t *testing.T, text string, p *Plan, sources []Source, all *Result) {
	t.Helper()
	const size = 3
	var after *Anchor
	for i := 0; i < len(all.Hits); i += size {
		want := all.Hits[i:min(i+size, len(all.Hits))]
		byOffset := runAll(t, p, sources, RunOptions{Limit: size, Offset: i, Workers: 2})
		byAnchor := runAll(t, p, sources, RunOptions{Limit: size, After: after, Stats: &all.Stats})
		for _, page := range []*Result{byOffset, byAnchor} {
			if page.Total != all.Total || fmt.Sprint(page.Hits) != fmt.Sprint(want) {
				t.Errorf("%q: page at %d = %v, want %v", text, i, page.Hits, want)
				return
			}
		}
		after = &want[len(want)-1].Anchor
	}
}
