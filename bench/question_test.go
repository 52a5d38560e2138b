package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hansard-search/hansard/bench/corpus"
	"github.com/hansard-search/hansard/query"
)

func vocabularyOf(t *testing.T, blocks int) *vocabulary {
	v := newVocabulary(1)
	for s := range corpus.Sessions(corpus.Options{Blocks: blocks, Seed: 1}) {
		for i, b := range s.Blocks {
			v.add(&block{rank: uint32(i), time: s.Time(i).UnixMilli(), text: corpus.SearchText(b)})
		}
	}
	return v
}

func TestQuestionsLieInTheirBands(t *testing.T) {
	v := vocabularyOf(t, 1500)
	n := map[string]int{}
	for _, q := range v.drawAll(20, func(string) bool { return true }) {
		n[q.class]++
		var shares []float64
		for _, term := range q.terms {
			shares = append(shares, v.share(term))
		}
		least, most := slices.Min(shares), slices.Max(shares)
		switch {
		case strings.HasPrefix(q.class, "term-high"), q.class == "and-high-high", q.class == "or-2":
			if least < 0.05 {
				t.Errorf("%s %v: least share %g", q.class, q.terms, least)
			}
		case q.class == "term-mid":
			if least < 0.005 || most > 0.03 {
				t.Errorf("%s %v: share %g", q.class, q.terms, least)
			}
		case q.class == "and-high-rare", q.class == "or-5", q.class == "or-10":
			if most < 0.05 || least*1500 > 10 {
				t.Errorf("%s %v: shares %g to %g", q.class, q.terms, least, most)
			}
		case q.class == "phrase-3":
			if len(q.terms) != 3 || most < 0.2 {
				t.Errorf("%s %v: greatest share %g", q.class, q.terms, most)
			}
		}
		if _, err := query.Compile(q.text(), query.Options{}); err != nil {
			t.Errorf("%s: %v", q.text(), err)
		}
	}
	for _, c := range classes {
		if n[c.name] == 0 {
			t.Errorf("no question of class %s", c.name)
		}
	}
}

func TestDrawingIsReproducible(t *testing.T) {
	texts := func() (out []string) {
		for _, q := range vocabularyOf(t, 400).drawAll(5, func(string) bool { return true }) {
			out = append(out, q.class+" "+q.text())
		}
		return out
	}
	if a, b := texts(), texts(); !slices.Equal(a, b) {
		t.Errorf("%v and %v", a, b)
	}
}

func TestSpelling(t *testing.T) {
	day := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		q    question
		want string
	}{
		{question{op: all, terms: []string{"a"}}, `"a"`},
		{question{op: all, terms: []string{"a", "b"}}, `"a" AND "b"`},
		{question{op: any1, terms: []string{"or", "b"}}, `"or" OR "b"`},
		{question{op: phrase, terms: []string{"a", "b"}}, `"a b"`},
		{question{op: prefix, terms: []string{"ab"}}, `ab*`},
		{question{op: any1, terms: []string{"a", "b"}, where: &where{3, day, day.Add(time.Hour)}},
			`repo:project-03 since:2026-01-02T00:00:00Z until:2026-01-02T01:00:00Z ("a" OR "b")`},
	} {
		if got := c.q.text(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestPercentile(t *testing.T) {
	of := []time.Duration{5, 1, 4, 2, 3}
	for share, want := range map[float64]time.Duration{0.5: 3, 0.95: 5, 0.01: 1, 0.2: 1} {
		if got := percentile(of, share); got != want {
			t.Errorf("percentile %g is %d, want %d", share, got, want)
		}
	}
}
