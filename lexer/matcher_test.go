package lexer

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// phrasesOf reads phrases from words: "|" parts them, "*" ends a prefix.
func phrasesOf(words string) []Phrase {
	var out []Phrase
	for _, w := range strings.Split(words, "|") {
		text, prefix := strings.CutSuffix(w, "*")
		out = append(out, Phrase{Terms: strings.Fields(text), Prefix: prefix})
	}
	return out
}

func TestMatcher(t *testing.T) {
	for _, c := range []struct{ name, text, phrases, want string }{
		{"phrase", "status code, exit status, status quo", "exit status", "status code, [exit] [status], status quo"},
		{"term and phrase", "a b a c", "a|a b", "[a] [b] [a] c"},
		{"overlapping", "a a a b", "a a b", "a [a] [a] [b]"},
		{"prefix", "no know knowing known", "know*", "no [know] [knowing] [known]"},
		{"phrase and prefix", "foo bar foo baz bat foo", "foo ba*", "[foo] [bar] [foo] [baz] bat foo"},
		{"a prefix stands last only", "foo1 bar foo bar", "foo bar*", "foo1 bar [foo] [bar]"},
		{"cut off", "b c a b", "a b c", "b c a b"},
		{"at both ends", "a b c a b", "a b", "[a] [b] c [a] [b]"},
		{"folded", "Zażółć GĘŚLĄ", "zazolc gesla", "[Zażółć] [GĘŚLĄ]"},
		{"longer than the text", "a b", "a b c d e f g", "a b"},
		{"none", "a b", "", "a b"},
		{"an empty term", "a b", "*|a", "[a] b"},
		{"first byte alone", "a ab b", "ab", "a [ab] b"},
	} {
		got := marked(c.text, NewSnippet(c.text, nil, SnippetOptions{Matcher: NewMatcher(phrasesOf(c.phrases))}))
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestMatcherZeroValue(t *testing.T) {
	text := "one two"
	if got := NewSnippet(text, nil, SnippetOptions{Matcher: new(Matcher)}); got.Text != text || got.Spans != nil {
		t.Errorf("snippet %+v, want the text", got)
	}
}

// TestMatcherChoosesDistinctTerms: terms count once, whichever phrase names them.
func TestMatcherChoosesDistinctTerms(t *testing.T) {
	text := "aa1 aa1 aa1 x x x x aa1 aa2 b x x x x b b b"
	got := marked(text, NewSnippet(text, nil, SnippetOptions{Words: 3, Matcher: NewMatcher(phrasesOf("aa*|b|aa1"))}))
	if want := "…[aa1] [aa2] [b]…"; got != want {
		t.Errorf("snippet %q, want %q", got, want)
	}
}

// TestMatcherLaws: a term is a hit if and only if it belongs to a phrase that
// stands in the text.
func TestMatcherLaws(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 4))
	words := []string{"a", "b", "ab", "abc", "c"}
	sentence := func(most int) string {
		var out []string
		for range r.IntN(most + 1) {
			out = append(out, words[r.IntN(len(words))])
		}
		return strings.Join(out, " ")
	}
	for range 5000 {
		text := sentence(30)
		var phrases []Phrase
		for range r.IntN(4) {
			phrases = append(phrases, Phrase{Terms: strings.Fields(sentence(5)), Prefix: r.IntN(3) == 0})
		}
		tokens := newTokens(text, nil, SnippetOptions{Matcher: NewMatcher(phrases)}.withDefaults())
		var got []bool
		for tokens.next() {
			got = append(got, tokens.current.hit)
		}
		if want := plainHits(Terms(text), phrases); !cmp.Equal(got, want) {
			t.Fatalf("%+v in %q: hits %v, want %v", phrases, text, got, want)
		}
	}
}

func plainHits(terms []string, phrases []Phrase) []bool {
	var hits []bool
	if len(terms) > 0 {
		hits = make([]bool, len(terms))
	}
	for _, p := range phrases {
		n := len(p.Terms)
		for at := 0; n > 0 && at+n <= len(terms); at++ {
			same := true
			for i, want := range p.Terms {
				term := terms[at+i]
				same = same && (term == want || i == n-1 && p.Prefix && strings.HasPrefix(term, want))
			}
			for i := at; same && i < at+n; i++ {
				hits[i] = true
			}
		}
	}
	return hits
}

// TestMatcherAllocates: a thousand times the text costs no more allocations.
func TestMatcherAllocates(t *testing.T) {
	m := NewMatcher(phrasesOf("zeta|bb cc dd|ee ff*"))
	allocs := func(text string) float64 {
		return testing.AllocsPerRun(10, func() { NewSnippet(text, nil, SnippetOptions{Matcher: m}) })
	}
	long, short := strings.Repeat("aa bb cc ee zz ", 10_000)+"zeta", strings.Repeat("aa bb cc ee zz ", 60)+"zeta"
	if a, b := allocs(short), allocs(long); b > a {
		t.Errorf("%v allocations for a short text, %v for a long one", a, b)
	}
}

func BenchmarkSnippetMatcher(b *testing.B) {
	text := strings.Repeat(transcript, 20) + " needle in the hay"
	for _, c := range []struct{ name, phrases string }{
		{"terms", "gofmt|checksum|work*"}, {"phrase", "needle in the"}, {"last", "needle"},
	} {
		m := NewMatcher(phrasesOf(c.phrases))
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				NewSnippet(text, nil, SnippetOptions{Matcher: m})
			}
		})
	}
}
