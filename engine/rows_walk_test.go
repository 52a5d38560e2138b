package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/oracle"
	"github.com/hansard-search/hansard/query"
)

// walkRows follows continuations from the first page to the last and returns the rows.
// between runs before every page but the first.
func (w *world) walkRows(text string, size int, between func()) []string {
	w.t.Helper()
	var ids []string
	for req := (UnitRequest{Expression: text, Limit: size}); ; {
		env := w.units(req)
		if env.Offset != len(ids) || env.Returned != len(env.Items) || env.Returned > size {
			w.t.Errorf("%s: a page of %d at %d behind %d rows", text, env.Returned, env.Offset, len(ids))
		}
		ids = append(ids, rowIDs(env)...)
		if env.Continuation == nil {
			if env.NextOffset != nil {
				w.t.Errorf("%s: the last page goes on", text)
			}
			return ids
		}
		if *env.NextOffset != len(ids) || env.Returned == 0 {
			w.t.Errorf("%s: next offset %d behind %d rows", text, *env.NextOffset, len(ids))
		}
		if req.Continuation == *env.Continuation || len(ids) > 4*env.Total+100 {
			w.t.Fatalf("%s: the pages do not end: %d rows, at %s", text, len(ids), req.Continuation)
		}
		req.Continuation = *env.Continuation
		if between != nil {
			between()
		}
	}
}

// TestRowPagesCoverTheAnswer holds that pages, by continuation and by offset, are one big
// page cut into pieces, also where a page ends early because its rows are long.
func TestRowPagesCoverTheAnswer(t *testing.T) {
	r := seeded(t)
	for _, page := range []int{0, 1, 3000, -1} {
		t.Run(fmt.Sprintf("page of %d bytes", page), func(t *testing.T) {
			w := newWorld(t, Options{FlushBytes: 4 << 10, QueryLimits: QueryLimits{Page: page}})
			w.put(rowScripts(r, 14)...)
			w.load()
			o := oracle.New(readAll(t, w.src), testNow)
			for range 8 {
				for _, u := range rowUnits {
					text := randomUnitQuery(r, u)
					var all []string
					for _, row := range rowsOf(t, text, o) {
						all = append(all, itemID(itemOf(row)))
					}
					for _, size := range []int{1, 3, 7, MaxLimit} {
						if got := w.walkRows(text, size, nil); !slices.Equal(got, all) {
							t.Errorf("%s, pages of %d: %v, want %v", text, size, got, all)
						}
					}
					var byOffset []string
					for len(byOffset) < len(all) {
						env := w.units(UnitRequest{Expression: text, Limit: 4, Offset: len(byOffset)})
						if len(env.Items) == 0 || env.Total != len(all) || page == 1 && env.Returned != 1 {
							t.Fatalf("%s: %d of %d rows at %d, want %d", text, env.Returned, env.Total, len(byOffset), len(all))
						}
						byOffset = append(byOffset, rowIDs(env)...)
					}
					if !slices.Equal(byOffset, all) {
						t.Errorf("%s by offset: %v, want %v", text, byOffset, all)
					}
				}
			}
		})
	}
}

// TestRowPagesWhileImporting holds that rows that exist throughout, and stay where they
// are, are seen exactly once and in order while sessions come, grow and go between the
// pages, segments merge, and the archive is opened again or rebuilt.
func TestRowPagesWhileImporting(t *testing.T) {
	r := seeded(t)
	w := newWorld(t, Options{FlushBytes: 2 << 10})
	scripts := rowScripts(r, 24)
	w.put(scripts...)
	w.load()
	gone := map[archive.SessionID]bool{}
	now := func() *oracle.Archive {
		return oracle.New((&past{world: w, gone: gone}).live(), testNow)
	}
	serial, turn := len(scripts), 0
	disturb := func() {
		turn++
		growing := scripts[12+r.IntN(8)]
		growing.grow(r)
		fresh := rowScripts(r, 1)[0]
		fresh.native = fmt.Sprintf("%02x-fresh-%d", r.IntN(256), serial)
		serial++
		w.load(w.put(growing, fresh)...)
		switch {
		case turn%11 == 0:
			w.reopen(w.opts)
		case turn%17 == 0:
			w.rebuild()
		case turn%5 == 0 && len(gone) < 4:
			id := w.idOf(scripts[20+len(gone)])
			w.remove(id)
			gone[id] = true
		}
	}
	texts := []string{"%s where NOT session.title:nosuch", "%s where tool:bash OR NOT tool:bash | sort by time desc", "%s where time >= 60d",
		"sessions where NOT repo:zzz | %s where NOT tool:read"}
	if testing.Short() {
		texts = texts[:2]
	}
	for _, u := range rowUnits {
		for _, text := range texts {
			text = fmt.Sprintf(text, u.Plural())
			before := rowPlaces(rowsOf(t, text, now()))
			got := w.walkRows(text, max(2, len(before)/9), disturb)
			after := rowPlaces(rowsOf(t, text, now()))
			steady := map[string]bool{}
			for id, p := range before {
				steady[id] = after[id] == p
			}
			var want []string
			for _, row := range rowsOf(t, text, now()) {
				if id := itemID(itemOf(row)); steady[id] {
					want = append(want, id)
				}
			}
			seen := map[string]int{}
			for _, id := range got {
				seen[id]++
				if seen[id] > 1 && !strings.HasPrefix(after[id], "session ") {
					t.Errorf("%s: %s is seen %d times", text, id, seen[id])
				}
			}
			got = slices.DeleteFunc(got, func(id string) bool { return !steady[id] })
			if !slices.Equal(got, want) {
				t.Errorf("%s: pages give %d steady rows %v, want %d %v", text, len(got), got, len(want), want)
			}
			if len(want) < len(before)/3 {
				t.Errorf("%s: only %d of %d rows are steady", text, len(want), len(before))
			}
		}
	}
}

// rowPlaces are the places of rows in the order, by their ids. A row of unknown time moves
// when its session goes on.
func rowPlaces(rows []oracle.Row) map[string]string {
	out := map[string]string{}
	for _, row := range rows {
		whose := "row"
		if row.Message.Time == archive.NoTime {
			whose = "session"
		}
		out[itemID(itemOf(row))] = fmt.Sprintf("%s %d %d", whose, row.Time, row.Place)
	}
	return out
}

// TestInheritedRowsAreNoRows: what a session replays from its parent is no row of it.
func TestInheritedRowsAreNoRows(t *testing.T) {
	w := newWorld(t, Options{})
	said := func(words ...string) (turns []turn) {
		for _, text := range words {
			turns = append(turns, turn{kind: "user", text: text})
		}
		return turns
	}
	parent := &script{native: "parent", start: testNow, turns: said("one", "two")}
	child := &script{native: "child", start: testNow, parent: "parent", turns: said("one", "two", "three")}
	child.turns[0].replays, child.turns[1].replays = true, true
	w.put(parent, child)
	w.load()
	for _, u := range []query.Unit{query.UnitMessage, query.UnitBlock} {
		env := w.units(UnitRequest{Expression: u.Plural() + " where NOT session.title:nosuch"})
		var own int
		for _, id := range rowIDs(env) {
			if strings.HasPrefix(id, "claude-code-session:child:") {
				own++
			}
		}
		if env.Total != 3 || own != 1 || env.FiltersApplied[0] != "inherited:false" {
			t.Errorf("%s: %d rows, %d of the child, filters %v; want 3, 1", u, env.Total, own, env.FiltersApplied)
		}
	}
}

// TestRowRequests: what is wrong with a request for rows.
func TestRowRequests(t *testing.T) {
	r := seeded(t)
	w := newWorld(t, Options{})
	w.put(rowScripts(r, 8)...)
	w.load()
	const text = "messages where words >= 0"
	next := w.units(UnitRequest{Expression: text, Limit: 2}).Continuation
	if next == nil {
		t.Fatal("no second page")
	}
	for _, c := range []struct {
		req  UnitRequest
		code string
	}{
		{UnitRequest{Expression: text, Limit: -1}, CodeInvalidArgument},
		{UnitRequest{Expression: text, Limit: MaxLimit + 1}, CodeInvalidArgument},
		{UnitRequest{Expression: text, Offset: -1}, CodeInvalidArgument},
		{UnitRequest{Expression: text, Offset: 1, Continuation: *next}, CodeInvalidArgument},
		{UnitRequest{}, CodeInvalidArgument},
		{UnitRequest{Expression: "the"}, CodeInvalidArgument},
		{UnitRequest{Expression: "sessions where repo:x"}, CodeInvalidArgument},
		{UnitRequest{Expression: "messages where words >= 1", Continuation: *next}, CodeInvalidCursor},
		{UnitRequest{Expression: "blocks where NOT type:x", Continuation: *next}, CodeInvalidCursor},
		{UnitRequest{Expression: text + " | sort by time desc", Continuation: *next}, CodeInvalidCursor},
		{UnitRequest{Expression: text, Continuation: (*next)[1:]}, CodeInvalidCursor},
		{UnitRequest{Expression: text, Continuation: "e30"}, CodeInvalidCursor},
		{UnitRequest{Expression: text, Continuation: "?"}, CodeInvalidCursor},
		{UnitRequest{Expression: text + " | count", Continuation: *next}, CodeInvalidCursor},
	} {
		if _, err := w.Units(t.Context(), c.req); codeOf(err) != c.code {
			t.Errorf("%+v: %v, want %s", c.req, err, c.code)
		}
	}
	for _, text := range []string{"files where path:x", "sessions where repo:x | files where path:x", "runs where status:x", "assertions where kind:x"} {
		_, err := w.Units(t.Context(), UnitRequest{Expression: text})
		if e, ok := err.(*query.Error); !ok || e.Code != query.CodeNotSupportedYet || !parses(strings.Trim(e.Hint[strings.Index(e.Hint, "`")+1:], "`")) {
			t.Errorf("%s: %v (%T), want %s", text, err, err, query.CodeNotSupportedYet)
		}
		if _, err := Explain(text, ExplainOptions{Now: testNow}); err == nil || err.(*query.Error).Code != query.CodeNotSupportedYet {
			t.Errorf("explain %s: %v", text, err)
		}
	}
	if env := w.units(UnitRequest{Expression: text, Offset: math.MaxInt}); env.Returned != 0 || env.Total == 0 || env.Continuation != nil {
		t.Errorf("behind the end: %+v", env)
	}
	if env := w.units(UnitRequest{Expression: text, Limit: 5, Continuation: *next}); env.Offset != 2 || env.Returned != 5 {
		t.Errorf("a larger page begins at %d and has %d rows", env.Offset, env.Returned)
	}
	e := w.Engine
	w.reopen(w.opts)
	if _, err := e.Units(t.Context(), UnitRequest{Expression: text}); codeOf(err) != CodeClosed {
		t.Errorf("of a closed engine: %v", err)
	}
	if env := w.units(UnitRequest{Expression: text, Continuation: *next}); env.Offset != 2 {
		t.Errorf("after a restart the page begins at %d", env.Offset)
	}
}
