package lexer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// scan writes each term as term@position:start-end.
func scan(s *Scanner) string {
	var out []string
	for s.Next() {
		out = append(out, fmt.Sprintf("%s@%d:%d-%d", s.Term(), s.Pos(), s.Start(), s.End()))
	}
	return strings.Join(out, " ")
}

func TestScanner(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{" \t\n.,;", ""},
		{"Hello, World!", "hello@0:0-5 world@1:7-12"},
		{"can't foo_bar 3.14", "can@0:0-3 t@1:4-5 foo@2:6-9 bar@3:10-13 3@4:14-15 14@5:16-18"},
		{"go1.26.8 base.go", "go1@0:0-3 26@1:4-6 8@2:7-8 base@3:9-13 go@4:14-16"},
		{"日本語テスト", "日本語テスト@0:0-18"},
		{"rust🦀 ok😀ok", "rust🦀@0:0-8 ok@1:9-11 ok@2:15-17"}, // 🦀 is newer than Unicode 6.1
		{"Café naïve ÅNGSTRÖM", "cafe@0:0-5 naive@1:6-12 angstrom@2:13-23"},
		{"e\u0301t\u0301\u0302e", "ete@0:0-9"},
		{"ete\u0301", "ete@0:0-5"},        // the trailing mark is in the span
		{"\u0301a", "a@0:2-3"},            // a mark begins no term
		{"a \u0301 b", "a@0:0-1 b@1:5-6"}, // nor is it one
		{"a\x00b", "a@0:0-1 b@1:2-3"},     // NUL
		{"zażółć Łódź ŁŁ", "zazolc@0:0-10 lodz@1:11-18 ll@2:19-23"},
		{"øđħßæ ØĐĦẞÆ", "øđħßæ@0:0-10 øđħßæ@1:11-22"},
		{"ς ſ Σ", "σ@0:0-2 s@1:3-5 σ@2:6-8"},
		{"ά Ά", "ά@0:0-2 ά@1:3-5"}, // tonos stays
		{"a\xffb\xc3", "a@0:0-1 b@1:2-3"},
		{"\xe6\x97", ""},
		{"x\ufffdy", "x@0:0-1 y@1:4-5"},
	} {
		var s Scanner
		s.ResetString(c.text)
		if got := scan(&s); got != c.want {
			t.Errorf("scan(%+q) = %s, want %s", c.text, got, c.want)
		}
		s.Reset([]byte(c.text))
		if got := scan(&s); got != c.want {
			t.Errorf("scan of the bytes %+q = %s, want %s", c.text, got, c.want)
		}
		if s.Next() || s.Start() != len(c.text) || s.End() != len(c.text) || len(s.Term()) != 0 {
			t.Errorf("%+q: a step past the end gives %q at %d-%d", c.text, s.Term(), s.Start(), s.End())
		}
	}
}

func TestScannerZeroValue(t *testing.T) {
	var s Scanner
	if s.Pos() != -1 || s.Next() || len(s.Term()) != 0 {
		t.Errorf("the zero scanner has a term: %q at %d", s.Term(), s.Pos())
	}
}

// TestScannerLongTerms crosses the burst and the growth of the buffer, with ASCII
// and with folds at every offset.
func TestScannerLongTerms(t *testing.T) {
	var s Scanner
	for n := range 3 * burst {
		text := "." + strings.Repeat("A", n) + "Éł\u0301😶‍" + strings.Repeat("B", n) + " z"
		text = strings.ReplaceAll(text, "😶‍", "界")
		s.ResetString(text)
		want := strings.Repeat("a", n) + "el界" + strings.Repeat("b", n)
		if !s.Next() || string(s.Term()) != want || s.Start() != 1 || s.End() != len(text)-2 {
			t.Fatalf("n=%d: term %q at %d-%d, want %q", n, s.Term(), s.Start(), s.End(), want)
		}
		if !s.Next() || string(s.Term()) != "z" || s.Pos() != 1 {
			t.Fatalf("n=%d: second term %q at %d", n, s.Term(), s.Pos())
		}
	}
	long := strings.Repeat("Xé", 1<<20)
	if got, want := Terms(long), []string{strings.Repeat("xe", 1<<20)}; !cmp.Equal(got, want) {
		t.Errorf("a term of 2 MiB is not kept whole: %d terms", len(got))
	}
}

func TestExtraFoldsAreTheOnlyOnes(t *testing.T) {
	var folded []rune
	for r := rune(0); r <= 0x10FFFF; r++ {
		if foldExtra(r) != r {
			folded = append(folded, r)
		}
	}
	if want := []rune{'ł'}; !cmp.Equal(folded, want) {
		t.Errorf("extra folds of %q, want of %q", folded, want)
	}
	if got, want := Terms("ŁÓDŹ łódź"), []string{"lodz", "lodz"}; !cmp.Equal(got, want) {
		t.Errorf("Terms = %q, want %q", got, want)
	}
}

func TestTermsOwnTheirMemory(t *testing.T) {
	if got, want := Terms("One two, THREE"), []string{"one", "two", "three"}; !cmp.Equal(got, want) {
		t.Errorf("Terms = %q, want %q", got, want)
	}
	if got := Terms("--"); got != nil {
		t.Errorf("Terms of no term = %q, want nil", got)
	}
}

func TestScannerAllocatesNothing(t *testing.T) {
	text := strings.Repeat(transcript, 3)
	bytes := []byte(text)
	var s Scanner
	s.Reset(bytes)
	for s.Next() { // the buffer grows once
	}
	terms := 0
	allocs := testing.AllocsPerRun(20, func() {
		s.Reset(bytes)
		for s.Next() {
			terms += len(s.Term())
		}
		s.ResetString(text)
		for s.Next() {
			terms += len(s.Term())
		}
	})
	if allocs != 0 || terms == 0 {
		t.Errorf("%v allocations for %d bytes of terms, want 0", allocs, terms)
	}
}
