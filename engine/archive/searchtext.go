package archive

import (
	"strings"

	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

// SearchTextParts names what a block's search text is made of, in order.
var SearchTextParts = []string{"text", "tool_name", "input.command", "input.file_path", "input.path"}

// AppendSearchText appends what a block is found by: its text, its tool name, and
// of its tool input the command, the file_path and the path; each without
// surrounding white space, joined by single spaces, and left out when it is
// empty. Nothing else of the input is in it. A command that is an array is
// unwrapped as by [Command].
func AppendSearchText(dst []byte, b *Block) []byte {
	return new(InputReader).AppendSearchText(dst, b)
}

// AppendSearchText is the function of that name, with memory that is reused.
func (r *InputReader) AppendSearchText(dst []byte, b *Block) []byte {
	start := len(dst)
	dst = appendPart(dst, start, b.Text)
	dst = appendPart(dst, start, b.ToolName)
	if b.ToolInput != "" {
		v := r.parse(b.ToolInput)
		dst = appendPart(dst, start, commandText(v.Get("command")))
		dst = appendPart(dst, start, partText(v.Get("file_path")))
		dst = appendPart(dst, start, partText(v.Get("path")))
	}
	return dst
}

// AppendSearchParts appends the parts of the search text of a block, each by itself.
func (r *InputReader) AppendSearchParts(dst []string, b *Block) []string {
	add := func(s string) {
		if s = strings.TrimSpace(s); s != "" {
			dst = append(dst, s)
		}
	}
	add(b.Text)
	add(b.ToolName)
	if b.ToolInput != "" {
		v := r.parse(b.ToolInput)
		add(commandText(v.Get("command")))
		add(partText(v.Get("file_path")))
		add(partText(v.Get("path")))
	}
	return dst
}

// appendPart appends a part to what begins at start.
func appendPart(dst []byte, start int, s string) []byte {
	if s = strings.TrimSpace(s); s == "" {
		return dst
	}
	if len(dst) > start {
		dst = append(dst, ' ')
	}
	return append(dst, s...)
}

// partText is a string as it is, and another value as JSON.
func partText(v jsonx.Value) string {
	switch v.Type() {
	case jsonx.Missing, jsonx.Null:
		return ""
	case jsonx.String:
		return v.Str()
	}
	return v.Canonical()
}
