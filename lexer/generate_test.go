package lexer

import (
	"math/rand/v2"
	"unicode/utf8"
)

// committed are texts that the laws were tried on by hand; fuzzing starts from them
// and the generator mutates them.
var committed = []string{
	"", "Hello, World", "a\u0301 \u0301b", "zażółć ŁÓDŹ", "x\xffy\xc3\xa9\xc3", "\xe6\x97\xa5\xe6\x97", "a\x00b",
	"日本語 rust🦀 ok😀ok", "\U0010FFFF\uFFFE\uFFFD", "ΆΈ ſς İ", "can't foo_bar 3.14 go1.26.8",
	"e\u0301t\u0301\u0302e \u0301\u0302", "\xed\xa0\x80\xed\xb0\x80", "\xf4\x90\x80\x80\xc0\xaf", "\xf0\x9f\xa6",
	"http://host:8080/a/b?c=d&e=%20f#g", "øđħßæ ØĐĦẞÆ", "\ufeffmark", "क्षि நி ก็ 각",
	"func (s *Scanner) Next() bool { return next(s, s.str) }\r\n",
}

// A textMaker appends a random text of its kind.
type textMaker func(dst []byte, r *rand.Rand) []byte

// makers are the kinds of text that the long run mixes evenly.
var makers = []textMaker{makeASCII, makeRunes, makeMixed, makeMarks, makeInvalid, makeMutant, makeLong}

// makeASCII gives printable and control characters, letters most of them.
func makeASCII(dst []byte, r *rand.Rand) []byte {
	for range r.IntN(48) {
		if r.IntN(4) == 0 {
			dst = append(dst, byte(r.IntN(utf8.RuneSelf)))
		} else {
			dst = append(dst, "abcdefghijklmnopqrstuvwxyzABCXYZ019"[r.IntN(35)])
		}
	}
	return dst
}

// makeRunes gives code points drawn evenly from all.
func makeRunes(dst []byte, r *rand.Rand) []byte {
	for range r.IntN(12) {
		dst = utf8.AppendRune(dst, r.Int32N(utf8.MaxRune+1))
	}
	return dst
}

// makeMixed gives runs of the classes of the alphabet.
func makeMixed(dst []byte, r *rand.Rand) []byte {
	for range 1 + r.IntN(12) {
		draw := alphabet[r.IntN(len(alphabet))]
		for range 1 + r.IntN(3) {
			dst = utf8.AppendRune(dst, draw(r))
		}
	}
	return dst
}

// makeMarks gives letters under heaps of combining marks, and marks without one.
func makeMarks(dst []byte, r *rand.Rand) []byte {
	for range 1 + r.IntN(6) {
		switch r.IntN(4) {
		case 0:
			dst = append(dst, " .-"[r.IntN(3)])
		case 1:
			dst = utf8.AppendRune(dst, 0x400+r.Int32N(0x600))
		default:
			dst = append(dst, 'a'+byte(r.IntN(26)))
		}
		for range r.IntN(5) {
			if r.IntN(3) == 0 {
				dst = utf8.AppendRune(dst, 0x1AB0+r.Int32N(0x150))
			} else {
				dst = utf8.AppendRune(dst, 0x300+r.Int32N(0x70))
			}
		}
	}
	return dst
}

// makeInvalid gives bytes that are UTF-8 at most by chance: noise, overlong forms,
// surrogates, values above the last code point, sequences cut short.
func makeInvalid(dst []byte, r *rand.Rand) []byte {
	for range 1 + r.IntN(10) {
		switch r.IntN(5) {
		case 0:
			dst = append(dst, byte(r.Uint32()))
		case 1:
			dst = append(dst, 0xC0+byte(r.IntN(2)), 0x80+byte(r.IntN(64)))
		case 2:
			dst = append(dst, 0xED, 0xA0+byte(r.IntN(32)), 0x80+byte(r.IntN(64)))
		case 3:
			dst = append(dst, 0xF0+byte(r.IntN(16)), 0x80+byte(r.IntN(64)), 0x80+byte(r.IntN(64)), 0x80+byte(r.IntN(64)))
		case 4:
			n := len(dst)
			dst = utf8.AppendRune(dst, 0x80+r.Int32N(utf8.MaxRune-0x80))
			dst = dst[:n+1+r.IntN(len(dst)-n)]
		}
		if r.IntN(2) == 0 {
			dst = append(dst, 'a'+byte(r.IntN(26)))
		}
	}
	return dst
}

// makeMutant changes a committed text in a few places.
func makeMutant(dst []byte, r *rand.Rand) []byte {
	from := len(dst)
	dst = append(dst, committed[r.IntN(len(committed))]...)
	for range 1 + r.IntN(4) {
		if len(dst) == from {
			dst = append(dst, byte(r.Uint32()))
			continue
		}
		i := from + r.IntN(len(dst)-from)
		switch r.IntN(5) {
		case 0:
			dst[i] ^= 1 << r.IntN(8)
		case 1:
			dst = append(dst[:i], dst[i+1:]...)
		case 2:
			dst = append(dst, 0)
			copy(dst[i+1:], dst[i:])
			dst[i] = byte(r.Uint32())
		case 3:
			dst = append(dst, dst[i:min(i+8, len(dst))]...)
		case 4:
			dst = append(dst, committed[r.IntN(len(committed))]...)
		}
	}
	return dst
}

// makeLong gives terms that are longer than the scanner's bursts.
func makeLong(dst []byte, r *rand.Rand) []byte {
	for range 1 + r.IntN(2) {
		for range burst - 4 + r.IntN(burst) {
			dst = append(dst, 'A'+byte(r.IntN(26)))
		}
		if r.IntN(2) == 0 {
			dst = utf8.AppendRune(dst, alphabet[r.IntN(len(alphabet))](r))
		}
	}
	return dst
}
