package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A query is one question in the languages of both engines.
type query struct {
	class string
	text  string // for hansard
	match string // for FTS5
}

// classes are the kinds of queries, in the order of the report.
var classes = []struct{ name, about string }{
	{"term_rare", "one term in 5 to 50 blocks"},
	{"term_mid", "one term in 0.1-1 % of the blocks"},
	{"term_freq", "one term in 5-66 % of the blocks"},
	{"and_mid", "2-3 terms of one block, each in 0.07-2.7 % of the blocks"},
	{"and_freq", "2-3 terms of one block, each in 2.7-66 % of the blocks"},
	{"or_mid", "2-3 terms, each in 0.07-2.7 % of the blocks"},
	{"or_freq", "2-3 terms, each in 2.7-66 % of the blocks"},
	{"phrase", "2-3 adjacent tokens, each in 0.1 % of the blocks or more"},
	{"prefix", "3-5 letters of a term that was drawn by its frequency"},
}

// Sizes of the sample that phrases and co-occurring terms are drawn from.
const (
	sampledBlocks = 4000
	sampledTokens = 200
)

// A vocabulary counts terms and samples blocks, for queries to be drawn from. Only
// terms of ASCII letters and digits count: what they mean does not depend on a
// tokenizer, so that every engine agrees on them.
type vocabulary struct {
	rng    *rand.Rand
	blocks int
	df     map[string]int
	seen   map[string]bool // terms of the block at hand
	sample [][]string      // tokens of sampled blocks; "" is one that is not ASCII
}

func newVocabulary(seed uint64) *vocabulary {
	return &vocabulary{rng: rand.New(rand.NewPCG(seed, 0x64726177)), df: map[string]int{}, seen: map[string]bool{}}
}

// add counts the terms of one block.
func (v *vocabulary) add(text string) {
	v.blocks++
	clear(v.seen)
	var kept []string
	place := v.place()
	for tok := range tokens(text) {
		if place >= 0 && len(kept) < sampledTokens {
			kept = append(kept, strings.Clone(tok))
		}
		if tok != "" && !v.seen[tok] {
			v.seen[tok] = true
			if _, known := v.df[tok]; !known {
				tok = strings.Clone(tok)
			}
			v.df[tok]++
		}
	}
	if place >= 0 && len(v.sample) > place {
		v.sample[place] = kept
	} else if place >= 0 {
		v.sample = append(v.sample, kept)
	}
}

// place is where the block at hand goes in the sample, -1 for nowhere: after any
// number of blocks each was kept with equal odds.
func (v *vocabulary) place() int {
	if v.blocks <= sampledBlocks {
		return v.blocks - 1
	}
	if i := v.rng.IntN(v.blocks); i < sampledBlocks {
		return i
	}
	return -1
}

// tokens yields the tokens of text in order, folded; "" for one that is not ASCII.
func tokens(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start, plain := -1, true
		for i := 0; i <= len(text); i++ {
			if i < len(text) && inToken(text[i]) {
				if start < 0 {
					start, plain = i, true
				}
				plain = plain && text[i] < 0x80
				continue
			}
			if start < 0 {
				continue
			}
			tok := ""
			if plain {
				tok = strings.ToLower(text[start:i])
			}
			if start = -1; !yield(tok) {
				return
			}
		}
	}
}

func inToken(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// draw makes up to n distinct queries of each class. A small vocabulary may have
// fewer.
func (v *vocabulary) draw(n int) []query {
	mid, freq := v.band(0.0007, 0.027), v.band(0.027, 0.66)
	makers := map[string]func() []string{
		"term_rare": v.one(v.terms(5, 50)),
		"term_mid":  v.one(v.band(0.001, 0.01)),
		"term_freq": v.one(v.band(0.05, 0.66)),
		"and_mid":   v.together(mid),
		"and_freq":  v.together(freq),
		"or_mid":    v.several(mid),
		"or_freq":   v.several(freq),
		"phrase":    v.adjacent,
		"prefix":    v.stem,
	}
	var out []query
	for _, c := range classes {
		have := map[string]bool{}
		for tries := 0; len(have) < n && tries < 50*n; tries++ {
			words := makers[c.name]()
			if words == nil {
				continue
			}
			if q := spell(c.name, words); !have[q.text] {
				have[q.text] = true
				out = append(out, q)
			}
		}
	}
	return out
}

// spell writes words as a query of the class.
func spell(class string, words []string) query {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = `"` + w + `"`
	}
	q := query{class: class}
	switch kind, _, _ := strings.Cut(class, "_"); kind {
	case "and":
		q.text, q.match = strings.Join(quoted, " "), strings.Join(quoted, " AND ")
	case "or":
		q.text = strings.Join(quoted, " OR ")
		q.match = q.text
	case "prefix":
		q.text = words[0] + "*"
		q.match = q.text
	default:
		q.text = fmt.Sprintf("%q", strings.Join(words, " "))
		q.match = q.text
	}
	return q
}

// band lists the terms that are in at least low and at most high of the blocks, as
// shares.
func (v *vocabulary) band(low, high float64) []string {
	return v.terms(max(1, int(low*float64(v.blocks))), int(high*float64(v.blocks)))
}

func (v *vocabulary) terms(low, high int) []string {
	var out []string
	for t, n := range v.df {
		if low <= n && n <= high {
			out = append(out, t)
		}
	}
	slices.Sort(out)
	return out
}

func (v *vocabulary) one(from []string) func() []string {
	return func() []string { return v.pick(from, 1) }
}

func (v *vocabulary) several(from []string) func() []string {
	return func() []string { return v.pick(from, 2+v.rng.IntN(2)) }
}

// together draws terms that one block holds, so that an AND finds something.
func (v *vocabulary) together(from []string) func() []string {
	wanted := map[string]bool{}
	for _, t := range from {
		wanted[t] = true
	}
	return func() []string {
		var in []string
		for _, t := range v.block() {
			if wanted[t] && !slices.Contains(in, t) {
				in = append(in, t)
			}
		}
		return v.pick(in, 2+v.rng.IntN(2))
	}
}

// pick draws n distinct terms; nil if there are fewer.
func (v *vocabulary) pick(from []string, n int) []string {
	if len(from) < n {
		return nil
	}
	var out []string
	for len(out) < n {
		if t := from[v.rng.IntN(len(from))]; !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

func (v *vocabulary) block() []string { return v.sample[v.rng.IntN(len(v.sample))] }

func (v *vocabulary) adjacent() []string {
	b, n := v.block(), 2+v.rng.IntN(2)
	if len(b) < n {
		return nil
	}
	at := v.rng.IntN(len(b) - n + 1)
	for _, t := range b[at : at+n] {
		if v.df[t] < max(2, v.blocks/1000) { // "" has none
			return nil
		}
	}
	return b[at : at+n]
}

func (v *vocabulary) stem() []string {
	b, n := v.block(), 3+v.rng.IntN(3)
	if len(b) == 0 {
		return nil
	}
	t := b[v.rng.IntN(len(b))]
	if len(t) <= n || t[0] < 'a' {
		return nil
	}
	return []string{t[:n]}
}
