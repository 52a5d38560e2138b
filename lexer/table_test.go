package lexer

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

// everyScalarValue lists the surroundings in which each scalar value is tried,
// with the digest of SQLite's terms after the extra folds. The digests change
// only with the analyzer's name.
var everyScalarValue = []struct{ name, prefix, suffix, digest string }{
	{"alone", "", "", "f94cb3f813a0a27d43f084cb077fbc165732ab09bff0e112e5a7e8d62bf7fba2"},
	{"between letters", "a", "b", "7dbf6aaa6316245e999d0f2a6a887a4cbb524afd227bc5d2a1e273084ddc8c91"},
}

// scalarTexts puts prefix, r, suffix for every scalar value r in texts of a few
// hundred, each followed by a separator.
func scalarTexts(prefix, suffix string) []string {
	var texts []string
	var b strings.Builder
	for r := rune(0); r <= 0x10FFFF; r++ {
		if 0xD800 <= r && r < 0xE000 {
			continue
		}
		b.WriteString(prefix)
		b.WriteRune(r)
		b.WriteString(suffix + "\n")
		if r&0x1FF == 0x1FF {
			texts = append(texts, b.String())
			b.Reset()
		}
	}
	return texts
}

func digestTerms(h hash.Hash, terms []string) {
	for _, term := range terms {
		io.WriteString(h, term+"\n")
	}
	io.WriteString(h, "\n")
}

// TestEveryScalarValue holds the terms of every scalar value against the digests.
func TestEveryScalarValue(t *testing.T) {
	for _, c := range everyScalarValue {
		h := sha256.New()
		for _, text := range scalarTexts(c.prefix, c.suffix) {
			digestTerms(h, Terms(text))
		}
		if got := hex.EncodeToString(h.Sum(nil)); got != c.digest {
			t.Errorf("%s: digest %s, want %s", c.name, got, c.digest)
		}
	}
}

// TestASCIITable compares the short cut for ASCII with the table.
func TestASCIITable(t *testing.T) {
	for c := range 256 {
		want := uint8(wide)
		if c < utf8.RuneSelf {
			want = 0
			if e := lookup(rune(c)); e&classMask == classToken {
				want = uint8(foldRune(rune(c), e))
			}
		}
		if ascii[c] != want {
			t.Errorf("ascii[%#x] = %#x, want %#x", c, ascii[c], want)
		}
	}
}

// TestClassesAreFlat checks that folding a fold changes nothing, that a fold of a
// token character is one, and that no token character vanishes.
func TestClassesAreFlat(t *testing.T) {
	for r := rune(0); r <= utf8.MaxRune; r++ {
		e := lookup(r)
		class, to := e&classMask, foldRune(r, e)
		switch {
		case class > classMark:
			t.Errorf("%U has class %d", r, class)
		case class == classSeparator || class == classMark && to == 0:
			continue
		}
		again := lookup(to)
		if again&classMask != class || foldRune(to, again) != to {
			t.Errorf("%U folds to %U, which has class %d and folds to %U", r, to, again&classMask, foldRune(to, again))
		}
	}
}

// TestDecode compares decode with unicode/utf8 on every sequence of up to three
// bytes, and on longer ones around the limits.
func TestDecode(t *testing.T) {
	check := func(b []byte) {
		r, size := utf8.DecodeRune(b)
		if gotR, gotSize := decode(b, 0); gotR != r || gotSize != size {
			t.Fatalf("decode(% x) = %U, %d, want %U, %d", b, gotR, gotSize, r, size)
		}
		if gotR, gotSize := decode(string(b), 0); gotR != r || gotSize != size {
			t.Fatalf("decode of the string % x = %U, %d, want %U, %d", b, gotR, gotSize, r, size)
		}
	}
	edges := []byte{0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF}
	for a := 0x80; a < 0x100; a++ {
		check([]byte{byte(a)})
		for b := range 0x100 {
			check([]byte{byte(a), byte(b)})
			for _, c := range edges {
				check([]byte{byte(a), byte(b), c})
				for _, d := range edges {
					check([]byte{byte(a), byte(b), c, d})
				}
			}
		}
	}
}
