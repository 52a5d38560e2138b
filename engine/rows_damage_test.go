package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/hansard-search/hansard/engine/store"
)

// everyRow asks for all rows of each unit.
func everyRow() (texts []string) {
	for _, u := range rowUnits {
		texts = append(texts, u.Plural()+" where NOT session.title:nosuch")
	}
	return texts
}

// TestRowsOfDamagedSegments damages a segment: answers are partial, name the file and
// how many sessions are missing for it, and hold the other rows in their order, on pages
// and in one; once it has healed they are what they were.
func TestRowsOfDamagedSegments(t *testing.T) {
	r := seeded(t)
	w, _, _ := damagedWorld(t, r, 16, Options{NoMerge: true})
	w.open()
	want := map[string][]string{}
	for _, text := range everyRow() {
		want[text] = w.walkRows(text, 50, nil)
	}
	w.close()
	name := w.segmentFiles()[0]
	w.flip(w.segmentPath(name), 3)
	sound := w.opts
	w.opts.ReadOnly, w.opts.Create = true, false
	w.open()
	for _, text := range everyRow() {
		env := w.units(UnitRequest{Expression: text, Limit: MaxLimit})
		got := rowIDs(env)
		if !env.Partial || env.Exact || env.TotalIs != "lower_bound" || len(env.Missing) != 1 || env.Missing[0].File != name || env.Missing[0].Sessions == 0 {
			t.Fatalf("%s: partial %v, exact %v, total is %s, missing %+v", text, env.Partial, env.Exact, env.TotalIs, env.Missing)
		}
		rest := slices.DeleteFunc(slices.Clone(want[text]), func(id string) bool { return !slices.Contains(got, id) })
		if env.Total != len(got) || len(got) == 0 || len(got) >= len(want[text]) || !slices.Equal(got, rest) {
			t.Errorf("%s: %d rows of %d in all, total %d", text, len(got), len(want[text]), env.Total)
		}
		if pages := w.walkRows(text, 7, nil); !slices.Equal(pages, got) {
			t.Errorf("%s: pages give %d rows, want %d", text, len(pages), len(got))
		}
	}
	w.close()
	w.opts = sound
	w.open()
	w.whole()
	for _, text := range everyRow() {
		if got := w.walkRows(text, 50, nil); !slices.Equal(got, want[text]) {
			t.Errorf("%s, healed: %d rows, want %d", text, len(got), len(want[text]))
		}
	}
}

// TestRowsOfADamagedSession damages one session in the store: rows of the others are
// there, it is named once, and pages go on past it.
func TestRowsOfADamagedSession(t *testing.T) {
	for _, c := range []struct {
		name  string
		plant func(db *pebble.DB, s store.Summary) error
	}{
		{"frame", func(db *pebble.DB, s store.Summary) error {
			return overwrite(db, recordKey('f', uint64(s.No), s.Rev), junk)
		}},
		{"frame missing", func(db *pebble.DB, s store.Summary) error {
			return db.DeleteRange(recordKey('f', uint64(s.No), s.Rev), recordKey('f', uint64(s.No), s.Rev+1), pebble.Sync)
		}},
		{"brief", func(db *pebble.DB, s store.Summary) error {
			return overwrite(db, recordKey('h', uint64(s.No), s.Rev), junk)
		}},
		{"head missing", func(db *pebble.DB, s store.Summary) error {
			return db.DeleteRange(recordKey('h', uint64(s.No), s.Rev), recordKey('h', uint64(s.No), s.Rev+1), pebble.Sync)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := seeded(t)
			w := newWorld(t, Options{NoMerge: true})
			scripts := rowScripts(r, 10)
			for _, s := range scripts {
				s.parent = ""
				s.turns = append(s.turns, turn{kind: "call", tool: "Bash", input: map[string]any{"command": "ls"}}, turn{kind: "user", text: "the end"})
			}
			w.put(scripts...)
			w.load()
			victim := w.victimOf(w.idOf(scripts[3]))
			want := map[string][]string{}
			for _, text := range everyRow() {
				for _, it := range w.units(UnitRequest{Expression: text, Limit: MaxLimit}).Items {
					if sessionOf(it) != string(victim.ID) {
						want[text] = append(want[text], itemID(it))
					}
				}
			}
			w.close()
			w.plant(func(db *pebble.DB) error { return c.plant(db, victim) })
			sound := w.opts
			w.opts.NoHeal = true
			w.open()
			for _, text := range everyRow() {
				env := w.units(UnitRequest{Expression: text, Limit: MaxLimit})
				got := rowIDs(env)
				if !slices.Equal(got, want[text]) || env.Returned != len(got) {
					t.Errorf("%s: %d rows, %d returned, want %d", text, len(got), env.Returned, len(want[text]))
				}
				named := 0
				for _, m := range env.Missing {
					if m.Session == string(victim.ID) || m.Session == fmt.Sprint(victim.No) {
						named++
					}
				}
				if !env.Partial || env.Exact || env.TotalIs != "lower_bound" || named != 1 {
					t.Errorf("%s: partial %v, exact %v, total is %s, missing %+v", text, env.Partial, env.Exact, env.TotalIs, env.Missing)
				}
				var pages []string
				for req := (UnitRequest{Expression: text, Limit: 4}); ; {
					env := w.units(req)
					pages = append(pages, rowIDs(env)...)
					if env.Continuation == nil {
						break
					}
					req.Continuation = *env.Continuation
				}
				if !slices.Equal(pages, want[text]) {
					t.Errorf("%s: pages give %d rows, want %d", text, len(pages), len(want[text]))
				}
			}
			if strings.HasPrefix(c.name, "frame") {
				w.textIsNotMissing(victim, want)
			}
			w.close()
			w.opts = sound
			w.open()
			if _, err := w.Import(context.Background(), ImportRequest{Paths: []string{w.src}, Force: true}); err != nil {
				t.Fatal(err)
			}
			for _, text := range everyRow() {
				if env := w.units(UnitRequest{Expression: text, Limit: MaxLimit}); env.Partial || env.Total <= len(want[text]) {
					t.Errorf("%s, imported again: %d rows, partial %v: %+v", text, env.Total, env.Partial, env.Missing)
				}
			}
		})
	}
}

func sessionOf(item any) string {
	switch it := item.(type) {
	case *MessageItem:
		return it.SessionID
	case *ActionItem:
		return it.SessionID
	case *BlockItem:
		return it.SessionID
	}
	return ""
}

// textIsNotMissing asks what does not contain a text that is nowhere: of a session whose
// text cannot be read nobody can say so.
func (w *world) textIsNotMissing(victim store.Summary, want map[string][]string) {
	w.t.Helper()
	for i, text := range everyRow() {
		u := rowUnits[i].Plural()
		env := w.units(UnitRequest{Expression: u + " where NOT text:\"@@#@@\"", Limit: MaxLimit})
		count := w.units(UnitRequest{Expression: u + " where NOT text:\"@@#@@\" | count"}).Items[0].(*GroupItem).Count
		if got := rowIDs(env); !slices.Equal(got, want[text]) || int(count) != len(want[text]) || !env.Partial || len(env.Missing) != 1 {
			w.t.Errorf("%s without a text: %d rows, %d counted, want %d; missing %+v", u, len(got), count, len(want[text]), env.Missing)
		}
	}
	env := w.search(SearchRequest{Query: "sessions where NOT exists message(text:\"@@#@@\")", Limit: 100})
	for _, h := range env.Hits {
		if h.Session.ID == string(victim.ID) {
			w.t.Errorf("%s, whose text cannot be read, is said not to have one", h.Session.ID)
		}
	}
	if !env.Partial || len(env.Missing) != 1 || len(env.Hits) != 9 {
		w.t.Errorf("sessions without a text: %d of 9, partial %v, missing %+v", len(env.Hits), env.Partial, env.Missing)
	}
}
