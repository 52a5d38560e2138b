package codex

import (
	"strings"

	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

// spoken is a text of the event streams.
type spoken struct {
	who   speaker
	voice voice
	text  string
}

// speechEvent reads an event that carries what somebody said or thought.
func speechEvent(rec record) (spoken, bool) {
	b := rec.body
	switch rec.typ {
	case "user_message":
		return spoken{speakerUser, voiceEvent, b.Get("message").Str()}, true
	case "agent_message":
		return spoken{speakerAssistant, voiceEvent, b.Get("message").Str()}, true
	case "agent_reasoning", "agent_reasoning_raw_content":
		return spoken{speakerReasoning, voiceEvent, firstStr(b, "text", "message")}, true
	case "item_completed":
		return completedSpeech(b.Get("item"))
	}
	return spoken{}, false
}

func completedSpeech(item jsonx.Value) (spoken, bool) {
	switch item.Get("type").Str() {
	case "UserMessage":
		return spoken{speakerUser, voiceCompleted, joinText(textParts(item.Get("content")))}, true
	case "AgentMessage":
		return spoken{speakerAssistant, voiceCompleted, joinText(textParts(item.Get("content")))}, true
	case "Plan":
		return spoken{speakerAssistant, voiceCompleted, item.Get("text").Str()}, true
	case "Reasoning":
		parts := append(textParts(item.Get("summary_text")), textParts(item.Get("raw_content"))...)
		return spoken{speakerReasoning, voiceCompleted, joinText(parts)}, true
	}
	return spoken{}, false
}

// cutPlan parts the plan that a reply holds from the rest of it: the events have
// each of the two as an item of its own.
func cutPlan(s string) (plan, rest string, ok bool) {
	before, s, ok := strings.Cut(s, "<proposed_plan>")
	if !ok {
		return "", "", false
	}
	plan, after, ok := strings.Cut(s, "</proposed_plan>")
	return plan, before + after, ok
}
