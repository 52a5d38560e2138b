package query

import (
	"context"
	"iter"
	"slices"
	"sort"
	"strconv"

	"github.com/hansard-search/hansard/postings"
)

// A fakeMessage is a message of a session. The blocks that the messages do not take
// belong to one more message of which nothing is known.
type fakeMessage struct {
	role, kind string
	numbers    map[string]int64 // by field, "words"; absent: unknown
	time       int64            // 0: unknown
	blocks     int              // how many of the next blocks it has
	dead       bool             // dead or inherited, and so are its blocks
}

type fakeBlock struct {
	text, kind string
	keys       []string // of block.tool
	semantic   string
	paths      []string
	command    string
	output     string // of its call
	dead       bool   // dead or inherited
}

type fakeAction struct {
	keys           []string // of action.tool
	semantic, path string
	paths          []string // more of them
	failed         string   // "1", "0", or unknown
	exit           string   // or unknown
	followup       string
	command        string
	output         string
	time           int64 // 0: unknown
	dead           bool
}

// allTurns are the messages of s with that of the blocks which no turn takes.
func (s *fakeSession) allTurns() []fakeMessage {
	rest := len(s.blocks)
	for _, m := range s.turns {
		rest -= m.blocks
	}
	if rest == 0 {
		return s.turns
	}
	return append(s.turns[:len(s.turns):len(s.turns)], fakeMessage{blocks: rest})
}

// turnOf is the message of block j of s.
func (s *fakeSession) turnOf(j int) fakeMessage {
	for _, m := range s.allTurns() {
		if j -= m.blocks; j < 0 {
			return m
		}
	}
	panic("a block without a message")
}

func (s *fakeSession) blockLives(j int) bool {
	return !s.dead && !s.turnOf(j).dead && !s.blocks[j].dead
}

// name is the tool as the source spells it, and family what it is called by others: of
// keys, the first and the second.
func (a *fakeAction) name() string   { return slices.Concat(a.keys, []string{""})[0] }
func (a *fakeAction) family() string { return slices.Concat(a.keys, []string{"", ""})[1] }

// allPaths are the paths of a.
func (a *fakeAction) allPaths() []string {
	if a.path == "" {
		return a.paths
	}
	return append([]string{a.path}, a.paths...)
}

// units lays out the rows and what lives of them.
func (f *fakeSource) units() {
	var live [postings.Units][]bool
	offsets := map[[2]postings.Unit][]uint32{}
	ends := func(parent postings.Unit, children ...postings.Unit) {
		for _, c := range children {
			key := [2]postings.Unit{parent, c}
			offsets[key] = append(offsets[key], uint32(len(live[c])))
		}
	}
	ends(postings.Session, postings.Message, postings.Block, postings.Action)
	ends(postings.Message, postings.Block)
	for i := range f.sessions {
		s := &f.sessions[i]
		block := 0
		for _, m := range s.allTurns() {
			for range m.blocks {
				live[postings.Block] = append(live[postings.Block], s.blockLives(block))
				block++
			}
			live[postings.Message] = append(live[postings.Message], !s.dead && !m.dead)
			ends(postings.Message, postings.Block)
		}
		for _, a := range s.actions {
			live[postings.Action] = append(live[postings.Action], !s.dead && !a.dead)
		}
		live[postings.Session] = append(live[postings.Session], !s.dead)
		ends(postings.Session, postings.Message, postings.Block, postings.Action)
	}
	f.spans = map[[2]postings.Unit]postings.Spans{}
	for k, v := range offsets {
		f.spans[k] = postings.NewSpans(v)
	}
	for u, rows := range live {
		f.rows[u] = len(rows)
		f.live[u] = postings.NewBits(len(rows))
		for i, l := range rows {
			if l {
				f.live[u].Add(postings.Ord(i))
			}
			f.allLive = f.allLive && l
		}
	}
}

// blocks are the blocks of each session.
func (f *fakeSource) blocks() postings.Spans {
	return f.spans[[2]postings.Unit{postings.Session, postings.Block}]
}

func (f *fakeSource) keyword(column string, o int, values ...string) {
	if f.keywords[column] == nil {
		f.keywords[column] = &fakeDictionary{rows: map[string][]postings.Ord{}}
	}
	for _, v := range values {
		if v != "" {
			f.keywords[column].rows[v] = append(f.keywords[column].rows[v], postings.Ord(o))
		}
	}
}

func (f *fakeSource) number(column string, o int, v int64, known bool) {
	if f.numbers[column] == nil {
		f.numbers[column] = fakeNumbers{}
	}
	if known {
		f.numbers[column][postings.Ord(o)] = v
	}
}

func (f *fakeSource) columns() {
	message, block, action := 0, 0, 0
	for o, s := range f.sessions {
		f.sessionColumns(o, s)
		for _, m := range s.allTurns() {
			f.keyword("message.role", message, m.role)
			f.keyword("message.type", message, m.kind)
			f.number("message.time", message, m.time, m.time != 0)
			for field, v := range m.numbers {
				f.number("message."+field, message, v, true)
			}
			message++
		}
		for j, b := range s.blocks {
			at := s.turnOf(j).time
			f.keyword("block.type", block, b.kind)
			f.keyword("block.tool", block, b.keys...)
			f.keyword("block.semantic", block, b.semantic)
			f.keyword("block.path", block, b.paths...)
			f.number("block.time", block, at, at != 0)
			block++
		}
		for _, a := range s.actions {
			f.keyword("action.tool", action, a.keys...)
			f.keyword("action.tool_name", action, a.name())
			f.keyword("action.tool_family", action, a.family())
			f.keyword("action.semantic", action, a.semantic)
			f.keyword("action.path", action, a.allPaths()...)
			f.keyword("action.is_error", action, a.failed)
			f.keyword("action.followup_class", action, a.followup)
			f.number("action.time", action, a.time, a.time != 0)
			code, err := strconv.ParseInt(a.exit, 10, 64)
			f.number("action.exit_code", action, code, err == nil)
			action++
		}
	}
	for _, d := range f.keywords {
		for v := range d.rows {
			d.values = append(d.values, v)
		}
		sort.Strings(d.values)
		d.of = map[postings.Ord][]int{}
		for i, v := range d.values {
			for _, o := range d.rows[v] {
				d.of[o] = append(d.of[o], i)
			}
		}
	}
}

func (f *fakeSource) sessionColumns(o int, s fakeSession) {
	for column, v := range map[string]string{"id": s.id, "native": s.native, "origin": s.origin, "title": s.title,
		"cwd": s.cwd, "repo": s.repo, "repo_full": s.repoFull, "repo_url_path": s.repoURL, "root": strconv.FormatBool(s.root)} {
		f.keyword("session."+column, o, v)
	}
	f.keyword("session.tag", o, s.tags...)
	f.keyword("session.has", o, s.has...)
	f.number("session.time", o, s.time, s.time != 0)
	f.number("session.messages", o, s.messages, s.messages >= 0)
	f.number("session.words", o, s.words, s.words >= 0)
	f.number("session.user_messages", o, s.userMessages, s.userMessages >= 0)
}

// texts are the stored texts of a that part names.
func (a *fakeAction) texts(part Part) []string {
	switch part {
	case Command:
		return []string{a.command}
	case Output:
		return []string{a.output}
	case FileText:
		return append(a.allPaths(), a.name(), a.semantic, a.command)
	case ActionText:
		return append(a.allPaths(), a.name(), a.semantic, a.command, a.output)
	}
	panic("part")
}

func (b *fakeBlock) texts(part Part) []string {
	switch part {
	case SearchText:
		return []string{b.text}
	case Command:
		return []string{b.command}
	case Output:
		return []string{b.output}
	}
	panic("part")
}

func (f *fakeSource) Matching(match func(term []byte) bool, need postings.Need) iter.Seq2[postings.List, error] {
	return func(yield func(postings.List, error) bool) {
		for _, t := range f.terms {
			if match([]byte(t)) && !yield(f.open(t, need), nil) {
				return
			}
		}
	}
}

func (f *fakeSource) Texts(_ context.Context, u postings.Unit, rows *postings.Bits, part Part, visit func(postings.Ord, string) bool) error {
	row := postings.Ord(0)
	tell := func(texts []string) {
		for i := 0; rows.Has(row) && i < len(texts); i++ {
			if texts[i] != "" && !visit(row, texts[i]) {
				break
			}
		}
		row++
	}
	for _, s := range f.sessions {
		if u == postings.Block {
			for _, b := range s.blocks {
				tell(b.texts(part))
			}
			continue
		}
		for _, a := range s.actions {
			tell(a.texts(part))
		}
	}
	return f.failing("texts")
}
