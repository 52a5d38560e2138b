package query

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"github.com/hansard-search/hansard/lexer"
)

// TestPieces checks the law behind narrow on random texts: a text that contains a
// needle, whatever the case, has a term for each of the needle's pieces.
func TestPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 2))
	alphabet := []rune("abcEFł ŁéÉ\u0301\u0345ιΙσςΣſsKK\u212a.,-_/%İıßẞǅ12漢字ก\u0e31\u200d😀\n")
	pieces := 0
	for range 200_000 {
		text := make([]rune, 1+r.IntN(14))
		for i := range text {
			text[i] = alphabet[r.IntN(len(alphabet))]
		}
		from := r.IntN(len(text))
		needle := text[from : from+1+r.IntN(len(text)-from)]
		pieces += checkPieces(t, string(text), otherCase(r, needle))
	}
	if pieces < 100_000 {
		t.Errorf("only %d pieces", pieces)
	}
}

// TestFoldsAlike goes through every code point: where those that differ by case alone
// become different characters of terms, a needle says nothing about terms.
func TestFoldsAlike(t *testing.T) {
	unlike := 0
	for r := range rune(unicode.MaxRune + 1) {
		if r >= 0xD800 && r < 0xE000 {
			continue
		}
		f := unicode.SimpleFold(r)
		if f == r {
			continue
		}
		if !foldsAlike(r) {
			unlike++
		}
		checkPieces(t, "x"+string(f)+"y", "x"+string(r))
	}
	t.Logf("%d code points", unlike)
	if unlike == 0 {
		t.Error("U+0345, at least, is a mark that differs from a letter by case alone")
	}
}

func otherCase(r *rand.Rand, s []rune) string {
	var b strings.Builder
	for _, c := range s {
		for range r.IntN(3) {
			c = unicode.SimpleFold(c)
		}
		b.WriteRune(c)
	}
	return b.String()
}

func checkPieces(t testing.TB, text, needle string) int {
	if !bytes.Contains(appendFold(nil, text), appendFold(nil, needle)) {
		return 0
	}
	terms := lexer.Terms(text)
	of := piecesOf(needle)
	for _, k := range of {
		found := false
		for _, term := range terms {
			switch {
			case k.left && k.right:
				found = found || strings.Contains(term, string(k.term))
			case k.left:
				found = found || strings.HasSuffix(term, string(k.term))
			case k.right:
				found = found || strings.HasPrefix(term, string(k.term))
			default:
				found = found || term == string(k.term)
			}
		}
		if !found {
			t.Errorf("%q contains %q, but none of its terms %q is for the piece %+v", text, needle, terms, k)
		}
	}
	return len(of)
}

func FuzzPieces(f *testing.F) {
	f.Add("Straße foo.bar", 3, 9, uint64(1))
	f.Add("e\u0301x \u0345", 1, 3, uint64(2))
	f.Fuzz(func(t *testing.T, text string, from, n int, seed uint64) {
		runes := []rune(strings.ToValidUTF8(text, "\uFFFD"))
		if len(runes) == 0 || len(runes) > 200 || from < 0 || n < 1 {
			return
		}
		from %= len(runes)
		needle := runes[from:min(from+n%20+1, len(runes))]
		checkPieces(t, string(runes), otherCase(rand.New(rand.NewPCG(seed, 1)), needle))
	})
}
