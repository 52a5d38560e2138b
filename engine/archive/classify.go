package archive

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

// ParseRole is the role that a source's spelling means.
func ParseRole(s string) Role {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "user", "human":
		return RoleUser
	case "assistant", "model", "ai":
		return RoleAssistant
	case "system", "developer":
		return RoleSystem
	case "tool", "function", "tool_use", "tool_result", "progress", "result":
		return RoleTool
	}
	return RoleUnknown
}

var contextHeads = []string{
	"<environment_context>", "<permissions instructions>", "<subagent_notification>", "<system>", "<developer>",
	"Base directory for this skill:", "# AGENTS.md instructions for ", "<INSTRUCTIONS>", "<user_instructions>",
	"This session is being continued from a previous conversation that ran out of context.",
}

var protocolHeads = []string{
	"[Request interrupted by user]", "[Request interrupted by user for tool use]",
	"Caveat: The messages below", "<bash-input>", "<bash-stdout>", "<bash-stderr>", "<channel-message>",
	"<command-args>", "<command-message>", "<command-name>", "<cross-session-message>",
	"<github-webhook-activity>", "<local-command-caveat>", "<local-command-stderr>", "<local-command-stdout>",
	"<new-diagnostics>", "<remote-review>", "<remote-review-progress>", "<task-notification>",
	"<teammate-message>", "<tick>", "<turn_aborted>", "<ultraplan>",
	"bash -lc ", "python - <<", "python3 - <<",
}

var operatorMarks = []string{
	"<command-name>", "<command-message>", "<command-args>", "<bash-input>", "bash -lc ", "python - <<", "python3 - <<",
}

// Prompts that programs generate, told by how they begin.
var (
	analysisHeads = []string{"Generate a retrospective for:", "Generate retrospective for:"}
	packHeads     = []string{"# Commit ", "Generate all artifacts"}
)

var contextLine = regexp.MustCompile(`(?m)^(?:Contents of .+:|<file path=)`)

// StripReminders is text without the <system-reminder> blocks that it begins
// with, and without white space around what is left.
func StripReminders(text string) string {
	const opening, closing = "<system-reminder>", "</system-reminder>"
	for {
		text = strings.TrimSpace(text)
		if !strings.HasPrefix(text, opening) {
			return text
		}
		i := strings.Index(text, closing)
		if i < 0 {
			return text
		}
		text = text[i+len(closing):]
	}
}

// ClassifyText is the type that a message's text alone shows: [TypeContext] for
// what a program puts before the model, [TypeProtocol] for what it reports, and
// "" when the text does not tell. It is made for agents that write such text as
// user messages.
func ClassifyText(text string) MessageType {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	text = StripReminders(text)
	switch {
	case text == "" || hasAnyPrefix(text, contextHeads):
		return TypeContext
	case hasAnyPrefix(text, protocolHeads) || isQueryList(text):
		return TypeProtocol
	case strings.Contains(text, "<system>") && strings.Contains(text, "</system>"):
		return TypeContext
	case (strings.Contains(text, "Contents of ") || strings.Contains(text, "<file path=")) && contextLine.MatchString(text):
		return TypeContext
	}
	return ""
}

func hasAnyPrefix(s string, heads []string) bool {
	return slices.ContainsFunc(heads, func(h string) bool { return strings.HasPrefix(s, h) })
}

func containsAny(s string, marks []string) bool {
	return slices.ContainsFunc(marks, func(m string) bool { return strings.Contains(s, m) })
}

// isQueryList reports whether text is {"queries": [strings]} and nothing else.
func isQueryList(text string) bool {
	if text[0] != '{' || !strings.Contains(text, `"queries"`) {
		return false
	}
	var p jsonx.Parser
	v, err := p.ParseString(text)
	list := v.Get("queries")
	if err != nil || v.Len() != 1 || list.Type() != jsonx.Array {
		return false
	}
	for e := range list.Array() {
		if e.Type() != jsonx.String {
			return false
		}
	}
	return true
}

// ClassifyBlocks is the type that a message's blocks show: [TypeToolResult] when
// all are tool results, [TypeToolUse] when one is a tool use, else [TypeMessage].
func ClassifyBlocks(blocks []Block) MessageType {
	switch {
	case AllResults(blocks):
		return TypeToolResult
	case hasBlock(blocks, BlockToolUse):
		return TypeToolUse
	}
	return TypeMessage
}

// AllResults reports whether there are blocks and all are tool results.
func AllResults(blocks []Block) bool {
	return len(blocks) > 0 && !slices.ContainsFunc(blocks, func(b Block) bool { return b.Type != BlockToolResult })
}

func hasBlock(blocks []Block, t BlockType) bool {
	return slices.ContainsFunc(blocks, func(b Block) bool { return b.Type == t })
}

// ClassifyMaterial is who made a message's text, as far as its role, type,
// blocks and text tell. It never answers [HumanAuthored]: that needs evidence
// which only the source has (see [Deriver.Add] for the default).
func ClassifyMaterial(role Role, typ MessageType, blocks []Block, text string) Material {
	text = StripReminders(text)
	switch {
	case role == RoleTool || typ == TypeToolResult || AllResults(blocks):
		return ToolResultMaterial
	case role != RoleAssistant && hasAnyPrefix(text, analysisHeads):
		return GeneratedAnalysisPack
	case role != RoleAssistant && hasAnyPrefix(text, packHeads), typ == TypeSummary:
		return GeneratedContextPack
	case typ == TypeContext:
		return RuntimeContext
	case typ == TypeProtocol && containsAny(text, operatorMarks):
		return OperatorCommand
	case typ == TypeProtocol:
		return RuntimeProtocol
	case role == RoleAssistant && (typ == TypeMessage || typ == TypeToolUse || typ == TypeThinking):
		return AssistantAuthored
	}
	return UnknownMaterial
}

// MessageText is the prose of a message: its text blocks, joined by line feeds.
func MessageText(m *Message) string {
	var parts []string
	for i := range m.Blocks {
		if b := &m.Blocks[i]; b.Type == BlockText && b.Text != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}
