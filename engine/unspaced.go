package engine

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/hansard-search/hansard/query"
)

// unspaced are the scripts that are written without spaces between words.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// scriptWarnings say where a query asks for words of a script without spaces: a run
// of such letters is one index term, so a word inside a longer run is not found.
func scriptWarnings(phrases []query.PhraseInfo) []string {
	var out []string
	for _, ph := range phrases {
		text := strings.Join(ph.Terms, " ")
		if strings.IndexFunc(text, func(r rune) bool { return unicode.In(r, unspaced...) }) >= 0 {
			out = append(out, fmt.Sprintf("%q is written without spaces between words: only whole runs of letters are found, not words inside longer ones; %s* finds runs that begin so", text, text))
		}
	}
	return out
}
