package engine

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hansard-search/hansard/lexer"
	"github.com/hansard-search/hansard/query"
)

// plainSnippet is snippetOf written plainly: it reads the text once for the positions
// of the phrases, and once more for the snippet.
func plainSnippet(text string, phrases []query.PhraseInfo) (string, [][2]int) {
	marks, pos := plainMarks(text, phrases), -1
	sn := lexer.NewSnippet(text, func([]byte) bool { pos++; return marks[pos] }, lexer.SnippetOptions{})
	return bracketed(sn, len(text))
}

func plainMarks(text string, phrases []query.PhraseInfo) map[int]bool {
	marks := map[int]bool{}
	var sc lexer.Scanner
	sc.ResetString(text)
	var terms []string
	end := -1
	for sc.Next() {
		terms = append(terms, string(sc.Term()))
		for _, ph := range phrases {
			n := len(ph.Terms)
			if !ph.Scored || n == 0 || n > len(terms) || !isPhrase(terms[len(terms)-n:], ph) {
				continue
			}
			for i := range n {
				marks[sc.Pos()-i] = true
			}
			if end < 0 {
				end = sc.End() + lexer.DefaultSnippetBudget
			}
		}
		if end >= 0 && sc.End() > end {
			break
		}
	}
	return marks
}

func isPhrase(terms []string, ph query.PhraseInfo) bool {
	last := len(terms) - 1
	for i, t := range terms {
		if t != ph.Terms[i] && !(i == last && ph.Prefix && strings.HasPrefix(t, ph.Terms[i])) {
			return false
		}
	}
	return true
}

func checkSnippetOf(t *testing.T, text, search string) {
	t.Helper()
	plan, err := query.Compile(search, query.Options{})
	if err != nil {
		return // not every text is a query
	}
	got, spans := snippetOf(text, plan.Matcher())
	want, wantSpans := plainSnippet(text, plan.Phrases())
	if got != want || !cmp.Equal(spans, wantSpans) {
		t.Fatalf("snippet of %d bytes %.300q for %s:\n got %q %v\nwant %q %v", len(text), text, search, got, spans, want, wantSpans)
	}
}

var snippetQueries = []string{
	"alpha", "alpha beta", `"alpha beta"`, `"beta alpha beta"`, "al*", `"alpha b"*`, `"alpha" OR "alpha beta" OR "alpha beta gamma"`,
	"alpha NOT beta", `"a a"`, `"a a a" a*`, `a* al* alpha`, `"gamma alpha*" gamma`, "żółć", "absent", "+++", `"alpha beta gamma delta alpha beta gamma delta"`,
	`b* "alpha beta" alpha`,
}

// TestSnippetOf compares snippets with those of the plain way, in random texts of
// few words.
func TestSnippetOf(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 3))
	words := []string{"alpha", "Beta", "gamma", "delta", "a", "A", "al", "Żółć", "foo_alpha", "beta.", "alphabet", "x", "\n\n", "—", "\xff", "界"}
	for range 3000 {
		var b strings.Builder
		for range r.IntN(60) {
			b.WriteString(words[r.IntN(1+r.IntN(len(words)))] + " ")
		}
		checkSnippetOf(t, b.String(), snippetQueries[r.IntN(len(snippetQueries))])
	}
}

// TestSnippetOfLongText does so where the search for further matches is given up:
// the occurrences lie on both sides of the end of the budget.
func TestSnippetOfLongText(t *testing.T) {
	const phrase = "alpha beta gamma delta "
	for _, lead := range []string{"", strings.Repeat("lorem ipsum ", 9_000)} {
		for _, filler := range []string{"x ", strings.Repeat("y", 40) + " ", strings.Repeat("z", 70_000) + " "} {
			fill := strings.Repeat(filler, max(1, (lexer.DefaultSnippetBudget-100)/len(filler)))
			for shift := 0; shift < 130; shift += 7 {
				text := lead + "alpha beta " + fill + strings.Repeat("q", shift) + " " + phrase + phrase + phrase
				search := snippetQueries[shift%len(snippetQueries)]
				checkSnippetOf(t, text, search)
				if shift%28 == 0 {
					checkSnippetOf(t, text, `"alpha beta gamma" OR "alpha beta"`)
					checkSnippetOf(t, text, `"gamma delta alpha" OR "alpha beta"`)
					checkSnippetOf(t, strings.Repeat("alpha ", 5_000)+text, search)
				}
			}
		}
	}
}

func FuzzSnippetOf(f *testing.F) {
	for _, search := range snippetQueries {
		f.Add("alpha beta gamma alpha a a a delta "+search, search)
	}
	f.Fuzz(func(t *testing.T, text, search string) { checkSnippetOf(t, text, search) })
}

// BenchmarkSnippetOf makes the snippet of a hit of some 20 KiB whose matches lie in
// its middle.
func BenchmarkSnippetOf(b *testing.B) {
	filler := strings.Repeat("The writer syncs the folder before the file, see internal/segments/writer.go:118. ", 125)
	text := filler + "then the checksum of a segment does not match the checksum that was stored " + filler
	for _, c := range []struct{ name, query string }{
		{"term", "checksum"}, {"frequent", "the"}, {"and", "checksum segment stored"}, {"phrase", `"does not match the checksum"`},
		{"prefix", "check*"}, {"mixed", `"the checksum" OR seg* OR stored`},
	} {
		plan, err := query.Compile(c.query, query.Options{})
		if err != nil {
			b.Fatal(err)
		}
		for _, size := range []string{"long", "short"} {
			piece := text
			if size == "short" {
				piece = text[len(filler)-200 : len(text)-len(filler)+200]
			}
			b.Run(fmt.Sprintf("%s/%s", c.name, size), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, spans := snippetOf(piece, plan.Matcher()); len(spans) == 0 {
						b.Fatal("no match")
					}
				}
			})
		}
	}
}
