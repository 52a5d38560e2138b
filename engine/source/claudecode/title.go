package claudecode

import (
	"github.com/hansard-search/hansard/engine/archive"
)

// titles collects title evidence; within a kind the newest counts, but of prompts
// the first.
type titles struct {
	custom, ai, agent, summary, described string
	prompted, promptNative                string
}

// prompt notes the first prompt that makes a title.
func (t *titles) prompt(native, text string) {
	if t.prompted == "" {
		t.prompted, t.promptNative = archive.TitleFromPrompt(text), native
	}
}

// fill sets the session's title: what the person chose, what the program chose,
// the agent's name or task, a summary of this very conversation, the first prompt.
func (t *titles) fill(head *archive.Session) {
	promptRef := "prompt"
	if t.promptNative != "" {
		promptRef = "message:" + archive.MessageKey{Native: archive.NormalNative(t.promptNative)}.ID(head.ID())
	}
	for _, e := range []struct {
		title, source, ref string
		confidence         float64
	}{
		{t.custom, "origin", "custom-title", 1},
		{t.ai, "origin", "ai-title", 1},
		{t.agent, "origin", "agent-name", 0.9},
		{t.described, "origin", "agent-description", 0.9},
		{t.summary, "origin", "summary", 0.9},
		{t.prompted, "heuristic", promptRef, 0.5},
	} {
		if e.title != "" {
			head.Title, head.TitleSource, head.TitleRef, head.TitleConfidence = e.title, e.source, e.ref, e.confidence
			return
		}
	}
}
