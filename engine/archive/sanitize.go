package archive

import (
	"strings"
	"unicode/utf8"
)

// CleanText is s as the archive keeps text: valid UTF-8 without NUL. Each byte
// that is no part of a character becomes U+FFFD, and so does each NUL; an
// encoded surrogate is one U+FFFD. Clean text is returned as it is.
func CleanText(s string) string {
	if strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 8)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == 0:
			r = utf8.RuneError
		case r == utf8.RuneError && n == 1 && isSurrogate(s[i:]):
			n = 3
		}
		b.WriteRune(r)
		i += n
	}
	return b.String()
}

// isSurrogate reports whether s begins with the three bytes that a lone
// surrogate would have in UTF-8.
func isSurrogate(s string) bool {
	return len(s) >= 3 && s[0] == 0xED && s[1] >= 0xA0 && s[1] <= 0xBF && s[2] >= 0x80 && s[2] <= 0xBF
}
