package archive

import "fmt"

// A Deriver computes what is not recorded about one session while its messages
// stream past. It keeps no message: its memory grows with the number of actions
// and of native ids, not with the text. It is not safe for concurrent use.
type Deriver struct {
	origin  Origin
	reader  InputReader
	scratch []byte

	messages   int // taken so far; the next position
	ranks      int // blocks taken so far
	counters   Counters
	natives    map[string]bool // native id -> occurs more than once
	models     map[string]int64
	usage      map[string]*ModelUsage
	has        map[string]bool
	own, all   span
	title      titleCandidate // from the session's own prompts
	titleOther titleCandidate // from inherited ones

	actions   []Action
	follow    []int32 // per action: index into followups, or -1
	seqs      []int   // per action: Seq of its tool_use
	waiting   map[string][]waiter
	followups []followup
	open      []int32 // followups that no message has answered yet
	status    string
}

// NewDeriver starts the derivation of one session of an origin.
func NewDeriver(origin Origin) *Deriver {
	return &Deriver{
		origin:  origin,
		natives: map[string]bool{},
		models:  map[string]int64{},
		usage:   map[string]*ModelUsage{},
		has:     map[string]bool{},
		own:     emptySpan,
		all:     emptySpan,
		waiting: map[string][]waiter{},
		status:  StatusUnknown,
	}
}

// Add takes the next message in transcript order and fills what derivation adds
// to it: Words; Type and Material where they are empty; and the Seq of blocks
// that have none, as their rank in transcript order, so an importer sets either
// no Seq or all of them. It returns an error only if positions are not dense
// from zero; the message is then not taken.
//
// By default a message is human authored if its role is user, its type message,
// and nothing else is known of it; but never in Claude Code, where only the
// record tells, and never in an issue log.
func (d *Deriver) Add(m *Message) error {
	if m.Position != d.messages {
		return fmt.Errorf("archive: message at position %d, want %d", m.Position, d.messages)
	}
	d.messages++
	d.classify(m)
	m.Words = MessageWords(m)
	d.addNative(m)
	d.all.add(m.Time)
	if m.Role == RoleAssistant {
		d.answer(m)
	}
	if !m.Inherited {
		d.own.add(m.Time)
		d.count(m)
	}
	d.addTitle(m)
	failed := d.addBlocks(m)
	if !m.Inherited {
		d.status = statusAfter(m, failed)
	}
	return nil
}

// classify fills Type and Material where the importer left them empty.
func (d *Deriver) classify(m *Message) {
	if m.Type != "" && m.Material != "" {
		return
	}
	text := MessageText(m)
	if m.Type == "" {
		m.Type = d.typeOf(m, text)
	}
	if m.Material != "" {
		return
	}
	m.Material = ClassifyMaterial(m.Role, m.Type, m.Blocks, text)
	switch {
	case m.Material != UnknownMaterial:
	case d.origin == Beads:
		m.Material = RuntimeProtocol
	case d.origin != ClaudeCode && m.Role == RoleUser && m.Type == TypeMessage:
		m.Material = HumanAuthored
	}
}

func (d *Deriver) typeOf(m *Message, text string) MessageType {
	switch d.origin {
	case ClaudeCode, Codex, ChatGPT:
		if m.Role != RoleUser && m.Role != RoleSystem {
			break // what a model or a tool writes is not injected by a program
		}
		if t := ClassifyText(text); t != "" {
			return t
		}
		if m.Role == RoleSystem && d.origin != ChatGPT {
			return TypeContext
		}
	}
	return ClassifyBlocks(m.Blocks)
}

func (d *Deriver) addNative(m *Message) {
	native := NormalNative(m.Native)
	if native == "" {
		return
	}
	_, twice := d.natives[native]
	d.natives[native] = twice
}

// count adds a message of the session's own to the counters.
func (d *Deriver) count(m *Message) {
	c := &d.counters
	c.Messages++
	c.Words += m.Words
	switch m.Role {
	case RoleUser:
		c.UserMessages++
		c.UserWords += m.Words
	case RoleAssistant:
		c.AssistantMessages++
		c.AssistantWords += m.Words
		if m.Model != "" {
			d.models[m.Model]++
		}
	case RoleSystem:
		c.SystemMessages++
	case RoleTool:
		c.ToolMessages++
	}
	if m.Material == HumanAuthored {
		c.AuthoredUserMessages++
		c.AuthoredUserWords += m.Words
	}
	if hasBlock(m.Blocks, BlockToolUse) {
		c.ToolUseMessages++
		d.has["tools"] = true
	}
	if hasBlock(m.Blocks, BlockThinking) {
		c.ThinkingMessages++
	}
	if len(m.Pastes) > 0 {
		c.PasteMessages++
		d.has["paste"] = true
	}
	if len(m.Attachments) > 0 {
		d.has["attachments"] = true
	}
	if m.Type == TypeSummary {
		d.has["summary"] = true
	}
	for i := range m.Blocks {
		d.has[string(m.Blocks[i].Type)] = true
	}
	c.Blocks += int64(len(m.Blocks))
	d.countTokens(m)
}

func (d *Deriver) countTokens(m *Message) {
	if m.Tokens == (Tokens{}) {
		return
	}
	c := &d.counters
	c.InputTokens += m.Tokens.Input
	c.OutputTokens += m.Tokens.Output
	c.CacheRead += m.Tokens.CacheRead
	c.CacheWrite += m.Tokens.CacheWrite
	u := d.usage[m.Model]
	if u == nil {
		u = &ModelUsage{Model: m.Model}
		d.usage[m.Model] = u
	}
	u.Input += m.Tokens.Input
	u.Output += m.Tokens.Output
	u.CacheRead += m.Tokens.CacheRead
	u.CacheWrite += m.Tokens.CacheWrite
}

// A titleCandidate is the first prompt that can serve as a title.
type titleCandidate struct {
	text string
	key  MessageKey
}

func (d *Deriver) addTitle(m *Message) {
	c := &d.title
	if m.Inherited {
		c = &d.titleOther
	}
	if c.text != "" || m.Role != RoleUser || m.Material != HumanAuthored {
		return
	}
	if t := TitleFromPrompt(MessageText(m)); t != "" {
		*c = titleCandidate{t, MessageKey{NormalNative(m.Native), m.Position, m.Variant}}
	}
}

// A span is the least and the greatest of the times it has seen.
type span struct{ min, max int64 }

var emptySpan = span{NoTime, NoTime}

func (s *span) add(t int64) {
	if t == NoTime {
		return
	}
	if s.min == NoTime || t < s.min {
		s.min = t
	}
	s.max = max(s.max, t)
}
