package claudecode

import (
	"cmp"
	"strings"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

// dropped are attachments that only remind the model of what stands elsewhere.
var dropped = map[string]bool{
	"total_tokens_reminder": true, "todo_reminder": true, "context_tip": true, "companion_intro": true,
	"batching_reminder_sent": true, "silent_turn_reminder": true, "budget_usd": true,
}

// attachment takes what the program attached to a turn: an event, and where it
// brought text into the conversation, a message with that text.
func (s *session) attachment(v jsonx.Value) bool {
	a := v.Get("attachment")
	typ := a.Get("type").Str()
	if a.Type() != jsonx.Object || dropped[typ] {
		return false
	}
	name := cmp.Or(a.Get("displayPath").Str(), a.Get("filename").Str(), a.Get("path").Str(), a.Get("hookName").Str())
	kept := s.eventAt(attachmentKind(typ), name, archive.ParseTime(v.Get("timestamp").Str()), payload(a, "content", "snippet", "prompt", "planContent", "skills"))
	p := s.add(v, s.r.now)
	p.m.Role, p.m.Type = archive.RoleUser, archive.TypeContext
	switch typ {
	case "queued_command":
		s.queued(p, v, a)
	case "file":
		s.document(p, a, name, cmp.Or(a.Get("content", "file", "content").Str(), a.Get("content", "content").Str(), a.Get("content").Str()))
	case "edited_text_file":
		s.document(p, a, name, a.Get("snippet").Str())
	case "nested_memory":
		s.document(p, a, name, cmp.Or(a.Get("content", "content").Str(), a.Get("content").Str()))
	case "plan_file_reference":
		s.document(p, a, name, a.Get("planContent").Str())
	default:
		if strings.HasPrefix(typ, "hook_") {
			s.hookText(p, a)
		}
	}
	if len(p.m.Blocks) == 0 {
		s.drop(p)
		return kept
	}
	return true
}

// attachmentKind groups the thirty-odd types of attachments.
func attachmentKind(typ string) string {
	switch {
	case typ == "file" || typ == "edited_text_file" || typ == "nested_memory" || typ == "directory" || strings.HasSuffix(typ, "_file_reference"):
		return "attachment_" + typ
	case strings.HasPrefix(typ, "hook_"):
		return "hook"
	case typ == "auto_mode" || strings.HasPrefix(typ, "plan_mode"):
		return "agent_mode"
	case strings.HasSuffix(typ, "_delta"):
		return "capability_delta"
	case typ == "skill_listing" || typ == "invoked_skills":
		return "capability_snapshot"
	case typ == "queued_command":
		return "queue_operation"
	}
	return "attachment"
}

// document keeps a file's text, and the file as an attachment of the message.
func (s *session) document(p *pending, a jsonx.Value, name, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	s.block(p, archive.Block{Type: archive.BlockDocument, Text: text})
	id, size := digestText(text)
	p.m.Attachments = append(p.m.Attachments, archive.Attachment{
		ID: id, Name: cmp.Or(a.Get("filename").Str(), a.Get("path").Str(), name), Media: "text/plain", Size: size,
	})
}

// queued keeps a prompt that was typed while the agent worked and was put before
// the model within its turn: no user record repeats it.
func (s *session) queued(p *pending, v, a jsonx.Value) {
	switch prompt := a.Get("prompt"); prompt.Type() {
	case jsonx.String:
		s.text(p, prompt.Str())
	case jsonx.Array:
		var k kinds
		for seg := range prompt.Array() {
			s.segment(p, v, seg, &k)
		}
	}
	p.m.Type = ""
	text := archive.MessageText(&p.m)
	origin := cmp.Or(originKind(a), originKind(v))
	human := origin == "human" || origin == "" && a.Get("commandMode").Is("prompt")
	switch p.m.Type = archive.ClassifyText(text); {
	case p.m.Type == "" && human && !s.g.agent:
		p.m.Type, p.m.Material = archive.TypeMessage, archive.HumanAuthored
		p.m.Pastes = append(p.m.Pastes, archive.FindPastes(text)...)
	case p.m.Type == "":
		p.m.Type = archive.TypeContext
	}
}

// hookText keeps what a hook put before the model.
func (s *session) hookText(p *pending, a jsonx.Value) {
	for _, v := range []jsonx.Value{a.Get("content"), a.Get("blockingError", "blockingError"), a.Get("stderr")} {
		text := v.Str()
		if v.Type() == jsonx.Array {
			text = strings.Join(leaves(nil, v), "\n")
		}
		s.text(p, text)
	}
}
