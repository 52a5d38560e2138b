package lexer

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// anyOf matches the words of a list; "x*" matches what begins with x.
func anyOf(words string) func([]byte) bool {
	fields := strings.Fields(words)
	return func(term []byte) bool {
		for _, w := range fields {
			prefix, ok := strings.CutSuffix(w, "*")
			if string(term) == w || ok && strings.HasPrefix(string(term), prefix) {
				return true
			}
		}
		return false
	}
}

// marked writes the snippet with its spans in brackets, and "…" where it is cut.
func marked(text string, s Snippet) string {
	var b strings.Builder
	if s.Start > 0 {
		b.WriteString("…")
	}
	at := 0
	for _, p := range s.Spans {
		b.WriteString(s.Text[at:p[0]] + "[" + s.Text[p[0]:p[1]] + "]")
		at = p[1]
	}
	b.WriteString(s.Text[at:])
	if s.End < len(text) {
		b.WriteString("…")
	}
	return b.String()
}

func TestSnippet(t *testing.T) {
	numbers := "one two three four five six seven eight nine ten eleven twelve"
	for _, c := range []struct {
		name, text, match string
		opts              SnippetOptions
		want              string
	}{
		{"whole text", "The quick fox", "quick", SnippetOptions{}, "The [quick] fox"},
		{"no match", numbers, "", SnippetOptions{Words: 3}, "one two three…"},
		{"no match, blank start", " \n\n one two", "", SnippetOptions{Words: 1}, "…one…"},
		{"empty", "", "x", SnippetOptions{}, ""},
		{"blank", " \n\t ", "x", SnippetOptions{}, "…"},
		{"middle", numbers, "six", SnippetOptions{Words: 5}, "…four five [six] seven eight…"},
		{"at the start", numbers, "one", SnippetOptions{Words: 4}, "[one] two three four…"},
		{"at the end", numbers, "twelve", SnippetOptions{Words: 3}, "…ten eleven [twelve]"},
		{"most distinct terms", "a x x x " + numbers + " b a", "a b", SnippetOptions{Words: 4}, "…eleven twelve [b] [a]"},
		{"earliest of equals", "q w a e r t y a u i", "a", SnippetOptions{Words: 3}, "…w [a] e…"},
		{"too far apart", "a " + numbers + " b", "a b", SnippetOptions{Words: 4}, "[a] one two three…"},
		{"prefix", "we refactored the refactoring", "refactor*", SnippetOptions{}, "we [refactored] the [refactoring]"},
		{"folded", "Zażółć gęślą JAŹŃ", "zazolc jazn", SnippetOptions{}, "[Zażółć] gęślą [JAŹŃ]"},
		{"marks belong to the match", "cafe\u0301 noir", "cafe", SnippetOptions{}, "[cafe\u0301] noir"},
		{"part of a word", "foo_bar can't", "bar can", SnippetOptions{}, "foo_[bar] [can]'t"},
		{"cut at words of UAX 29", "see base.go or can't now", "see", SnippetOptions{Words: 2}, "[see] base.go…"},
		{"white space", "a\n\n\t b  \r\n  c", "b", SnippetOptions{}, "a [b] c"},
		{"controls", "a\x1b[31mred\x1b[0m\x00b", "red", SnippetOptions{}, "a [31mred [0m b"},
		{"invalid bytes", "a\xff b\xc3", "b", SnippetOptions{}, "a\ufffd [b]\ufffd"},
		{"characters, not bytes", "łłł ććć żżż", "ccc", SnippetOptions{Chars: 7}, "łłł [ććć]…"},
		{"a term longer than the window", "x " + strings.Repeat("é", 50) + " y", "e*", SnippetOptions{Chars: 5}, "…[ééééé]…"},
		{"a word longer than the window", "see_" + strings.Repeat("x", 50), "see", SnippetOptions{Chars: 8}, "[see]_xxxx…"},
		{"a long word does not fit beside", "aa " + strings.Repeat("x", 50), "aa", SnippetOptions{Chars: 8}, "[aa]…"},
		{"spaces outside the look around", "a" + strings.Repeat(" ", 5000) + "b", "b", SnippetOptions{}, "…[b]"},
		{"punctuation at the ends", "(a) - (b) - (c)", "b", SnippetOptions{Words: 1}, "…([b])…"},
		{"matches too many characters apart", "a " + strings.Repeat("x", 50) + " b c", "a b c", SnippetOptions{Chars: 20}, "…[b] [c]"},
		{"matches behind the budget", "b one b two b", "b", SnippetOptions{Budget: 1}, "[b] one [b] two [b]"},
		{"no part of a word at the edges", strings.Repeat("x", 300) + " hit " + strings.Repeat("y", 300), "hit", SnippetOptions{Chars: 200}, "…[hit]…"},
		{"part of a word before much space", "abcdef" + strings.Repeat(" ", 550) + "hit", "hit", SnippetOptions{Chars: 10}, "…[hit]"},
		{"part of a word behind much space", "hit" + strings.Repeat(" ", 550) + "abcdef", "hit", SnippetOptions{Chars: 10}, "[hit]…"},
		{"a match in a word that ends too far away", "a b_" + strings.Repeat("x", 500), "a b", SnippetOptions{Chars: 8}, "[a] [b]_xxxx…"},
		{"a match in a word that begins too far away", strings.Repeat("x", 20) + "_aa bbb ccc", "aa", SnippetOptions{Chars: 8}, "…[aa] bbb…"},
		{"no match, much white space", strings.Repeat(" ", 5000) + "one", "", SnippetOptions{}, "…one"},
		{"a cut behind an invalid byte", "a\xcaḃ c", "a", SnippetOptions{Words: 1}, "[a]\ufffdḃ…"},
		{"Han", "検索エンジンは文書を分割します。次", "検索エンジンは文書を分割します", SnippetOptions{Chars: 6}, "[検索エンジン]…"},
	} {
		got := marked(c.text, NewSnippet(c.text, anyOf(c.match), c.opts))
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSnippetWithoutMatchFunction(t *testing.T) {
	if got := NewSnippet("one two", nil, SnippetOptions{}); got.Text != "one two" || got.Spans != nil {
		t.Errorf("snippet %+v, want the text", got)
	}
}

func TestHighlight(t *testing.T) {
	got := Highlight("Łódź, łodzie; lód", anyOf("lod*"))
	if want := [][2]int{{0, 7}, {9, 16}, {18, 22}}; !cmp.Equal(got, want) {
		t.Errorf("Highlight = %v, want %v", got, want)
	}
}

// TestSnippetIsBounded counts the terms looked at in long texts.
func TestSnippetIsBounded(t *testing.T) {
	start := strings.Repeat("lorem ipsum ", 10_000)
	for _, c := range []struct {
		name, text string
		budget     int
		limit      int // terms
	}{
		{"one match", start + "needle " + strings.Repeat("hay ", 500_000), 1 << 12, 20_000 + 1<<10 + 2},
		{"many matches", start + strings.Repeat("needle hay ", 500_000), 1 << 20, 20_000 + 2*maxHits + 100},
		{"default", start + "needle " + strings.Repeat("hay ", 500_000), 0, 20_000 + DefaultSnippetBudget/4 + 2},
	} {
		looked := 0
		match := func(term []byte) bool { looked++; return string(term) == "needle" }
		s := NewSnippet(c.text, match, SnippetOptions{Budget: c.budget})
		if looked > c.limit {
			t.Errorf("%s: %d terms looked at, want at most %d", c.name, looked, c.limit)
		}
		if len(s.Spans) == 0 || !strings.HasPrefix(s.Text[s.Spans[0][0]:], "needle") {
			t.Errorf("%s: snippet %+v does not show the needle", c.name, s)
		}
	}
}

// TestSnippetLaws checks every snippet of random texts for the limits, and that
// its spans are the matches of the piece.
func TestSnippetLaws(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	for i := range 5000 {
		text := randomText(r) + strings.Repeat(" ", r.IntN(3)) + randomText(r)
		if i%3 == 0 {
			damaged := []byte(text)
			damaged[r.IntN(len(damaged))] = byte(r.Uint32())
			text = string(damaged)
		}
		checkSnippet(t, text, r.IntN(8), 1+r.IntN(12), 1+r.IntN(60))
	}
}

func FuzzSnippet(f *testing.F) {
	f.Add("a b c d e f", 2, 3, 10)
	f.Add("\xff\xff a\u0301 \x80", 1, 1, 1)
	f.Add(strings.Repeat("界", 40)+" x", 3, 4, 30)
	f.Add("a\r\n\U000E0001\u200d👩‍👩‍👧", 1, 2, 5)
	f.Fuzz(func(t *testing.T, text string, every, words, chars int) {
		checkSnippet(t, text, every&0xFF, words%1000, chars%10000)
	})
}

// checkSnippet matches each term at a position that every divides.
func checkSnippet(t *testing.T, text string, every, words, chars int) {
	t.Helper()
	opts := SnippetOptions{Words: words, Chars: chars}
	matches := func(pos int) bool { return every > 0 && pos%every == 0 }
	asked := -1 // each term is asked for once, in order
	s := NewSnippet(text, func([]byte) bool { asked++; return matches(asked) }, opts)
	name := fmt.Sprintf("%+q every %d, %d words, %d chars: %+v", text, every, words, chars, s)
	if s.Start < 0 || s.End < s.Start || s.End > len(text) || !utf8.ValidString(s.Text) {
		t.Fatalf("%s: bad range or text", name)
	}
	if n := utf8.RuneCountInString(s.Text); n > opts.withDefaults().Chars {
		t.Fatalf("%s: %d characters", name, n)
	}
	if want := strings.Join(strings.FieldsFunc(text[s.Start:s.End], blank), " "); s.Text != strings.ToValidUTF8(want, "") && s.Text != string([]rune(want)) {
		t.Fatalf("%s: text is not the piece, %+q", name, want)
	}
	var want []string
	var scan Scanner
	scan.ResetString(text)
	for scan.Next() {
		lo, hi := max(scan.Start(), s.Start), min(scan.End(), s.End)
		if lo < hi && matches(scan.Pos()) {
			want = append(want, text[lo:hi])
		}
	}
	var got []string
	end := 0
	for _, p := range s.Spans {
		if p[0] < end || p[1] <= p[0] {
			t.Fatalf("%s: spans do not ascend", name)
		}
		end = p[1]
		got = append(got, s.Text[p[0]:p[1]])
	}
	if !cmp.Equal(got, want) {
		t.Fatalf("%s: marks %+q, want %+q", name, got, want)
	}
	if scan.Pos() >= 0 && every > 0 && len(got) == 0 { // position 0 always matches
		t.Fatalf("%s: no match shown", name)
	}
}

func BenchmarkSnippet(b *testing.B) {
	text := strings.Repeat(transcript, 20)
	match := anyOf("gofmt user_id checksum still work*")
	b.ReportAllocs()
	for b.Loop() {
		NewSnippet(text, match, SnippetOptions{})
	}
}

func TestBlank(t *testing.T) {
	for r := rune(0); r < 0x3100; r++ {
		if want := unicode.IsSpace(r) || unicode.IsControl(r); blank(r) != want {
			t.Errorf("blank(%U) = %v", r, !want)
		}
	}
}
