package archive

import (
	"unicode"
	"unicode/utf8"
)

// CountWords is the number of words of s, separated by white space as Unicode's
// property White_Space has it.
func CountWords(s string) int64 {
	var n int64
	inWord := false
	for i := 0; i < len(s); {
		c := s[i]
		space := c == ' ' || c-'\t' < 5
		size := 1
		if c >= utf8.RuneSelf {
			var r rune
			r, size = utf8.DecodeRuneInString(s[i:])
			space = unicode.IsSpace(r)
		}
		if !space && !inWord {
			n++
		}
		inWord = !space
		i += size
	}
	return n
}

// MessageWords is the number of words of a message: those of its text and of
// its tool results. Thinking and tool inputs are not counted.
func MessageWords(m *Message) int64 {
	var n int64
	for i := range m.Blocks {
		switch m.Blocks[i].Type {
		case BlockText, BlockToolResult, BlockCode, BlockDocument:
			n += CountWords(m.Blocks[i].Text)
		}
	}
	return n
}
