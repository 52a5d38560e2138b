package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// An operation is how the terms of a question belong together.
type operation int

const (
	all    operation = iota // AND; of one term, the term
	any1                    // OR
	phrase                  // side by side
	prefix                  // terms that begin with the only one
)

// A question is one query, in no engine's language.
type question struct {
	class string
	op    operation
	terms []string
	where *where // nil: everywhere
}

// A where keeps the blocks of sessions of one repository in a range of time.
type where struct {
	repo         uint32
	since, until time.Time // whole seconds, both inclusive
}

func (w *where) holds(repo uint32, ms int64) bool {
	return w == nil || w.repo == repo && ms >= w.since.UnixMilli() && ms <= w.until.UnixMilli()
}

// text is the question in hansard's language.
func (q *question) text() string {
	out := q.match()
	if q.where != nil {
		out = fmt.Sprintf("repo:%s since:%s until:%s (%s)", repoName(q.where.repo),
			q.where.since.Format(time.RFC3339), q.where.until.Format(time.RFC3339), out)
	}
	return out
}

// match is the text of the question in the language of FTS5, which hansard shares.
func (q *question) match() string {
	quoted := make([]string, len(q.terms))
	for i, t := range q.terms {
		quoted[i] = `"` + t + `"`
	}
	switch q.op {
	case any1:
		return strings.Join(quoted, " OR ")
	case phrase:
		return `"` + strings.Join(q.terms, " ") + `"`
	case prefix:
		return q.terms[0] + "*"
	}
	return strings.Join(quoted, " AND ")
}

// A class is a kind of question and how one is drawn; nil if a try failed.
type class struct {
	name string
	draw func(v *vocabulary, b *bands) *question
}

type bands struct{ high, middle, rare []string }

// classes are the kinds of questions. A row may use several.
var classes = []class{
	{"term-high", func(v *vocabulary, b *bands) *question { return ask(all, v.pick(b.high, 1)) }},
	{"term-mid", func(v *vocabulary, b *bands) *question { return ask(all, v.pick(b.middle, 1)) }},
	{"term-rare", func(v *vocabulary, b *bands) *question { return ask(all, v.pick(b.rare, 1)) }},
	{"and-high-high", func(v *vocabulary, b *bands) *question { return ask(all, v.pick(b.high, 2)) }},
	{"and-high-rare", drawHighRare},
	{"or-2", func(v *vocabulary, b *bands) *question { return ask(any1, v.pick(b.high, 2)) }},
	{"or-5", func(v *vocabulary, b *bands) *question { return ask(any1, mixed(v, b, 2, 2, 1)) }},
	{"or-10", func(v *vocabulary, b *bands) *question { return ask(any1, mixed(v, b, 4, 4, 2)) }},
	{"phrase-2", func(v *vocabulary, _ *bands) *question { return ask(phrase, v.adjacent(2)) }},
	{"phrase-3", drawStopPhrase},
	{"prefix-3", func(v *vocabulary, _ *bands) *question { return ask(prefix, v.stem(3)) }},
	{"prefix-5", func(v *vocabulary, _ *bands) *question { return ask(prefix, v.stem(5)) }},
	{"or-5-filter", drawFiltered},
}

func ask(op operation, terms []string) *question {
	if terms == nil {
		return nil
	}
	return &question{op: op, terms: terms}
}

// drawHighRare takes both terms from one block, so that there is something to find.
func drawHighRare(v *vocabulary, b *bands) *question {
	tokens := v.block()
	is := func(in band) []string {
		var out []string
		for _, t := range tokens {
			if in.holds(v.df(t), v.blocks) && plain(t) {
				out = append(out, t)
			}
		}
		return out
	}
	one, two := v.pick(is(high), 1), v.pick(is(rare), 1)
	if one == nil || two == nil {
		return nil
	}
	return ask(all, append(one, two...))
}

// mixed draws terms of each band and shuffles them.
func mixed(v *vocabulary, b *bands, high, middle, rare int) []string {
	out := slices.Concat(v.pick(b.high, high), v.pick(b.middle, middle), v.pick(b.rare, rare))
	if len(out) < high+middle+rare {
		return nil
	}
	v.rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// adjacent draws n tokens that stand side by side, each in at least 0.1 % of the
// blocks.
func (v *vocabulary) adjacent(n int) []string {
	b := v.block()
	if len(b) < n {
		return nil
	}
	at := v.rng.IntN(len(b) - n + 1)
	for _, t := range b[at : at+n] {
		if !plain(t) || v.df(t) < max(2, v.blocks/1000) {
			return nil
		}
	}
	return slices.Clone(b[at : at+n])
}

// drawStopPhrase draws a phrase of three with a term that is in a fifth of the
// blocks, as stop-words are.
func drawStopPhrase(v *vocabulary, _ *bands) *question {
	terms := v.adjacent(3)
	if !slices.ContainsFunc(terms, func(t string) bool { return v.share(t) >= 0.2 }) {
		return nil
	}
	return ask(phrase, terms)
}

// stem draws the beginning of a word that was drawn by its frequency.
func (v *vocabulary) stem(n int) []string {
	b := v.block()
	if len(b) == 0 {
		return nil
	}
	t := b[v.rng.IntN(len(b))]
	if len(t) <= n || t[0] < 'a' || !plain(t) {
		return nil
	}
	return []string{t[:n]}
}

// drawFiltered asks for one repository, 1 % of the sessions, and for half of the
// time of the corpus.
func drawFiltered(v *vocabulary, b *bands) *question {
	q := ask(any1, mixed(v, b, 2, 2, 1))
	if q == nil {
		return nil
	}
	first, last := slices.Min(v.times), slices.Max(v.times)
	from := time.UnixMilli(first + int64(v.rng.Float64()*float64(last-first)/2)).UTC().Truncate(time.Second)
	q.where = &where{repo: uint32(v.rng.IntN(100)), since: from, until: from.Add(time.Duration(last-first) / 2 * time.Millisecond).Truncate(time.Second)}
	return q
}

// drawAll makes up to n distinct questions of each wanted class. A small vocabulary
// may have fewer.
func (v *vocabulary) drawAll(n int, wanted func(class string) bool) []*question {
	b := &bands{v.in(high), v.in(middle), v.in(rare)}
	var out []*question
	for _, c := range classes {
		have := map[string]bool{}
		for tries := 0; len(have) < n && tries < 200*n; tries++ {
			q := c.draw(v, b)
			if q == nil || have[q.text()] {
				continue
			}
			q.class, have[q.text()] = c.name, true
			if wanted(c.name) {
				out = append(out, q)
			}
		}
	}
	return out
}
