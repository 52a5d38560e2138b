package lexer

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// A span is a term with its place.
type span struct {
	Term       string
	Start, End int
}

func spans(s *Scanner) []span {
	var all []span
	for s.Next() {
		all = append(all, span{string(s.Term()), s.Start(), s.End()})
	}
	return all
}

// checkLaws tries the laws of the package on one text; cut, modulo its length, is
// where it is cut in two.
func checkLaws(t *testing.T, text []byte, cut uint) {
	t.Helper()
	var s Scanner
	before := bytes.Clone(text)
	s.Reset(text)
	all := spans(&s)
	if s.Pos() != len(all)-1 {
		t.Fatalf("%+q: last position %d, want %d", text, s.Pos(), len(all)-1)
	}
	if !bytes.Equal(text, before) {
		t.Fatalf("%+q: the scanner wrote to the text", before)
	}
	s.ResetString(string(text))
	if diff := cmp.Diff(all, spans(&s)); diff != "" {
		t.Fatalf("%+q: bytes and string differ: %s", text, diff)
	}
	end := 0
	for _, a := range all {
		if a.Start < end || a.End <= a.Start || a.End > len(text) || a.Term == "" || !utf8.ValidString(a.Term) {
			t.Fatalf("%+q: term %+q at %d-%d after %d", text, a.Term, a.Start, a.End, end)
		}
		end = a.End
		s.Reset(text[a.Start:a.End])
		if got, want := spans(&s), []span{{a.Term, 0, a.End - a.Start}}; !cmp.Equal(got, want) {
			t.Fatalf("%+q alone scans to %v, want %v", text[a.Start:a.End], got, want)
		}
		if got := Terms(a.Term); len(got) != 1 || got[0] != a.Term {
			t.Fatalf("the term %+q scans to %+q", a.Term, got)
		}
	}
	checkCut(t, text, all, int(cut%uint(len(text)+1)))
	checkReplaced(t, text, all)
}

// checkCut moves the cut to the end of the term around it, if there is one.
func checkCut(t *testing.T, text []byte, all []span, cut int) {
	t.Helper()
	for _, a := range all {
		if a.Start < cut && cut < a.End {
			cut = a.End
		}
	}
	var s Scanner
	s.Reset(text[:cut])
	got := spans(&s)
	s.Reset(text[cut:])
	for _, b := range spans(&s) {
		got = append(got, span{b.Term, b.Start + cut, b.End + cut})
	}
	if diff := cmp.Diff(all, got); diff != "" {
		t.Fatalf("%+q cut at %d: %s", text, cut, diff)
	}
}

// checkReplaced checks that invalid bytes are read as U+FFFD each.
func checkReplaced(t *testing.T, text []byte, all []span) {
	t.Helper()
	got := Terms(string([]rune(string(text))))
	for i := range max(len(all), len(got)) {
		if i >= len(all) || i >= len(got) || all[i].Term != got[i] {
			t.Fatalf("%+q: with U+FFFD for invalid bytes the terms are %+q, want %v", text, got, all)
		}
	}
}

func FuzzLaws(f *testing.F) {
	for _, text := range []string{
		"", "Hello, World", "a\u0301 \u0301b", "zażółć ŁÓDŹ", "x\xffy\xc3\xa9\xc3", "\xe6\x97\xa5\xe6\x97", "a\x00b",
		"日本語 rust🦀 ok😀ok", "\U0010FFFF\uFFFE\uFFFD", "ΆΈ ſς İ",
	} {
		f.Add([]byte(text), uint(len(text)/2))
	}
	f.Fuzz(checkLaws)
}

// TestLaws runs the laws over random texts, half of them with damaged bytes.
func TestLaws(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range 20_000 {
		text := []byte(randomText(r))
		for range i % 2 * 3 {
			text[r.IntN(len(text))] = byte(r.Uint32())
		}
		checkLaws(t, text, uint(r.Uint32()))
	}
}
