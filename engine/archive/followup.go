package archive

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Classes of how an assistant goes on after a failed action.
const (
	FollowupAcknowledged = "acknowledged"          // it speaks of the failure
	FollowupSilent       = "silent_proceed"        // it says something else
	FollowupWordless     = "wordless_continuation" // it calls the next tool almost without a word
	FollowupAmbiguous    = "ambiguous"             // it says too little to tell, or nothing follows
)

// Bounds of [ClassifyFollowup], in characters.
const (
	wordlessRunes = 40
	tellingRunes  = 20
)

var acknowledgements = []string{
	"failed", "failure", "error", "errored", "exit code", "non-zero", "nonzero", "exception", "traceback", "bug",
	"fails", "permission denied", "not found", "don't exist", "timed out", "timeout", "isn't working",
	"doesn't work", "out of sync", "locked", "blocked", "hook blocks", "hanging", "modified during processing",
	"have been modified", "were modified", "conflict", "conflicting", "doesn't support", "being modified",
	"duplicate", "what went wrong", "the issue is", "formatting issue", "offline issue", "staging issue",
	"escaping issue", "couple of issues", "found some issues", "remaining three issues", "remaining issues",
	"additional issues", "many issues", "more issues", "unclosed function body", "need a clean database", "failing",
}

// A followup is what the assistant did after one failed result.
type followup struct {
	class   string
	message int // position; -1 while nothing has followed
}

// answer takes an assistant message as what follows every failure before it.
func (d *Deriver) answer(m *Message) {
	if len(d.open) == 0 {
		return
	}
	class := d.followupClass(m)
	for _, i := range d.open {
		d.followups[i] = followup{class, m.Position}
	}
	d.open = d.open[:0]
}

// ClassifyFollowup is the class of the assistant message that follows a failure.
// It looks at the search text of all blocks, so commands and paths count too.
func ClassifyFollowup(m *Message) string { return new(Deriver).followupClass(m) }

func (d *Deriver) followupClass(m *Message) string {
	text := d.scratch[:0]
	for i := range m.Blocks {
		if i > 0 {
			text = append(text, '\n')
		}
		text = d.reader.AppendSearchText(text, &m.Blocks[i])
	}
	d.scratch = text
	if cap(d.scratch) > 1<<20 {
		d.scratch = nil
	}
	text = bytes.ToLower(text)
	for _, mark := range acknowledgements {
		if bytes.Contains(text, []byte(mark)) {
			return FollowupAcknowledged
		}
	}
	text = bytes.TrimSpace(text)
	switch {
	case onlyThinking(text):
		return FollowupAmbiguous
	case wordless(m.Blocks):
		return FollowupWordless
	case utf8.RuneCount(text) < tellingRunes:
		return FollowupAmbiguous
	}
	return FollowupSilent
}

// onlyThinking reports whether a text is one tagged thought and nothing else.
func onlyThinking(text []byte) bool {
	for _, tag := range []string{"thinking", "analysis", "reasoning"} {
		if bytes.HasPrefix(text, []byte("<"+tag+">")) && bytes.HasSuffix(text, []byte("</"+tag+">")) {
			return true
		}
	}
	return false
}

// wordless reports whether there is a tool_use and hardly any text before it.
func wordless(blocks []Block) bool {
	runes := 0
	for i := range blocks {
		switch blocks[i].Type {
		case BlockText:
			runes += utf8.RuneCountInString(strings.TrimSpace(blocks[i].Text))
		case BlockToolUse:
			return runes <= wordlessRunes
		}
	}
	return false
}
