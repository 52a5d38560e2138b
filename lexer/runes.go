package lexer

import "unicode/utf8"

//go:generate go run gen/main.go

// An entry of the table is a class in the two low bits and above them the fold:
// 0 for none, otherwise an index into folds.
const (
	classToken     = 0 // belongs to a term
	classSeparator = 1
	classMark      = 2 // continues a term, begins none
	classMask      = 3
	foldShift      = 2
)

// wide is what ascii holds for the bytes of longer encodings.
const wide = 0x80

// ascii maps a byte to its folded self if it belongs to a term, to 0 if it
// separates, and to wide if it is not ASCII. It repeats what blocks says.
var ascii = [256]byte{
	'0': '0', '1': '1', '2': '2', '3': '3', '4': '4', '5': '5', '6': '6', '7': '7', '8': '8', '9': '9',
	'A': 'a', 'B': 'b', 'C': 'c', 'D': 'd', 'E': 'e', 'F': 'f', 'G': 'g', 'H': 'h', 'I': 'i', 'J': 'j', 'K': 'k', 'L': 'l', 'M': 'm',
	'N': 'n', 'O': 'o', 'P': 'p', 'Q': 'q', 'R': 'r', 'S': 's', 'T': 't', 'U': 'u', 'V': 'v', 'W': 'w', 'X': 'x', 'Y': 'y', 'Z': 'z',
	'a': 'a', 'b': 'b', 'c': 'c', 'd': 'd', 'e': 'e', 'f': 'f', 'g': 'g', 'h': 'h', 'i': 'i', 'j': 'j', 'k': 'k', 'l': 'l', 'm': 'm',
	'n': 'n', 'o': 'o', 'p': 'p', 'q': 'q', 'r': 'r', 's': 's', 't': 't', 'u': 'u', 'v': 'v', 'w': 'w', 'x': 'x', 'y': 'y', 'z': 'z',
	0x80: wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide,
	wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide,
	wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide,
	wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide,
	wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide,
	wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide,
	wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide,
	wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide,
}

// lookup returns the entry of a code point of at most [utf8.MaxRune].
func lookup(r rune) uint16 {
	return blocks[blockOf[r>>blockBits]][r&(1<<blockBits-1)]
}

// foldRune returns what r, whose entry is e, becomes in a term; 0 is nothing.
func foldRune(r rune, e uint16) rune {
	if f := e >> foldShift; f != 0 {
		r = folds[f]
	}
	return foldExtra(r)
}

// decode reads the code point at t[i], where a byte of 0x80 or more is. As in
// [utf8.DecodeRune], bytes that are not valid UTF-8 give U+FFFD and size 1.
func decode[T text](t T, i int) (r rune, size int) {
	switch c := t[i]; {
	case c < 0xC2:
	case c < 0xE0:
		if len(t)-i >= 2 && continues(t[i+1]) {
			return rune(c&0x1F)<<6 | rune(t[i+1]&0x3F), 2
		}
	case c < 0xF0:
		if len(t)-i >= 3 && continues(t[i+1]) && continues(t[i+2]) {
			r = rune(c&0x0F)<<12 | rune(t[i+1]&0x3F)<<6 | rune(t[i+2]&0x3F)
			if r >= 0x800 && (r < 0xD800 || r > 0xDFFF) {
				return r, 3
			}
		}
	case c < 0xF5:
		if len(t)-i >= 4 && continues(t[i+1]) && continues(t[i+2]) && continues(t[i+3]) {
			r = rune(c&0x07)<<18 | rune(t[i+1]&0x3F)<<12 | rune(t[i+2]&0x3F)<<6 | rune(t[i+3]&0x3F)
			if r >= 0x10000 && r <= utf8.MaxRune {
				return r, 4
			}
		}
	}
	return utf8.RuneError, 1
}

func continues(c byte) bool { return c&0xC0 == 0x80 }
