package archive

import (
	"strings"
	"unicode/utf8"
)

const (
	titleRunes   = 80
	heuristic    = "heuristic"
	guessedTitle = 0.5
	// titleInput bounds how much of a prompt is looked at.
	titleInput = 64 << 10
)

// wrapperTags hold what a program adds to a prompt.
var wrapperTags = []string{
	"system-reminder", "environment_context", "user_instructions", "INSTRUCTIONS", "permissions instructions",
	"ide_opened_file", "ide_selection", "ide_diagnostics", "local-command-caveat", "local-command-stdout",
	"local-command-stderr", "command-name", "command-message", "command-args", "task-notification",
}

// codexRequest stands before the prompt in what an editor sends.
const codexRequest = "## My request for Codex:"

// TitleFromPrompt is the title that a prompt gives: without what programs wrap
// around it, white space collapsed, cut after 80 characters with "..." behind.
// It is empty when three characters or fewer are left.
func TitleFromPrompt(text string) string {
	if len(text) > titleInput {
		text = strings.ToValidUTF8(text[:titleInput], "")
	}
	if i := strings.Index(text, codexRequest); i >= 0 {
		text = text[i+len(codexRequest):]
	}
	for _, tag := range wrapperTags {
		text = cutTag(text, tag)
	}
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= 3 {
		return ""
	}
	n := 0
	for i := range text {
		if n == titleRunes {
			return text[:i] + "..."
		}
		n++
	}
	return text
}

// cutTag drops every <tag>…</tag>, and tags without a partner alone.
func cutTag(text, tag string) string {
	opening, closing := "<"+tag+">", "</"+tag+">"
	if !strings.Contains(text, opening) && !strings.Contains(text, closing) {
		return text
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, opening)
		b.WriteString(before)
		if !ok {
			break
		}
		if _, after, ok := strings.Cut(rest, closing); ok {
			rest = " " + after
		}
		text = rest
	}
	return strings.ReplaceAll(b.String(), closing, " ")
}
