package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hansard-search/hansard/engine/archive"
)

// TestLineage compares lineage: with a walk over the parents that the files name: over
// chains, forks, parents that are not in the archive and sessions that name themselves,
// spread over several segments.
func TestLineage(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 21))
	w := newWorld(t, Options{NoMerge: true})
	scripts := randomScripts(r, 40)
	for i, s := range scripts {
		s.codex = i != 3
		switch {
		case i > 3 && r.IntN(2) == 0:
			of := scripts[r.IntN(i)]
			s.parent = of.native
		case i == 3:
			s.parent = s.native
		}
		for j := range s.turns {
			s.turns[j].replays = i == 3 && j == 0
		}
		w.put(s)
		if i%13 == 0 {
			w.load()
			w.search(SearchRequest{})
		}
	}
	w.load()
	sessions := readAll(t, w.src)
	parents := map[string]string{}
	for i := range sessions {
		if p := parentID(&sessions[i].Head); p != "" {
			parents[string(sessions[i].Head.ID())] = p
		}
	}
	root := func(id string) string {
		for range len(parents) + 1 {
			p, ok := parents[id]
			if !ok || p == id {
				return id
			}
			id = p
		}
		t.Fatalf("the parents of %s go in a circle", id)
		return ""
	}
	many := 0
	seeds := []string{"codex-session:nobody", string(archive.MakeSessionID("claude-code-session", "parent-1"))}
	for i := range sessions {
		seeds = append(seeds, string(sessions[i].Head.ID()))
	}
	for _, seed := range seeds {
		want := map[string]bool{}
		for i := range sessions {
			if id := string(sessions[i].Head.ID()); root(id) == root(seed) {
				want[id] = true
			}
		}
		env := w.search(SearchRequest{Query: "lineage:id:" + seed, Limit: 100})
		got := map[string]bool{}
		for _, h := range env.Hits {
			got[h.Session.ID] = true
		}
		if fmt.Sprint(want) != fmt.Sprint(got) {
			t.Errorf("lineage of %s: %v, want %v", seed, got, want)
		}
		if len(want) > 2 {
			many++
		}
		rows := w.units(UnitRequest{Expression: "messages where lineage:id:" + seed, Limit: MaxLimit})
		for _, item := range rows.Items {
			if id := item.(*MessageItem).SessionID; !want[id] {
				t.Errorf("messages of the lineage of %s: one of %s", seed, id)
			}
		}
	}
	if many < 5 {
		t.Errorf("only %d lineages of more than two sessions", many)
	}
}
