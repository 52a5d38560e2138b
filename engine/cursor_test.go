package engine

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// walk follows cursors from the first page to the last and returns the sessions.
// between runs before every page but the first.
func (w *world) walk(text, lane string, size int, between func()) []string {
	w.t.Helper()
	var ids []string
	req := SearchRequest{Query: text, Lane: lane, Limit: size}
	for {
		env := w.search(req)
		for i, h := range env.Hits {
			ids = append(ids, h.Session.ID)
			if h.Match != nil && h.Match.Rank != env.Offset+i+1 {
				w.t.Errorf("%s: rank %d at place %d", text, h.Match.Rank, env.Offset+i+1)
			}
		}
		if !env.Truncated {
			if env.NextCursor != nil || env.NextOffset != nil {
				w.t.Errorf("%s: the last page goes on", text)
			}
			return ids
		}
		req.Cursor = *env.NextCursor
		if between != nil {
			between()
		}
	}
}

// TestCursorsCoverTheAnswer holds that pages, by cursor and by offset, are one big
// page cut into pieces.
func TestCursorsCoverTheAnswer(t *testing.T) {
	r := seeded(t)
	w := newWorld(t, Options{FlushBytes: 4 << 10})
	w.put(randomScripts(r, 30)...)
	w.load()
	queries := []string{"", "root:true", "the", "messages >= 3 AND NOT tool:bash"}
	for range 12 {
		queries = append(queries, randomExpression(r, 1))
	}
	for _, q := range queries {
		for _, lane := range []string{LaneDialogue, LaneActions} {
			all := idsOf(w.search(SearchRequest{Query: q, Lane: lane, Limit: MaxLimit}))
			for _, size := range []int{1, 3, 7} {
				if got := w.walk(q, lane, size, nil); !slices.Equal(got, all) {
					t.Errorf("%s, %s, pages of %d: %v, want %v", q, lane, size, got, all)
				}
			}
			var byOffset []string
			for i := 0; i < len(all); i += 4 {
				byOffset = append(byOffset, idsOf(w.search(SearchRequest{Query: q, Lane: lane, Limit: 4, Offset: i}))...)
			}
			if !slices.Equal(byOffset, all) {
				t.Errorf("%s by offset: %v, want %v", q, byOffset, all)
			}
		}
	}
}

// TestCursorsWhileImporting holds that sessions that exist and do not change are
// seen exactly once and in order while others come and change between the pages.
func TestCursorsWhileImporting(t *testing.T) {
	r := seeded(t)
	w := newWorld(t, Options{FlushBytes: 2 << 10})
	scripts := randomScripts(r, 30)
	w.put(scripts...)
	w.load()
	changing := scripts[25:]
	volatile := map[string]bool{}
	for _, s := range changing {
		volatile["claude-code-session:"+s.native], volatile["codex-session:"+s.native] = true, true
	}
	steady := func(ids []string) []string {
		return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return volatile[id] })
	}
	serial := len(scripts)
	disturb := func() {
		s := randomScript(r, serial)
		serial++
		volatile["claude-code-session:"+s.native], volatile["codex-session:"+s.native] = true, true
		changing[r.IntN(len(changing))].grow(r)
		w.put(append(changing, s)...)
		w.load()
		if serial%8 == 0 {
			w.reopen(w.opts)
		}
	}
	for _, q := range []string{"the", "", "retry OR cache OR token", "al*", "of NOT zebra", "root:true"} {
		before := idsOf(w.search(SearchRequest{Query: q, Limit: MaxLimit}))
		got := steady(w.walk(q, LaneAuto, 6, disturb))
		if want := steady(before); !slices.Equal(got, want) {
			t.Errorf("%s: pages give %v, want %v", q, got, want)
		}
	}
}

// TestForeignCursors holds that a cursor works with its own request only.
func TestForeignCursors(t *testing.T) {
	r := seeded(t)
	w := newWorld(t, Options{})
	w.put(randomScripts(r, 12)...)
	w.load()
	next := w.search(SearchRequest{Query: "the", Limit: 2}).NextCursor
	if next == nil {
		t.Fatal("no second page")
	}
	for i, req := range []SearchRequest{
		{Query: "of", Limit: 2, Cursor: *next},
		{Query: "the", Lane: LaneActions, Limit: 2, Cursor: *next},
		{Query: "", Limit: 2, Cursor: *next},
		{Query: "the", Limit: 2, Cursor: (*next)[1:]},
		{Query: "the", Limit: 2, Cursor: "e30"},
		{Query: "the", Limit: 2, Cursor: "?"},
	} {
		_, err := w.Search(t.Context(), req)
		if code := codeOf(err); code != CodeInvalidCursor {
			t.Errorf("request %d: %v (%s), want %s", i, err, code, CodeInvalidCursor)
		}
	}
	if got := w.search(SearchRequest{Query: "the", Limit: 5, Cursor: *next}); got.Offset != 2 {
		t.Errorf("a larger page begins at %d", got.Offset)
	}
}

// codeOf is the code of an engine's error.
func codeOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return fmt.Sprint(err)
}
