package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/oracle"
	"github.com/hansard-search/hansard/query"
)

// A past is an archive that changes, and what became of its sessions.
type past struct {
	*world
	r    *rand.Rand
	gone map[archive.SessionID]bool
}

// A parity compares one archive with SQLite and the oracle while it changes.
type parity struct {
	past
	queries int // per step, compared by score with SQLite

	asked, found, scored int
}

// layouts are archives whose segments are cut in different ways.
var layouts = []struct {
	name string
	opts Options
	step int // sessions per import
}{
	{"tiny files, no merges", Options{FlushBytes: 1 << 10, NoMerge: true, Workers: 2}, 9},
	{"tiny files, merged", Options{FlushBytes: 1 << 10, Workers: 3}, 4},
	{"small files", Options{FlushBytes: 64 << 10, Workers: 1}, 7},
	{"all in memory", Options{NoMerge: true, Workers: 8}, 60},
}

// TestParityWithFTS5 holds hits, totals and scores to those of SQLite's FTS5 and of
// plain loops, for every layout, through re-imports, deletions, a restart and a
// rebuild.
func TestParityWithFTS5(t *testing.T) {
	sessions, queries := 24, 48
	if *long {
		sessions, queries = 120, 420 // 10,080 in all
	}
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			r := seeded(t)
			p := &parity{past: past{newWorld(t, l.opts), r, map[archive.SessionID]bool{}}, queries: queries}
			p.run(randomScripts(r, sessions), l.step, p.compare)
			t.Logf("%d queries, %d of them found blocks; %d compared by score with SQLite", p.asked, p.found, p.scored)
			if p.found < p.asked/2 {
				t.Error("too few queries find anything")
			}
		})
	}
}

// run imports sessions, and then changes, deletes and restarts what it can; after each
// step it compares.
func (p *past) run(scripts []*script, step int, compare func(when string)) {
	names := p.put(scripts...)
	for i := 0; i < len(names); i += step {
		p.load(names[i:min(i+step, len(names))]...)
	}
	compare("imported")
	for i := range scripts {
		switch {
		case i%3 == 0:
			scripts[i].grow(p.r)
		case i%7 == 1:
			scripts[i] = randomScript(p.r, i)
			scripts[i].native = fmt.Sprintf("new-%d", i)
		}
	}
	p.put(scripts...)
	p.load()
	compare("changed")
	for i := 0; i < len(scripts); i += 5 {
		origin := archive.ClaudeCode
		if scripts[i].codex {
			origin = archive.Codex
		}
		id := archive.MakeSessionID(origin, scripts[i].native)
		p.remove(id)
		p.gone[id] = true
	}
	compare("deleted")
	p.check()
	p.reopen(p.opts)
	compare("reopened")
	p.rebuild()
	compare("rebuilt")
	p.reopen(Options{FlushBytes: 1 << 20})
	compare("reopened with other options")
}

// live are the sessions that the archive must hold.
func (p *past) live() []oracle.Session {
	var out []oracle.Session
	for _, s := range readAll(p.t, p.src) {
		if !p.gone[s.Head.ID()] {
			out = append(out, s)
		}
	}
	return out
}

// compare asks random queries until enough of them found blocks whose scores SQLite
// gives too.
func (p *parity) compare(when string) {
	p.t.Helper()
	sessions := p.live()
	o := oracle.New(sessions, testNow)
	ref := newReference(p.t, sessions)
	defer ref.close()
	for enough := p.scored + p.queries; p.scored < enough; {
		p.ask(randomExpression(p.r, p.r.IntN(4)), o, ref)
		if p.t.Failed() {
			p.t.Fatalf("the archive differs once it is %s", when)
		}
	}
}

func (p *parity) ask(text string, o *oracle.Archive, ref *reference) {
	p.t.Helper()
	want := ref.match(text)
	q, err := query.Parse(text)
	if err != nil {
		p.t.Fatalf("parse %s: %v", text, err)
	}
	exact := steady(q.Match, true, true)
	p.compareBlocks(text, want, exact)
	answer := p.compareSearch(text, o)
	p.compareBlocks(text, blocksOf(answer), true)
	p.asked++
	if len(want) > 0 {
		p.found++
		if exact {
			p.scored++
		}
	}
}

// blocksOf are the matching blocks of an oracle's answer.
func blocksOf(a oracle.Answer) map[blockKey]float64 {
	out := map[blockKey]float64{}
	for id, blocks := range a.Matching {
		for rank, score := range blocks {
			out[blockKey{id, rank}] = score
		}
	}
	return out
}

func (w *world) rebuild() {
	w.t.Helper()
	if _, err := w.Rebuild(w.t.Context(), nil); err != nil {
		w.t.Fatalf("rebuild: %v", err)
	}
}
