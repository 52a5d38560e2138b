package jsonx

import (
	"bytes"
	"unicode/utf8"
)

// appendDecoded appends the text of a string's raw bytes. NUL, a surrogate
// without its partner and each byte of invalid UTF-8 become U+FFFD.
func appendDecoded(dst, raw []byte) []byte {
	for len(raw) > 0 {
		n := bytes.IndexByte(raw, '\\')
		if n < 0 {
			return appendClean(dst, raw)
		}
		dst = appendClean(dst, raw[:n])
		r, size := unescape(raw[n:])
		if r < utf8.RuneSelf {
			dst = append(dst, byte(r))
		} else {
			dst = utf8.AppendRune(dst, r)
		}
		raw = raw[n+size:]
	}
	return dst
}

// appendClean appends bytes without escapes.
func appendClean(dst, raw []byte) []byte {
	if utf8.Valid(raw) && bytes.IndexByte(raw, 0) < 0 {
		return append(dst, raw...)
	}
	for len(raw) > 0 {
		r, n := utf8.DecodeRune(raw)
		if r == 0 {
			r = utf8.RuneError
		}
		dst = utf8.AppendRune(dst, r)
		raw = raw[n:]
	}
	return dst
}

// unescape decodes the sequence that raw begins with; it was checked by escape.
func unescape(raw []byte) (rune, int) {
	switch raw[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r := hex4(raw)
		switch {
		case r == 0 || r >= 0xDC00 && r < 0xE000:
			return utf8.RuneError, 6
		case r >= 0xD800 && r < 0xDC00:
			if len(raw) >= 12 && raw[6] == '\\' && raw[7] == 'u' {
				if low := hex4(raw[6:]); low >= 0xDC00 && low < 0xE000 {
					return (r-0xD800)<<10 + (low - 0xDC00) + 0x10000, 12
				}
			}
			return utf8.RuneError, 6
		}
		return r, 6
	}
	return rune(raw[1]), 2
}

func hex4(raw []byte) rune {
	var r rune
	for _, c := range raw[2:6] {
		r = r<<4 | rune(hexDigit(c))
	}
	return r
}

// AppendQuoted appends s as a JSON string with the fewest escapes: quote,
// backslash and control characters. Invalid UTF-8 and NUL become U+FFFD.
func AppendQuoted[T string | []byte](dst []byte, s T) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		from := i
		for i < len(s) && s[i] >= 0x20 && s[i] != '"' && s[i] != '\\' && s[i] < utf8.RuneSelf {
			i++
		}
		dst = append(dst, s[from:i]...)
		if i == len(s) {
			break
		}
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c == 0:
			dst = utf8.AppendRune(dst, utf8.RuneError)
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		default:
			var buf [utf8.UTFMax]byte
			r, n := utf8.DecodeRune(buf[:copy(buf[:], s[i:])])
			dst = utf8.AppendRune(dst, r)
			i += n
			continue
		}
		i++
	}
	return append(dst, '"')
}

// names keeps recent short strings, so that the few words that fill an archive
// (roles, types, models, tool names) are allocated once.
type names struct{ slots [512]string }

// maxName is the longest string that names keeps.
const maxName = 40

func (t *names) get(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if t == nil || len(b) > maxName {
		return string(b)
	}
	h := uint32(2166136261)
	for _, c := range b {
		h = (h ^ uint32(c)) * 16777619
	}
	slot := &t.slots[h%uint32(len(t.slots))]
	if *slot != string(b) {
		*slot = string(b)
	}
	return *slot
}
