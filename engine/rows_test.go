package engine

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/oracle"
	"github.com/hansard-search/hansard/query"
)

// rowScripts are sessions whose rows tie in time, have none, fail and are messages of
// several records.
func rowScripts(r *rand.Rand, n int) []*script {
	scripts := randomScripts(r, n)
	for _, s := range scripts {
		if !s.start.IsZero() && r.IntN(4) > 0 {
			s.start = testNow.Add(-time.Duration(r.IntN(5)) * time.Hour)
		}
		if s.parent == "" && r.IntN(8) == 0 {
			s.turns = append(s.turns, turn{kind: "call", tool: "Wibble", input: map[string]any{"file_path": "odd/Place.go"}})
		}
		for i := range s.turns {
			t := &s.turns[i]
			said := func(i int) bool { return i > 2 && slices.Contains([]string{"thinking", "call"}, s.turns[i].kind) }
			t.untimed = r.IntN(9) == 0
			t.failed = t.kind == "result" && r.IntN(3) == 0
			t.joined = !s.codex && slices.Contains([]string{"thinking", "call", "assistant"}, t.kind) && (said(i-1) || said(i-2)) && r.IntN(2) == 0
		}
	}
	return scripts
}

// rowClauses are clauses of each unit; those of every unit are under "".
var rowClauses = map[query.Unit][]string{
	query.UnitMessage: append(strings.Fields(`role:user role:ASSISTANT role:(user|system) role:nobody type:message type:tool_use type:Thinking`),
		`text:RETRY`, `text:"git status"`, "output:lock", "words > 5", "words between 2 and 20", "words:>=12", "words = 0", "output_tokens = 0", "duration_ms >= 0"),
	query.UnitAction: append(strings.Fields(`is_error:true is_error:ok is_error:(failed|no) is_error:perhaps type:shell type:nosuch type:OTHER
followup_class:silent_proceed followup_class:(ambiguous|acknowledged)`), "output:lock", "exit_code > 0", "exit_code:<=0", "exit_code between 1 and 3"),
	query.UnitBlock: strings.Fields(`type:text type:tool_use type:TOOL_RESULT type:(thinking|image) text:retry text:GIT`),
	"": append(strings.Fields(`tool:bash tool:SHELL tool:exec_command tool:none tool:edit tool:(none|read) -tool:bash action:shell action:git action:other
action:file_edit action:(none|file_read) command:"GO" path:query/plan path:Query\a_b path:100% path:go path:PLACE session.repo:acme session.origin:codex-session
session.title:100% session.words:>100 session.messages:<6 session.tool:bash session.id:4 session.cwd:/srv/app`),
		"time >= 2026-03-31T10:00:00Z", "time < 2026-03-31T09:30:00Z", "time between 2026-03-31T08:00:00Z and 2026-03-31T09:00:00Z", "time >= 30d"),
}

// scopes are predicates of the sessions whose rows are asked for.
var scopes = []string{"repo:acme", "root:true AND messages >= 3", "NOT tool:none", "~the OR ~retry", `NOT ~"the of"`, "title:fix_ OR origin:codex-session",
	"exists action(is_error:true)", "exists message(role:assistant AND words > 10) AND NOT exists block(type:thinking)"}

// randomUnitQuery asks for rows of a unit.
func randomUnitQuery(r *rand.Rand, u query.Unit) string {
	clauses := append(slices.Clone(rowClauses[""]), append(rowClauses[u], rowClauses[u]...)...)
	text := u.Plural() + " where " + randomRowPredicate(r, clauses, r.IntN(3))
	if r.IntN(4) == 0 {
		text = "sessions where " + pick(r, scopes...) + " | " + text
	}
	if r.IntN(4) == 0 {
		text += " | sort by time " + pick(r, "asc", "desc")
	}
	if r.IntN(6) == 0 {
		text += fmt.Sprintf(" | offset %d", r.IntN(20))
	}
	if r.IntN(6) == 0 {
		text += fmt.Sprintf(" | limit %d", 1+r.IntN(30))
	}
	return text
}

func randomRowPredicate(r *rand.Rand, clauses []string, depth int) string {
	if depth == 0 {
		return pick(r, "", "", "NOT ") + pick(r, clauses...)
	}
	kid := func() string {
		if r.IntN(2) == 0 {
			return randomRowPredicate(r, clauses, 0)
		}
		return pick(r, "", "NOT ") + "(" + randomRowPredicate(r, clauses, depth-1) + ")"
	}
	return kid() + pick(r, " AND ", " OR ") + kid()
}

var rowUnits = []query.Unit{query.UnitMessage, query.UnitAction, query.UnitBlock}

// rowsOf asks the oracle.
func rowsOf(t testing.TB, text string, o *oracle.Archive) []oracle.Row {
	t.Helper()
	q, err := query.Parse(text)
	if err != nil {
		t.Fatalf("parse %s: %v", text, err)
	}
	rows, err := o.Rows(q)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return rows
}

// compareRows asks the engine and the oracle, and compares all that they say of the rows.
func (w *world) compareRows(text string, o *oracle.Archive) int {
	w.t.Helper()
	want := rowsOf(w.t, text, o)
	got := w.units(UnitRequest{Expression: text, Limit: MaxLimit})
	if got.Total != len(want) || got.Returned != len(want) || len(got.Items) != len(want) || got.Partial || !got.Exact || got.Continuation != nil || got.NextOffset != nil {
		w.t.Errorf("%s: total %d, %d items of %d, want %d; partial %v, continuation %v", text, got.Total, len(got.Items), got.Returned, len(want), got.Partial, got.Continuation)
		return len(want)
	}
	for i, row := range want {
		if diff := cmp.Diff(itemOf(row), got.Items[i]); diff != "" {
			w.t.Errorf("%s: row %d (-want +got): %s", text, i, diff)
			return len(want)
		}
	}
	return len(want)
}

// itemOf is a row as it must be shown, from the session alone.
func itemOf(row oracle.Row) any {
	h, m := &row.Session.Head, row.Message
	messageID := func(m *archive.Message) string { return archive.MessageID(h.ID(), m, h.Duplicates) }
	blockID := func(position, block int) string {
		return archive.BlockID(messageID(&row.Session.Messages[position]), block)
	}
	var at *int64
	if m.Time != archive.NoTime {
		at = &m.Time
	}
	given := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	switch {
	case row.Action != nil:
		a := row.Action
		item := &ActionItem{Unit: "action", SessionID: string(h.ID()), MessageID: messageID(m), Origin: string(h.Origin), Title: h.Title,
			UseBlockID: blockID(a.UseMessage, a.UseBlock), ToolName: given(a.ToolName), ToolFamily: given(a.Family), Semantic: given(a.Semantic),
			Command: given(a.Command), Paths: append([]string{}, a.Paths...), OccurredAtMS: at, ResultState: string(a.State), FollowupClass: given(a.Followup)}
		if a.Semantic == "" {
			item.Semantic = given("other")
		}
		if len(a.Paths) > 0 {
			item.Path = &a.Paths[0]
		}
		if a.ResultMessage >= 0 {
			item.ResultBlockID = given(blockID(a.ResultMessage, a.ResultBlock))
			item.Output = &row.Session.Messages[a.ResultMessage].Blocks[a.ResultBlock].Text
		}
		switch no, yes := 0, 1; a.IsError {
		case archive.True:
			item.IsError = &yes
		case archive.False:
			item.IsError = &no
		}
		if a.ExitCode.Known {
			item.ExitCode = &a.ExitCode.Value
		}
		if a.FollowupMessage >= 0 {
			item.FollowupRef = given("message:" + messageID(&row.Session.Messages[a.FollowupMessage]))
		}
		return item
	case row.Block >= 0:
		b := &m.Blocks[row.Block]
		item := &BlockItem{Unit: "block", BlockID: blockID(m.Position, row.Block), MessageID: messageID(m), SessionID: string(h.ID()), Origin: string(h.Origin),
			Title: h.Title, Type: string(b.Type), Position: row.Block, Text: given(b.Text), ToolName: given(b.ToolName)}
		for i := range h.Actions {
			if a := &h.Actions[i]; a.UseMessage == m.Position && a.UseBlock == row.Block {
				item.Semantic, item.Command = given(a.Semantic), given(a.Command)
				if a.Semantic == "" {
					item.Semantic = given("other")
				}
				if len(a.Paths) > 0 {
					item.Path = &a.Paths[0]
				}
			}
		}
		return item
	}
	var parts []string
	for i := range m.Blocks {
		if text := string(archive.AppendSearchText(nil, &m.Blocks[i])); text != "" {
			parts = append(parts, text)
		}
	}
	return &MessageItem{Unit: "message", MessageID: messageID(m), SessionID: string(h.ID()), Origin: string(h.Origin), Title: h.Title, Role: string(m.Role),
		Type: string(m.Type), Material: string(m.Material), OccurredAtMS: at, Position: m.Position, Words: m.Words, Text: strings.Join(parts, "\n")}
}

// TestRowsBesidePlainLoops holds rows, their order, their totals and all they show to
// plain loops over the sessions, for every layout, through re-imports, deletions, a
// restart and a rebuild.
func TestRowsBesidePlainLoops(t *testing.T) {
	sessions, queries := 24, 7 // for each unit and step: 504 in all
	if *long {
		sessions, queries = 120, 140
	}
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			r := seeded(t)
			p := &past{newWorld(t, l.opts), r, map[archive.SessionID]bool{}}
			asked, some := 0, 0
			p.run(rowScripts(r, sessions), l.step, func(when string) {
				o := oracle.New(p.live(), testNow)
				for _, u := range rowUnits {
					all := p.compareRows(u.Plural()+" where time >= 2000 OR NOT time >= 2000", o)
					for range queries {
						n := p.compareRows(randomUnitQuery(r, u), o)
						asked++
						if n > 0 && n < all {
							some++
						}
					}
				}
				if t.Failed() {
					t.Fatalf("the archive differs once it is %s", when)
				}
			})
			t.Logf("%d queries, %d of them for some rows and not all", asked, some)
			if some < asked/2 {
				t.Error("too few queries say anything")
			}
		})
	}
}

// TestRowsOfEveryClause compares each clause alone.
func TestRowsOfEveryClause(t *testing.T) {
	r := seeded(t)
	w := newWorld(t, Options{FlushBytes: 16 << 10, Workers: 2})
	w.put(rowScripts(r, 40)...)
	w.load()
	o := oracle.New(readAll(t, w.src), testNow)
	for _, u := range rowUnits {
		for _, c := range append(slices.Clone(rowClauses[u]), rowClauses[""]...) {
			n := w.compareRows(u.Plural()+" where "+c, o)
			t.Logf("%4d %ss where %s", n, u, c)
		}
		for _, s := range scopes {
			w.compareRows("sessions where "+s+" | "+u.Plural()+" where tool:bash OR NOT tool:bash", o)
		}
	}
}

// TestRowsTravel: an envelope that was read back is the same.
func TestRowsTravel(t *testing.T) {
	r := seeded(t)
	w := newWorld(t, Options{})
	w.put(rowScripts(r, 6)...)
	w.load()
	for _, u := range rowUnits {
		env := w.units(UnitRequest{Expression: u.Plural() + " where NOT session.title:nosuch", Limit: 30})
		b, err := json.Marshal(env)
		if err != nil {
			t.Fatal(err)
		}
		var back UnitEnvelope
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(env, &back); diff != "" || len(env.Items) == 0 {
			t.Errorf("%d items: %s", len(env.Items), diff)
		}
	}
	for _, bad := range []string{`{"mode":"query-unit","unit":"sausage","items":[{}]}`, `{"mode":"query-unit","unit":"message","items":[3]}`, `{"items":3}`} {
		if err := json.Unmarshal([]byte(bad), new(UnitEnvelope)); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

func rowIDs(env *UnitEnvelope) []string {
	var out []string
	for _, it := range env.Items {
		out = append(out, itemID(it))
	}
	return out
}

// itemID names a row.
func itemID(item any) string {
	switch it := item.(type) {
	case *MessageItem:
		return it.MessageID
	case *ActionItem:
		return it.UseBlockID
	case *BlockItem:
		return it.BlockID
	}
	panic(fmt.Sprintf("item %T", item))
}
