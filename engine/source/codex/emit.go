package codex

import (
	"fmt"
	"strings"

	"github.com/hansard-search/hansard/engine/archive"
)

// emit gives a message to the sink. A message that says nothing is not stored.
func (r *reader) emit(rec record, m *archive.Message) (bool, error) {
	if len(m.Blocks) == 0 && len(m.Attachments) == 0 {
		return false, nil
	}
	m.Position = r.pos
	m.Parent = r.parent
	m.Inherited = r.inherited(rec)
	m.Abandoned = r.survey.rewind.holds(rec.ord)
	if m.Role == archive.RoleAssistant {
		m.Model, m.Effort = r.setting.model, r.setting.effort
		m.Tokens = r.payFor(rec)
	}
	for i := range m.Blocks {
		m.Blocks[i].Seq = r.seq
		r.seq++
	}
	r.pos++
	r.parent = m.Native
	if !m.Inherited && m.Time != archive.NoTime && (r.last == archive.NoTime || m.Time > r.last) {
		r.last = m.Time
	}
	if err := r.out.Message(m); err != nil {
		return false, fmt.Errorf("message %d of session %s: %w", m.Position, r.session.Native, err)
	}
	return true, nil
}

// payFor is the tokens of the record's message, given once.
func (r *reader) payFor(rec record) archive.Tokens {
	for len(r.shares) > 0 && r.shares[0].ord < rec.ord {
		r.shares = r.shares[1:]
	}
	if len(r.shares) == 0 || r.shares[0].ord != rec.ord {
		return archive.Tokens{}
	}
	t := r.shares[0].tokens
	r.shares = r.shares[1:]
	return t
}

func (r *reader) emitCall(rec record, native string, c call) (bool, error) {
	m := archive.Message{
		Time: rec.when(), Native: native, Role: archive.RoleAssistant,
		Type: archive.TypeToolUse, Material: archive.AssistantAuthored,
		Blocks: []archive.Block{c.block()},
	}
	return r.emit(rec, &m)
}

func (r *reader) emitOutput(rec record, native, id string, o output) (bool, error) {
	b, pictures := o.block(id)
	m := archive.Message{
		Time: rec.when(), Native: native, Role: archive.RoleTool,
		Type: archive.TypeToolResult, Material: archive.ToolResultMaterial,
		Blocks: []archive.Block{b}, Attachments: pictures,
	}
	return r.emit(rec, &m)
}

// finish ends the session.
func (r *reader) finish(title func(string) string) error {
	if r.out == nil {
		return nil
	}
	s := &r.session
	r.setTitle(title)
	if s.Updated = s.Created; r.last != archive.NoTime && (s.Updated == archive.NoTime || r.last > s.Updated) {
		s.Updated = r.last
	}
	s.Usage = r.ledger.settle(r.survey.model)
	if err := r.out.Finish(s); err != nil {
		return fmt.Errorf("session %s of %s: %w", s.Native, r.file, err)
	}
	return nil
}

// setTitle takes the recorded name of the thread. A name that only repeats the
// first prompt was made from it and is worth no more than such a guess. A
// subagent without a name is called after its task; other sessions get their
// guess where every session gets it.
func (r *reader) setTitle(index func(string) string) {
	s := &r.session
	s.Title, s.TitleRef = r.survey.name, "thread_name_updated"
	if s.Title == "" && index != nil {
		s.Title, s.TitleRef = strings.TrimSpace(index(s.Native)), "session_index"
	}
	switch {
	case s.Title != "":
		s.TitleSource, s.TitleConfidence = "origin", 1
		if echoes(s.Title, r.prompt.text) {
			s.TitleSource, s.TitleConfidence = "heuristic", 0.5
		}
		return
	case s.Branch == archive.Subagent:
		s.Title = archive.TitleFromPrompt(r.prompt.text)
	}
	if s.TitleRef = ""; s.Title != "" {
		s.TitleSource, s.TitleConfidence = "heuristic", 0.5
		s.TitleRef = "message:" + r.prompt.key.ID(s.ID())
	}
}

// echoes reports whether a title is the beginning of a prompt.
func echoes(title, prompt string) bool {
	prompt = unwrapPrompt(prompt)
	prompt = strings.Join(strings.Fields(shorten(prompt, 4<<10)), " ")
	return strings.HasPrefix(prompt, strings.TrimRight(strings.Join(strings.Fields(title), " "), ".…"))
}
