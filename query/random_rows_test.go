package query

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	randomKeys  = [][]string{nil, {"bash", "shell"}, {"exec_command", "shell", "bash"}, {"edit"}}
	randomPaths = []string{"src/Query/a_b.go", `src\query\axb.go`, "100%.md", "ÜBER/x.go"}

	randomCommands = []string{"", "go test ./...", "pytest -k a_b", "LS über"}
	randomOutputs  = []string{"", "FAILED 3 of 100%", "ok"}
)

// randomRows gives s messages, blocks and actions.
func randomRows(r *rand.Rand, s *fakeSession) {
	start := testNow.AddDate(0, 0, -r.IntN(40)).UnixMilli()
	at := func() int64 { // near each other, not in order, or unknown
		return int64(min(r.IntN(6), 1)) * (start + int64(r.IntN(5))*(time.Minute.Milliseconds()/2))
	}
	keys := func() []string { return randomKeys[r.IntN(len(randomKeys))] }
	paths := func() (out []string) {
		for range max(0, r.IntN(4)-1) {
			out = append(out, pick(r, randomPaths...))
		}
		return out
	}
	for range r.IntN(6) {
		b := fakeBlock{text: randomText(r, r.IntN(12)), dead: r.IntN(6) == 0, kind: pick(r, "text", "code", "tool_use", "tool_result")}
		if b.kind == "tool_use" {
			b.keys, b.semantic, b.paths = keys(), pick(r, "", "shell", "file_edit", "git"), paths()
			b.command, b.output = pick(r, randomCommands...), pick(r, randomOutputs...)
		}
		s.blocks = append(s.blocks, b)
	}
	for left := len(s.blocks); r.IntN(6) > 0; {
		m := fakeMessage{role: pick(r, "user", "assistant", "tool", ""), kind: pick(r, "message", "summary", "tool_use"),
			numbers: map[string]int64{}, time: at(), blocks: min(left, r.IntN(4)), dead: r.IntN(7) == 0}
		for _, f := range []string{"words", "duration_ms", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"} {
			if r.IntN(3) > 0 {
				m.numbers[f] = int64(r.IntN(9))
			}
		}
		left -= m.blocks
		s.turns = append(s.turns, m)
	}
	for range r.IntN(7) {
		s.actions = append(s.actions, fakeAction{keys: keys(), semantic: pick(r, "shell", "file_edit", "git", "custom"),
			path: pick(r, append(randomPaths, "")...), paths: paths(), failed: pick(r, "", "0", "1"), exit: pick(r, "", "0", "1", "2", "-1", "127"),
			command: pick(r, randomCommands...), output: pick(r, randomOutputs...),
			followup: pick(r, "", "", "acknowledged", "ambiguous"), time: at(), dead: r.IntN(6) == 0})
	}
}

// The leaves of each unit, and of the session that owns a row. Most select some rows.
var randomLeaves = map[Unit][]string{
	UnitMessage: {"role:user", "role:USER|tool", "role:system", "type:summary", "type:(message|Tool_Use)", "tool:BASH", "tool:none",
		"tool:none|edit", "action:shell", "action:none", "action:(git|file_edit)", "path:query/a_b", "path:%", "path:über", `path:"src\\query"`,
		"words > 3", "words:>=5", "words:<=2", "words = 0", "words between 2 and 5", "duration_ms < 4", "input_tokens >= 7",
		"output_tokens:=3", "cache_read_tokens > 0", "cache_write_tokens < 1", "time >= 2026-03-20", "time < 2026-03-01", "time > 7d",
		"time between 2026-03 and yesterday",
		"text:ALPHA", `text:"the the"`, "text:eta|amm", "text:lp", "text:x1", "command:GO", "command:a_b|%", "output:100%"},
	UnitAction: {"tool:bash", "tool:Edit|shell", "tool:none", "tool:none|exec_command", "action:shell", "action:Git|none", "action:none",
		"type:custom", "type:SHELL|git", "path:query/a", "path:100%", "path:_", "path:.go|.md", "is_error:true", "is_error:ok", "is_error:maybe",
		"is_error:(failed|passed)", "is_error:1|maybe", "is_error:0", "is_error:Y", "is_error:FALSE|n", "exit_code > 0", "exit_code:<0", "exit_code = -1", "exit_code:>=-1", "exit_code between -5 and 1",
		"exit_code < -1", "exit_code < -9223372036854775808", "exit_code > 9223372036854775807", "exit_code <= 127", "followup_class:acknowledged", "followup_class:AMBIGUOUS|x", "time >= 2026-03-10", "time <= 2026-03-10",
		`command:"GO TEST"`, "command:pytest|ÜBER", "command:a%b", "output:failed", "output:3", "text:edit", "text:ls", "text:.go|ok", `text:"ok src"`},
	UnitBlock: {"type:text", "type:CODE|tool_use", "tool:shell", "tool:none", "tool:none|edit", "action:git", "action:none", "action:shell|none",
		"path:src/", "path:%", "time >= 2026-03-15", "time < 2026-03-15", "time between 2026-02-20 and 2026-03",
		"text:über", `text:"a b"|gamma`, "text:the-alp", "text:ta", "command:test"},
	UnitFile: {"path:src/query", "path:a_b", "path:.go", "path:.md|über", "tool:bash", "tool:none", "action:file_edit", "action:none|git", "type:custom",
		"time >= 2026-03-12", "time < 2026-03-12", "command:LS", "text:edit", "text:.md|pytest"},
	"owner": {"session.repo:HANS", "session.repo:acme/t|zzz", "session.origin:grok-export", "session.tag:review", "session.title:fix_",
		"session.messages:>=5", "session.messages:3", "session.words:<100", "session.words:=7", "session.date:>=2026-02", "session.date:<2026-03-20",
		"session.since:7d", "session.until:2026-03", "session.id:0|7", "session.tool:none", "session.tool:BASH", "session.action:shell", "session.cwd:/srv/app",
		"session.has:paste", "session.path:query/a_b", "session.user_messages:>1", "session.user_messages > 1", "session.date between 2026-01 and 2026-02"},
}

func pickUnit(r *rand.Rand) Unit {
	return []Unit{UnitMessage, UnitAction, UnitBlock, UnitFile}[r.IntN(4)]
}

// randomRowPredicate is a predicate over rows of u.
func randomRowPredicate(r *rand.Rand, u Unit, depth int) string {
	return randomTree(r, depth, func() string {
		leaves := randomLeaves[u]
		if r.IntN(5) == 0 {
			leaves = randomLeaves["owner"]
		}
		leaf := pick(r, leaves...)
		if r.IntN(8) == 0 && !strings.ContainsAny(leaf, "<>= ") && !strings.Contains(leaf, "session.messages") {
			return "-" + leaf
		}
		return leaf
	})
}

// randomSessionPredicate is a predicate over sessions, with rows and text in it.
func randomSessionPredicate(r *rand.Rand, depth int) string {
	return randomTree(r, depth, func() string {
		switch r.IntN(6) {
		case 0:
			if c := randomClause(r); c[0] != '-' || fieldName(c[1:]) != "" {
				return c
			}
			return "user_messages >= 2"
		case 1:
			return "~" + randomTerm(r)
		case 2, 3:
			return randomSequence(r)
		}
		u := pickUnit(r)
		return pick(r, "exists ", "EXISTS  ") + pick(r, string(u), u.Plural()) + pick(r, "(", " ( ") + randomRowPredicate(r, u, r.IntN(4)) + ")"
	})
}

// randomTree joins leaves with AND, OR and NOT.
func randomTree(r *rand.Rand, depth int, leaf func() string) string {
	if depth == 0 {
		return leaf()
	}
	switch r.IntN(5) {
	case 0:
		return leaf()
	case 1:
		return pick(r, "NOT ", "not ") + "(" + randomTree(r, depth-1, leaf) + ")"
	case 2:
		return pick(r, "NOT ", "NOT NOT ") + leaf() + pick(r, " AND ", " OR ") + randomTree(r, depth-1, leaf)
	}
	var parts []string
	for range 2 + r.IntN(2) {
		part := randomTree(r, depth-1, leaf)
		if r.IntN(2) == 0 {
			part = "(" + part + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, pick(r, " AND ", " and ", " OR ", " or "))
}

// randomSequence has two to four steps, each with something positive.
func randomSequence(r *rand.Rand) string {
	b := pick(r, "seq(", "SEQ (")
	for i := range 2 + r.IntN(3) {
		if i > 0 {
			b += " ->" + pick(r, " ", " ", "[next] ", " [NEXT] ", " [within:30s] ", " [within:1m] ", "[within:90000ms] ", " [within:2d]")
		}
		step := pick(r, randomLeaves[UnitAction]...)
		if r.IntN(3) == 0 {
			step = "(" + step + " OR " + pick(r, randomLeaves[UnitAction]...) + ")"
		}
		if r.IntN(3) == 0 {
			step += " AND " + pick(r, "", "NOT ") + "(" + randomRowPredicate(r, UnitAction, r.IntN(3)) + ")"
		}
		b += step
	}
	return b + " )"
}

// randomWhere is a query of predicates.
func randomWhere(r *rand.Rand) string {
	u := pickUnit(r)
	rows := pick(r, string(u), u.Plural()) + " where " + randomRowPredicate(r, u, r.IntN(5))
	switch r.IntN(8) {
	case 0, 1:
		return rows
	case 2:
		return "sessions where " + randomSessionPredicate(r, r.IntN(3)) + " | " + rows
	case 3:
		return randomMatch(r, r.IntN(3)) + " exists " + string(u) + "(" + randomRowPredicate(r, u, r.IntN(3)) + ") " + pick(r, "", randomSequence(r))
	}
	return "sessions where " + randomSessionPredicate(r, r.IntN(4))
}

// TestPredicatesAgainstOracle compares what predicates find with plain loops over the
// sessions, over one source and over several, and their canonical form with them.
func TestPredicatesAgainstOracle(t *testing.T) {
	seed := cmp.Or(*testSeed, rand.Uint64())
	t.Logf("go test ./query -run %s -seed %d", t.Name(), seed)
	r := rand.New(rand.NewPCG(seed, 2))
	archives, queries := 20, 100
	if *long {
		archives, queries = 1000, 200
	}
	some, none, all := 0, 0, 0
	for range archives {
		sessions := randomSessions(r, 1+r.IntN(40))
		o := &oracle{sessions: sessions, options: Options{Now: testNow}}
		whole, parts := []Source{newFake(sessions)}, split(r, sessions)
		live := 0
		for _, s := range sessions {
			if !s.dead {
				live++
			}
		}
		for range queries {
			text := randomWhere(r)
			plan, err := Compile(text, o.options)
			if err != nil {
				t.Fatalf("Compile(%q): %v", text, err)
			}
			checkRoundTrip(t, plan.Query)
			want := o.answer(plan.Query)
			compareAnswer(t, text, whole, runAll(t, plan, whole, RunOptions{Limit: -1}), want)
			compareAnswer(t, text, parts, runAll(t, plan, parts, RunOptions{Limit: -1, Workers: 3}), want)
			if plan.Query.Unit != UnitSession && plan.Query.Unit != UnitFile {
				compareRowPages(t, r, plan, o.answerRows(plan.Query), whole, parts)
			}
			if t.Failed() {
				return
			}
			switch len(want.hits) {
			case 0:
				none++
			case live:
				all++
			default:
				some++
			}
		}
	}
	t.Logf("of %d queries %d found some sessions, %d all, %d none", archives*queries, some, all, none)
	if some < archives*queries/3 {
		t.Errorf("only %d of %d queries tell sessions apart", some, archives*queries)
	}
}

// compareRowPages compares all rows with want, then page by page, by offset and by
// anchor, each page from one of the layouts.
func compareRowPages(t *testing.T, r *rand.Rand, p *Plan, want []RowAnchor, layouts ...[]Source) {
	t.Helper()
	page := func(sources []Source, o RowOptions) []RowAnchor {
		res, err := RunRows(t.Context(), p, sources, o)
		if err != nil {
			t.Fatalf("RunRows(%q): %v", p.Query.Source, err)
		}
		if int(res.Total) != len(want) {
			t.Errorf("%q: total %d rows, want %d", p.Query.Source, res.Total, len(want))
		}
		var out []RowAnchor
		for _, row := range res.Rows {
			out = append(out, row.RowAnchor)
		}
		return out
	}
	for _, sources := range layouts {
		if got := page(sources, RowOptions{Limit: -1, Workers: 2}); !slices.Equal(got, want) {
			t.Errorf("%q: rows %v, want %v", p.Query.Source, got, want)
			return
		}
	}
	size := 1 + r.IntN(5)
	var after *RowAnchor
	for i := 0; i < min(len(want), 30); i += size {
		sources := layouts[r.IntN(len(layouts))]
		part := want[i:min(i+size, len(want))]
		byOffset := page(sources, RowOptions{Limit: size, Offset: i})
		byAnchor := page(sources, RowOptions{Limit: size, After: after, Seen: i})
		if !slices.Equal(byOffset, part) || !slices.Equal(byAnchor, part) {
			t.Errorf("%q: page at %d: by offset %v, by anchor %v, want %v", p.Query.Source, i, byOffset, byAnchor, part)
			return
		}
		after = &part[len(part)-1]
	}
}

// TestPredicatesByWorkers: sources large enough for several workers give the answer of
// the plain loops, whatever the number of workers and however the sources are cut.
func TestPredicatesByWorkers(t *testing.T) {
	seed := cmp.Or(*testSeed, rand.Uint64())
	t.Logf("go test ./query -run %s -seed %d", t.Name(), seed)
	r := rand.New(rand.NewPCG(seed, 3))
	const sessions = 3600
	queries := 15
	if *long {
		queries = 500
	}
	archive := randomSessions(r, sessions)
	o := &oracle{sessions: archive, options: Options{Now: testNow}}
	var even []Source
	for part := range slices.Chunk(archive, sessions/9) {
		even = append(even, newFake(part))
	}
	layouts := [][]Source{{newFake(archive)}, even, split(r, archive)}
	if n := workersFor(even, 3); n != 3 {
		t.Fatalf("%d workers, want 3: the test proves nothing", n)
	}
	for range queries {
		text := randomWhere(r)
		plan := mustCompile(t, text)
		want := o.answer(plan.Query)
		for _, sources := range layouts {
			for workers := 1; workers <= 3; workers += 2 {
				compareAnswer(t, text, sources, runAll(t, plan, sources, RunOptions{Limit: -1, Workers: workers}), want)
			}
		}
		if t.Failed() {
			return
		}
	}
}
