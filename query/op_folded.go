package query

import (
	"slices"
	"strings"

	"github.com/hansard-search/hansard/postings"
)

// folded matches the values that are one of its own without regard to case.
type folded struct {
	words []string
	folds []string
}

func newFolded(words []string) folded {
	m := folded{words: words}
	for _, w := range words {
		m.folds = append(m.folds, string(appendFold(nil, w)))
	}
	return m
}

func (m folded) cost() Cost     { return CostColumn }
func (m folded) String() string { return quoteAll("is", m.words) }

func (m folded) addRows(d postings.Dictionary, out *postings.Bits, b *budget) error {
	return addScanned(d, out, b, false, func(v []byte) bool { return slices.Contains(m.folds, string(v)) })
}

// truths are the stored spellings of flags that words name in any of theirs. A word that
// is none of them names no flag.
func truths(words []string) []string {
	out := []string{}
	for _, w := range words {
		switch strings.ToLower(w) {
		case "1", "true", "yes", "y", "error", "failed", "failure":
			out = append(out, "1")
		case "0", "false", "no", "n", "ok", "success", "passed":
			out = append(out, "0")
		}
	}
	return out
}
