package codex

import (
	"context"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/source"
)

// A survey is what the first pass learns of a file.
type survey struct {
	own       string // id of the first head that has one
	copies    bitset // records whose text another stream repeats
	calls     map[uint64]callFacts
	paths     map[uint64][]string // files that a patch changed, by call
	inherited span
	name      string // last recorded thread name
	model     string // first model named
	seen      bool   // the file holds at least one record of a rollout

	copyist copyist
	bill    bill
	meter   meter
	replay  replay
	rewind  rewind
	heads   int
	busy    bool // the agent has acted in this turn
}

// callFacts is what the whole file tells of one call.
type callFacts struct {
	called, answered bool // has an item for the call, for its result
	failed           archive.Tri
	exit             archive.Int
}

func callKey(id string) uint64 { return xxhash.Sum64String(id) }

func takeSurvey(ctx context.Context, f source.File, lim source.Limits) (*survey, error) {
	s := &survey{calls: map[uint64]callFacts{}, paths: map[uint64][]string{}}
	n, err := eachRecord(ctx, f, lim, func(rec record) (bool, error) { s.take(rec); return false, nil }, nil)
	if err != nil {
		return nil, err
	}
	s.settle()
	s.inherited = s.replay.settle(n.Read)
	return s, nil
}

func (s *survey) take(rec record) {
	if rec.kind != kindOther {
		s.seen = true
	}
	if rec.kind == kindMeta {
		s.takeHead(rec)
		return
	}
	s.replay.see(rec)
	switch rec.kind {
	case kindTurn:
		if s.model == "" {
			s.model = rec.body.Get("model").Str()
		}
	case kindItem:
		s.takeItem(rec)
	case kindEvent:
		s.takeEvent(rec)
	}
}

func (s *survey) takeHead(rec record) {
	s.heads++
	id := rec.body.Get("id").Str()
	if s.heads > 1 && s.own != "" {
		if s.replay.parent == "" && s.replay.resumes(rec) {
			s.replay.parent = id
		}
		s.settle()
		s.replay.head(rec)
		return
	}
	s.own = id
	s.replay.own = id
	s.replay.parent = lineageOf(rec.body).parent()
	s.replay.place = placeOf(rec.body)
	s.replay.created = headTime(rec)
	s.meter.fork = s.replay.parent != ""
}

// turn ends the turn if the agent has acted since it began. What comes before the
// agent acts, in whatever order, is one turn: versions differ in whether the
// prompt, its event or the mark of the turn is written first.
func (s *survey) turn(ord int64) {
	if s.busy {
		s.settle()
	}
	s.rewind.turn(ord)
}

func (s *survey) settle() {
	s.busy = false
	s.rewind.settle()
	s.copyist.settle(s.copies.clear)
	s.bill.settle()
}

func (s *survey) takeItem(rec record) {
	switch classOf(rec.typ) {
	case itemMessage:
		s.takeMessage(rec)
	case itemReasoning:
		s.busy = true
		s.bill.reply(rec.ord)
		s.hearItem(rec.ord, speakerReasoning, reasoningParts(rec.body))
	case itemCall:
		s.busy = true
		s.bill.reply(rec.ord)
		k := callKey(callID(rec.body))
		c := s.calls[k]
		c.called = true
		s.calls[k] = c
	case itemOutput:
		s.busy = true
		s.bill.pause()
		k := callKey(rec.body.Get("call_id").Str())
		c := s.calls[k]
		c.answered = true
		s.calls[k] = c
	}
}

func (s *survey) takeMessage(rec record) {
	who := speakerUser
	if rec.body.Get("role").Str() == "assistant" {
		who = speakerAssistant
		s.busy = true
		s.bill.reply(rec.ord)
	} else {
		s.turn(rec.ord)
		s.bill.pause()
		s.hearPrompt(rec)
	}
	s.hearItem(rec.ord, who, textParts(rec.body.Get("content")))
}

// hearPrompt notes that the turn has a prompt.
func (s *survey) hearPrompt(rec record) {
	if s.rewind.prompted || !rec.body.Get("role").Is("user") {
		return
	}
	m := archive.Message{Role: archive.RoleUser}
	for _, part := range textParts(rec.body.Get("content")) {
		m.Blocks = append(m.Blocks, archive.Block{Type: archive.BlockText, Text: part})
	}
	if _, _, ok := injection(&m); !ok {
		s.rewind.prompt()
	}
}

// hearItem notes the parts of an item and the whole of them: an event may hold
// either, the prompt without its pictures' labels or one part of a summary.
func (s *survey) hearItem(ord int64, who speaker, parts []string) {
	for _, part := range parts {
		s.copyist.hear(ord, voiceItem, who, part)
	}
	whole := joinText(parts)
	if len(parts) > 1 {
		s.copyist.hear(ord, voiceItem, who, whole)
	}
	if plan, rest, ok := cutPlan(whole); ok && who == speakerAssistant {
		s.copyist.hear(ord, voiceItem, who, plan)
		s.copyist.hear(ord, voiceItem, who, rest)
	}
}

func (s *survey) takeEvent(rec record) {
	switch rec.typ {
	case "task_started", "turn_started":
		s.turn(rec.ord)
	case "token_count":
		if u, ok := s.meter.add(rec.body); ok {
			s.bill.cost(u)
		}
	case "thread_rolled_back":
		n, _ := rec.body.Get("num_turns").Int()
		s.settle()
		s.rewind.back(rec.ord, n)
	case "thread_name_updated":
		// A replay may hold the name of another thread.
		if id := rec.body.Get("thread_id").Str(); id == "" || id == s.own {
			if name := strings.TrimSpace(rec.body.Get("thread_name").Str()); name != "" {
				s.name = name
			}
		}
	default:
		if sp, ok := speechEvent(rec); ok {
			s.takeSpeech(rec, sp)
			return
		}
		if end, ok := endingOf(rec); ok {
			s.takeEnding(end)
		}
	}
}

func (s *survey) takeSpeech(rec record, sp spoken) {
	if sp.who == speakerUser {
		s.turn(rec.ord)
		s.rewind.prompt()
	} else {
		s.busy = true
	}
	s.copies.set(rec.ord)
	s.copyist.hear(rec.ord, sp.voice, sp.who, sp.text)
}

func (s *survey) takeEnding(end ending) {
	k := callKey(end.id)
	c := s.calls[k]
	if end.failed != archive.Unknown {
		c.failed = end.failed
	}
	if end.exit.Known {
		c.exit = end.exit
	}
	s.calls[k] = c
	if len(end.paths) > 0 {
		s.paths[k] = end.paths
	}
}

// A bitset holds record numbers.
type bitset []uint64

func (b *bitset) set(i int64) {
	for int64(len(*b)) <= i/64 {
		*b = append(*b, 0)
	}
	(*b)[i/64] |= 1 << (i % 64)
}

func (b *bitset) clear(i int64) { (*b)[i/64] &^= 1 << (i % 64) }

func (b bitset) has(i int64) bool { return i/64 < int64(len(b)) && b[i/64]>>(i%64)&1 == 1 }
