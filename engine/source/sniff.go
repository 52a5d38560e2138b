package source

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// HeadBytes is how much of a file sniffing sees.
const HeadBytes = 64 << 10

// Identify finds the format of a file from its path and first bytes, see
// [Opened.Head]. Formats are asked in order, after the files of other programs are
// told apart, so that a lookalike is never taken. Without a format the reason says
// why: "empty file", "unsupported format NAME" or "unknown format".
func Identify(formats []Format, name string, head []byte) (f Format, reason string) {
	if len(bytes.TrimSpace(head)) == 0 {
		return nil, "empty file"
	}
	shapes := Peek(head, 12)
	other := Foreign(name, head, shapes)
	if slices.ContainsFunc(formats, func(f Format) bool { return f.Name() == other }) {
		other = "" // somebody reads it after all
	}
	if other != "" {
		return nil, "unsupported format " + other
	}
	for _, f := range formats {
		if f.Sniff(name, head) {
			return f, ""
		}
	}
	return nil, "unknown format"
}

// Foreign names the program or container that wrote a file, if it is one that is
// known by its looks and is none of claude-code's or codex's; else it is empty.
// Names equal those that a format for them would have.
func Foreign(name string, head []byte, shapes []Shape) string {
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			return m.name
		}
	}
	if len(shapes) == 0 {
		return ""
	}
	for _, l := range looks {
		if l.any && slices.ContainsFunc(shapes, l.is) || l.is(shapes[0]) {
			return l.name
		}
	}
	if strings.Contains(filepathSlash(name), "/.qwen/") && path.Ext(name) == ".jsonl" {
		return "qwen"
	}
	return ""
}

var magics = []struct{ magic, name string }{
	{"SQLite format 3\x00", "sqlite"},
	{"PK\x03\x04", "zip"},
	{"\x1f\x8b", "gzip"},
	{"\x28\xb5\x2f\xfd", "zstd"}, // within zstd: archives are opened one level deep
}

// looks are asked in order; any means that each of the first values is looked at
// instead of the very first.
var looks = []struct {
	name string
	any  bool
	is   func(s Shape) bool
}{
	{"deepseek-harness", false, func(s Shape) bool { return s.Is("type", "session") && s.Has("delegationDepth") }},
	{"pi", false, func(s Shape) bool { return s.Is("type", "session") && s.Has("id", "cwd") }},
	{"gemini-cli", false, func(s Shape) bool {
		return s.Has("projectHash") && (s.Has("sessionId") || s.Has("messages")) ||
			s.Has("lastUpdated", "messages") || s.Has("sessionId", "startTime", "lastUpdated")
	}},
	{"opencode", false, func(s Shape) bool {
		return s.Is("info", "{") && s.Is("messages", "[") ||
			strings.HasPrefix(s.Keys["sessionID"], "ses_") ||
			strings.HasPrefix(s.Keys["id"], "ses_") && s.Has("directory")
	}},
	{"chatgpt-export", false, func(s Shape) bool { return s.Is("mapping", "{") || s.Has("conversation_id", "conversation") }},
	{"claude-ai-export", false, func(s Shape) bool { return s.Is("chat_messages", "[") }},
	{"aistudio", false, func(s Shape) bool { return s.Has("chunkedPrompt") || s.Has("runSettings") }},
	{"antigravity", false, func(s Shape) bool { return s.Has("step_index", "source", "type") }},
	{"qwen", true, func(s Shape) bool {
		return s.Has("sessionId", "uuid") && (s.Has("systemPayload") || s.Has("message.parts"))
	}},
	{"claude-stream-json", false, func(s Shape) bool { return s.Is("type", "system") && s.Is("subtype", "init") }},
	{"claude-stream-json", true, func(s Shape) bool { return s.Is("type", "result") && s.Has("total_cost_usd") }},
	{"claude-history", false, func(s Shape) bool { return s.Has("display", "timestamp", "project") }},
	{"codex-history", false, func(s Shape) bool { return s.Has("session_id", "ts", "text") && !s.Has("type") }},
	{"beads", false, func(s Shape) bool { return s.Has("id", "title", "issue_type") }},
	{"grok-cli", false, func(s Shape) bool {
		return s.Is("type", "system") && s.Has("content") && !s.Has("uuid") && !s.Has("sessionId") && !s.Has("session_id") && !s.Has("timestamp")
	}},
	{"copilot-cli", false, func(s Shape) bool { return s.Is("type", "session.start") && s.Is("data", "{") }},
}

func filepathSlash(s string) string { return strings.ReplaceAll(s, `\`, "/") }
