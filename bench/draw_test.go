package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hansard-search/hansard/bench/corpus"
)

func drawn(seed uint64) (*vocabulary, []query) {
	v := newVocabulary(seed)
	for s := range corpus.Sessions(corpus.Options{Blocks: 3000, Seed: 5}) {
		for _, b := range s.Blocks {
			v.add(corpus.SearchText(b))
		}
	}
	return v, v.draw(20)
}

func TestEqualSeedsDrawEqualQueries(t *testing.T) {
	v, a := drawn(1)
	_, b := drawn(1)
	_, c := drawn(2)
	if !slices.Equal(a, b) || slices.Equal(a, c) {
		t.Error("queries do not follow from the seed")
	}
	count := map[string]int{}
	for _, q := range a {
		count[q.class]++
		if strings.HasPrefix(q.class, "term_") {
			if n := v.df[strings.Trim(q.text, `"`)]; !inBand(q.class, n, v.blocks) {
				t.Errorf("%s %s is in %d of %d blocks", q.class, q.text, n, v.blocks)
			}
		}
	}
	for _, c := range classes {
		if count[c.name] < 10 {
			t.Errorf("%d queries of class %s", count[c.name], c.name)
		}
	}
}

func inBand(class string, n, blocks int) bool {
	share := float64(n) / float64(blocks)
	switch class {
	case "term_rare":
		return 5 <= n && n <= 50
	case "term_mid":
		return share >= 0.001 && share <= 0.01
	}
	return share >= 0.05 && share <= 0.66
}

func TestTokens(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"Foo_bar2 baz.", "foo|bar2|baz"},
		{"moc być 文字abc x", "moc||| x"},
		{"a-b", "a|b"},
	} {
		got := strings.Join(slices.Collect(tokens(tt.text)), "|")
		if want := strings.ReplaceAll(tt.want, " ", ""); got != want {
			t.Errorf("tokens(%q) = %q, want %q", tt.text, got, want)
		}
	}
}

func TestSpell(t *testing.T) {
	for _, tt := range []struct {
		class       string
		words       []string
		text, match string
	}{
		{"term_mid", []string{"a"}, `"a"`, `"a"`},
		{"and_mid", []string{"a", "b"}, `"a" "b"`, `"a" AND "b"`},
		{"or_freq", []string{"a", "b"}, `"a" OR "b"`, `"a" OR "b"`},
		{"phrase", []string{"a", "b"}, `"a b"`, `"a b"`},
		{"prefix", []string{"abc"}, `abc*`, `abc*`},
	} {
		if q := spell(tt.class, tt.words); q.text != tt.text || q.match != tt.match {
			t.Errorf("spell(%s, %q) = %s and %s, want %s and %s", tt.class, tt.words, q.text, q.match, tt.text, tt.match)
		}
	}
}

func TestPercentile(t *testing.T) {
	of := []time.Duration{5, 1, 4, 2, 3}
	for _, tt := range []struct {
		share float64
		want  time.Duration
	}{{0.5, 3}, {0.95, 5}, {0, 1}, {1, 5}} {
		if got := percentile(of, tt.share); got != tt.want {
			t.Errorf("percentile(%v, %v) = %d, want %d", of, tt.share, got, tt.want)
		}
	}
}
