package term

import (
	"strings"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// Escape makes text from an archive safe to print. Control characters, terminal
// sequences, bidirectional overrides and other invisible format characters become
// visible: \x1b, \u202e. Newline and tab stay. Invalid UTF-8 becomes U+FFFD.
func Escape(s string) string {
	if !needsEscape(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			b.WriteRune(utf8.RuneError)
		case !hostile(r) && !joiner(s, i, r):
			b.WriteRune(r)
		case r < 0x100:
			b.WriteString(`\x`)
			b.WriteByte(hexDigits[r>>4])
			b.WriteByte(hexDigits[r&15])
		default:
			b.WriteString(`\u`)
			for shift := 12; shift >= 0; shift -= 4 {
				b.WriteByte(hexDigits[r>>shift&15])
			}
		}
	}
	return b.String()
}

// Line is Escape for text that must stay on one line: newlines, tabs and runs of
// spaces become one space.
func Line(s string) string { return Escape(strings.Join(strings.Fields(s), " ")) }

// Piece is Escape for a piece of a line: newlines and tabs become spaces, and the
// spaces at its ends stay.
func Piece(s string) string {
	return Escape(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return r
	}, s))
}

func needsEscape(s string) bool {
	for i, r := range s {
		if r == utf8.RuneError || hostile(r) || joiner(s, i, r) {
			return true
		}
	}
	return false
}

// hostile reports whether r could act on a terminal or hide text from a reader.
func hostile(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20 || r >= 0x7f && r <= 0x9f: // C0, DEL, C1
		return true
	case r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069: // bidirectional controls
		return true
	case r == 0x200e || r == 0x200f || r == 0x061c: // bidirectional marks
		return true
	case r == 0x200b || r == 0x2060 || r == 0xfeff || r == 0x2028 || r == 0x2029 || r == 0x00ad:
		return true
	case r >= 0xfff9 && r <= 0xfffb: // interlinear annotation
		return true
	}
	return false
}

// joiner reports whether r at s[i] is a zero-width joiner outside an emoji sequence
// or an Indic or Arabic word, where it has a meaning of its own.
func joiner(s string, i int, r rune) bool {
	if r != 0x200c && r != 0x200d {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+3:])
	return before < 0x0600 || after < 0x0600 || after == utf8.RuneError
}
