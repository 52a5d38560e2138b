package codex

import (
	"strings"

	"github.com/hansard-search/hansard/engine/archive"
)

// readMessage reads a message item.
func (r *reader) readMessage(rec record) archive.Message {
	m := archive.Message{Time: rec.when(), Native: rec.body.Get("id").Str(), Recipient: rec.body.Get("recipient").Str()}
	appendContent(&m, rec.body.Get("content"))
	switch role := strings.ToLower(rec.body.Get("role").Str()); {
	case rec.typ == "agent_message":
		// Another agent of the same team speaks to this one.
		m.Role, m.Sender, m.Type, m.Material = archive.RoleUser, rec.body.Get("author").Str(), archive.TypeContext, archive.RuntimeContext
	case role == "assistant":
		m.Role = archive.RoleAssistant
	case role == "user":
		m.Role = archive.RoleUser
		r.classifyPrompt(rec, &m)
	case role == "developer" || role == "system":
		m.Role, m.Type, m.Material = archive.RoleSystem, archive.TypeContext, archive.RuntimeContext
	case role == "tool" || role == "function":
		m.Role = archive.RoleTool
		asResults(&m)
	default:
		m.Role = archive.RoleUnknown
	}
	return m
}

// asResults makes the texts of a message of a tool results without a call.
func asResults(m *archive.Message) {
	for i := range m.Blocks {
		if b := &m.Blocks[i]; b.Type == archive.BlockText {
			b.Type = archive.BlockToolResult
			b.Outcome.Reason = archive.NotReported
		}
	}
}

// injected are the openings of texts that Codex itself sends as the user, beyond
// those that every agent shares.
var injected = []struct {
	head     string
	typ      archive.MessageType
	material archive.Material
}{
	{"<skill>", archive.TypeContext, archive.RuntimeContext},
	{"<collaboration_mode>", archive.TypeContext, archive.RuntimeContext},
	{"<user_action>", archive.TypeContext, archive.RuntimeContext},
	{"<user_shell_command>", archive.TypeProtocol, archive.OperatorCommand},
	{"Warning: apply_patch was requested via ", archive.TypeProtocol, archive.RuntimeProtocol},
	{"Warning: The maximum number of unified exec processes", archive.TypeProtocol, archive.RuntimeProtocol},
}

// injection tells what was only written in the user's name: its type and who
// made it. It is false for a prompt.
func injection(m *archive.Message) (archive.MessageType, archive.Material, bool) {
	if len(m.Blocks) == 0 {
		return "", "", false
	}
	text := strings.TrimLeft(m.Blocks[0].Text, " \t\r\n")
	for _, in := range injected {
		if strings.HasPrefix(text, in.head) {
			return in.typ, in.material, true
		}
	}
	whole := archive.MessageText(m)
	if isWrapped(whole) {
		return "", "", false
	}
	typ := archive.ClassifyText(whole)
	return typ, archive.ClassifyMaterial(m.Role, typ, m.Blocks, whole), typ != ""
}

// classifyPrompt fills the type and the maker of a user's message. What is not
// injected is a prompt: of a person in a session of their own, of the parent's
// agent in a subagent's.
func (r *reader) classifyPrompt(rec record, m *archive.Message) {
	if len(m.Blocks) == 0 {
		return
	}
	if typ, material, ok := injection(m); ok {
		m.Type, m.Material = typ, material
		if len(r.session.WorkDirs) == 0 {
			addDir(&r.session, dirInContext(m.Blocks[0].Text))
		}
		return
	}
	whole := archive.MessageText(m)
	m.Type = archive.TypeMessage
	if m.Material = archive.ClassifyMaterial(m.Role, m.Type, m.Blocks, whole); m.Material != archive.UnknownMaterial {
		return
	}
	m.Material = archive.HumanAuthored
	if r.inherited(rec) {
		return
	}
	if r.session.Branch == archive.Subagent {
		m.Material = archive.GeneratedContextPack
	}
	if r.prompt.text == "" {
		r.prompt = prompt{whole, archive.MessageKey{Native: archive.NormalNative(m.Native), Position: r.pos}}
	}
}

// prompt is the first prompt of a session, and the message that holds it.
type prompt struct {
	text string
	key  archive.MessageKey
}

// dirInContext is the working directory that the injected environment names. It
// is the only record of it in files from before version 0.40.
func dirInContext(text string) string {
	if text = strings.TrimSpace(text); !strings.HasPrefix(text, "<environment_context>") {
		return ""
	}
	if _, rest, ok := strings.Cut(text, "<cwd>"); ok {
		dir, _, _ := strings.Cut(rest, "</cwd>")
		return strings.TrimSpace(dir)
	}
	_, rest, _ := strings.Cut(text, "Current working directory: ")
	dir, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(dir)
}

// readReasoning reads a reasoning item. One that is only encrypted keeps an empty
// block, as evidence that there was a thought.
func readReasoning(rec record) archive.Message {
	m := archive.Message{
		Time: rec.when(), Native: rec.body.Get("id").Str(),
		Role: archive.RoleAssistant, Type: archive.TypeThinking, Material: archive.AssistantAuthored,
	}
	for _, part := range reasoningParts(rec.body) {
		m.Blocks = append(m.Blocks, archive.Block{Type: archive.BlockThinking, Text: part})
	}
	if len(m.Blocks) == 0 {
		m.Blocks = []archive.Block{{Type: archive.BlockThinking}}
	}
	return m
}

// readSpoken makes the message of a text that only an event has.
func (r *reader) readSpoken(rec record, sp spoken) archive.Message {
	m := archive.Message{Time: rec.when(), Native: rec.body.Get("item", "id").Str(), Role: archive.RoleAssistant}
	block := archive.Block{Type: archive.BlockText, Text: sp.text}
	switch sp.who {
	case speakerUser:
		m.Role = archive.RoleUser
	case speakerReasoning:
		m.Type, m.Material = archive.TypeThinking, archive.AssistantAuthored
		block.Type = archive.BlockThinking
	}
	if sp.text != "" {
		m.Blocks = append(m.Blocks, block)
	}
	for url := range rec.body.Get("images").Array() {
		appendImageURL(&m, url.Str(), "")
	}
	for path := range rec.body.Get("local_images").Array() {
		m.Attachments = append(m.Attachments, archive.Attachment{Name: path.Str()})
	}
	if sp.who == speakerUser {
		r.classifyPrompt(rec, &m)
	}
	return m
}
