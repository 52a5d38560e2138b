package engine

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hansard-search/hansard/engine/internal/oracle"
)

// filterClauses are clauses for every field, most of them selective. Those that
// begin with '-' are allowed in compact queries only.
func filterClauses(sessions []oracle.Session) []string {
	out := strings.Split(`repo:TOOLS repo:acme/h repo:acme repo:zzz repo:app origin:codex-session origin:claude-code-session
origin:(codex-session|claude-code-session) -origin:codex-session title:100% title:fix_ title:über title:retry
tool:BASH tool:shell tool:exec_command tool:none tool:edit tool:(none|read) -tool:bash -tool:none
action:shell action:git action:other action:file_edit action:(none|file_read) -action:none -action:search
path:query/plan path:Query\a_b path:% path:100% path:go cwd:/srv/app cwd:/SRV/App/ cwd:/srv cwd:/ cwd:c:/work cwd:/home/ann
tag:none -tag:x
since:7d since:60d since:2026-03 since:2025 since:today until:2026-03-01 until:2026-02 until:30d until:2026-01-15T12:00:00Z
root:true root:false root:no messages:>=5 messages:<3 words:>=100 words:<50 -retry -al* -zzz -"foo-bar"`, "\n")
	out = strings.Fields(strings.Join(out, " "))
	out = append(out, `-"the of"`, "messages > 6", "messages between 4 and 9", "words between 20 and 90", "words = 60",
		"date >= 2026-02", "date < 2026-03-20", "date between 2026-01 and 2026-02")
	for i := 0; i < len(sessions); i += 4 {
		h := &sessions[i].Head
		out = append(out, "id:"+h.Native[:2], "id:"+h.Native, "session:"+string(h.ID()), fmt.Sprintf("messages = %d", h.Counters.Messages))
		if h.Title != "" {
			out = append(out, "title:"+fmt.Sprintf("%q", strings.Fields(h.Title)[0]))
		}
	}
	return out
}

// booleanClauses are clauses that only Boolean queries take.
var booleanClauses = []string{"user_messages >= 2", "assistant_words > 40", "tool_use_messages = 0", "thinking_messages >= 1"}

// randomFilter combines clauses in one of the two grammars.
func randomFilter(r *rand.Rand, clauses, fields []string) string {
	if r.IntN(2) == 0 {
		var parts []string
		for range 1 + r.IntN(3) {
			parts = append(parts, pick(r, clauses...))
		}
		if r.IntN(3) == 0 {
			parts = append(parts, randomExpression(r, 0))
		}
		return strings.Join(parts, " ")
	}
	where := randomBoolean(r, fields, 2)
	if r.IntN(3) == 0 {
		return "(" + where + ") " + randomExpression(r, 0)
	}
	return where
}

func randomBoolean(r *rand.Rand, clauses []string, depth int) string {
	if depth == 0 {
		c := pick(r, clauses...)
		if r.IntN(5) == 0 {
			c = pick(r, booleanClauses...)
		}
		return pick(r, "", "", "NOT ") + c
	}
	kid := func() string {
		if r.IntN(2) == 0 {
			return randomBoolean(r, clauses, 0)
		}
		return pick(r, "", "NOT ") + "(" + randomBoolean(r, clauses, depth-1) + ")"
	}
	return kid() + pick(r, " AND ", " OR ") + kid()
}

// fieldClauses leaves out the clauses that exclude text.
func fieldClauses(clauses []string) []string {
	var out []string
	for _, c := range clauses {
		if !strings.HasPrefix(c, "-") {
			out = append(out, c)
		}
	}
	return out
}

// TestFilters compares every filter, alone and combined, with plain loops.
func TestFilters(t *testing.T) {
	queries := 2000
	if *long {
		queries = 10000
	}
	r := seeded(t)
	w := newWorld(t, Options{FlushBytes: 16 << 10, Workers: 2})
	w.put(randomScripts(r, 48)...)
	w.load()
	sessions := readAll(t, w.src)
	o := oracle.New(sessions, testNow)
	clauses := filterClauses(sessions)
	for _, c := range clauses {
		w.compareSearch(c, o)
	}
	compact, boolean := clauses, fieldClauses(clauses)
	found, all := 0, len(sessions)
	for range queries {
		text := randomFilter(r, compact, boolean)
		n := len(w.compareSearch(text, o).Hits)
		if n > 0 && n < all {
			found++
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d of %d queries select some sessions and not all", found, queries)
	if found < queries/4 {
		t.Error("too few queries say anything")
	}
}

// TestHasFilter compares has: with plain loops.
func TestHasFilter(t *testing.T) {
	r := seeded(t)
	w := newWorld(t, Options{})
	w.put(randomScripts(r, 30)...)
	w.load()
	o := oracle.New(readAll(t, w.src), testNow)
	for _, c := range strings.Fields("has:tools has:thinking has:(thinking|paste) has:tool_result has:document") {
		w.compareSearch(c, o)
		w.compareSearch("NOT "+c, o)
	}
}

// TestInheritedRowsAreAbsent holds that a replayed prefix neither makes a session a
// hit nor counts in statistics.
func TestInheritedRowsAreAbsent(t *testing.T) {
	w := newWorld(t, Options{})
	w.put(
		&script{native: "parent", start: testNow, turns: []turn{{kind: "user", text: "quince jam"}, {kind: "assistant", text: "boil it"}}},
		&script{native: "fork", parent: "parent", start: testNow, turns: []turn{
			{kind: "user", text: "quince jam", replays: true}, {kind: "assistant", text: "boil it", replays: true},
			{kind: "user", text: "and plums?"}}})
	w.load()
	for text, want := range map[string]string{
		"quince": "claude-code-session:parent", "plums": "claude-code-session:fork", "root:false": "claude-code-session:fork",
		"-quince": "claude-code-session:fork", "messages = 1": "claude-code-session:fork",
	} {
		env := w.search(SearchRequest{Query: text})
		if env.Total != 1 || env.Hits[0].Session.ID != want {
			t.Errorf("%s: %d hits %v, want %s", text, env.Total, idsOf(env), want)
		}
	}
	s, err := w.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.Blocks != 3 || s.Messages != 3 || s.SearchableBlocks != 3 {
		t.Errorf("stats count %d blocks, %d messages, %d searchable, want 3 of each", s.Blocks, s.Messages, s.SearchableBlocks)
	}
}

func idsOf(env *SearchEnvelope) []string {
	out := []string{}
	for _, h := range env.Hits {
		out = append(out, h.Session.ID)
	}
	return out
}
