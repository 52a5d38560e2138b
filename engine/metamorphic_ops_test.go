package engine

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/hansard-search/hansard/engine/archive"
)

// An operation is one thing that happens to an archive. Every world that it happens
// to must say the same about it.
type operation struct {
	what string
	do   func(w *world) any
}

// A playwright invents operations. It knows which sessions its scripts have made.
type playwright struct {
	r       *rand.Rand
	scripts []*script
	alive   map[archive.SessionID]bool
	ops     []operation
}

// randomOperations invents about n operations that end with an answer to everything.
func randomOperations(r *rand.Rand, n int) []operation {
	p := &playwright{r: r, alive: map[archive.SessionID]bool{}}
	p.bring(4 + r.IntN(6))
	for len(p.ops) < n {
		switch r.IntN(12) {
		case 0, 1, 2:
			p.bring(1 + r.IntN(3))
		case 3, 4:
			p.grow(1 + r.IntN(3))
		case 5:
			p.delete()
		case 6:
			p.add("reopen", func(w *world) any { w.reopen(w.opts); return nil })
		case 7:
			p.add("rebuild", func(w *world) any { w.rebuild(); return nil })
		case 8:
			p.add("import everything again", func(w *world) any { return w.force() })
		case 9:
			p.walk(randomExpression(r, 1))
		default:
			p.ask(metamorphicQueries(r, 2)[r.IntN(8):])
		}
	}
	p.ask(metamorphicQueries(r, 8))
	p.walk("")
	p.walk("the OR retry")
	return p.ops
}

func (p *playwright) add(what string, do func(w *world) any) {
	p.ops = append(p.ops, operation{what, do})
}

// bring imports new sessions; now and then one that is also in another file, cut
// short.
func (p *playwright) bring(n int) {
	files := map[string][]byte{}
	for range n {
		s := randomScript(p.r, len(p.scripts))
		p.scripts = append(p.scripts, s)
		p.alive[s.id()] = true
		name, content := s.file()
		files[name] = content
		if p.r.IntN(6) == 0 {
			c := *s
			c.turns = s.turns[:1+p.r.IntN(len(s.turns))]
			_, content := c.file()
			files["copy/"+name] = content
		}
	}
	p.load("bring", files)
}

// grow lets sessions go on.
func (p *playwright) grow(n int) {
	files := map[string][]byte{}
	for range n {
		s := p.scripts[p.r.IntN(len(p.scripts))]
		s.grow(p.r)
		name, content := s.file()
		files[name] = content
		p.alive[s.id()] = true
	}
	p.load("grow", files)
}

// load imports files: by name, or with all that is there.
func (p *playwright) load(what string, files map[string][]byte) {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	all := p.r.IntN(3) == 0
	p.add(fmt.Sprint(what, names), func(w *world) any {
		for _, name := range names {
			w.write(name, files[name])
		}
		if all {
			return told(w.load())
		}
		return told(w.load(names...))
	})
}

func (p *playwright) delete() {
	ids := make([]archive.SessionID, 0, len(p.alive))
	for id := range p.alive {
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return
	}
	slices.Sort(ids)
	id := ids[p.r.IntN(len(ids))]
	delete(p.alive, id)
	p.add("delete "+string(id), func(w *world) any { w.remove(id); return nil })
}

func (p *playwright) ask(requests []SearchRequest) {
	p.add(fmt.Sprint("ask ", len(requests)), func(w *world) any { return w.answers(requests) })
}

func (p *playwright) walk(text string) {
	size, lane := 1+p.r.IntN(5), pick(p.r, LaneDialogue, LaneActions)
	p.add("walk "+text, func(w *world) any { return w.walk(text, lane, size, nil) })
}

// play runs operations in a new world and returns what each of them said.
func (w *world) play(ops []operation) []string {
	w.t.Helper()
	out := make([]string, len(ops))
	for i, op := range ops {
		b, err := json.Marshal(op.do(w))
		if err != nil {
			w.t.Fatal(err)
		}
		out[i] = string(b)
		if w.t.Failed() {
			w.t.Fatalf("operation %d, %s", i, op.what)
		}
	}
	return out
}

// force reads all files again, and wants that to change nothing of what they alone
// brought.
func (w *world) force() any {
	w.t.Helper()
	r, err := w.Import(w.t.Context(), ImportRequest{Paths: []string{w.src}, Force: true})
	if err != nil {
		w.t.Fatalf("import again: %v", err)
	}
	return told(r)
}

// told is what a report says that does not depend on where and when.
func told(r *Report) any {
	c := *r
	c.DurationMS, c.Problems, c.Skips = 0, nil, nil
	return c
}

// id is the id of the session that the script makes.
func (s *script) id() archive.SessionID {
	if s.codex {
		return archive.MakeSessionID(archive.Codex, s.native)
	}
	return archive.MakeSessionID(archive.ClaudeCode, s.native)
}

// emptied removes everything in the folder of session files, for the next world.
func (w *world) emptied() {
	w.t.Helper()
	entries, err := os.ReadDir(w.src)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(w.src, e.Name())); err != nil {
			w.t.Fatal(err)
		}
	}
}
