package main

import (
	"math/rand/v2"
	"slices"

	"github.com/hansard-search/hansard/lexer"
)

// Sizes of the sample that phrases and co-occurring terms are drawn from.
const (
	sampledBlocks = 8000
	sampledTokens = 200
)

// A vocabulary counts terms and samples blocks, for queries to be drawn from.
// Queries are made of ASCII terms: they are written alike in every query language.
type vocabulary struct {
	rng    *rand.Rand
	blocks int
	tokens int64
	ids    map[string]int32
	terms  []termCount
	lex    lexer.Scanner
	sample [][]string // tokens of sampled blocks
	repos  map[uint32]bool
	times  []int64 // of sampled blocks
}

type termCount struct {
	term string
	df   int32
	last int32 // block where it was counted last, from 1
}

func newVocabulary(seed uint64) *vocabulary {
	return &vocabulary{rng: rand.New(rand.NewPCG(seed, 0x64726177)), ids: map[string]int32{}, repos: map[uint32]bool{}}
}

// add counts the terms of one block.
func (v *vocabulary) add(d *block) {
	v.blocks++
	v.repos[d.repo] = true
	var kept []string
	place := v.place()
	v.lex.ResetString(d.text)
	for v.lex.Next() {
		v.tokens++
		id, known := v.ids[string(v.lex.Term())]
		if !known {
			id = int32(len(v.terms))
			term := string(v.lex.Term())
			v.ids[term] = id
			v.terms = append(v.terms, termCount{term: term})
		}
		t := &v.terms[id]
		if t.last != int32(v.blocks) {
			t.df, t.last = t.df+1, int32(v.blocks)
		}
		if place >= 0 && len(kept) < sampledTokens {
			kept = append(kept, t.term)
		}
	}
	if place < 0 {
		return
	}
	if place == len(v.sample) {
		v.sample, v.times = append(v.sample, nil), append(v.times, 0)
	}
	v.sample[place], v.times[place] = kept, d.time
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

func (v *vocabulary) df(term string) int {
	if id, ok := v.ids[term]; ok {
		return int(v.terms[id].df)
	}
	return 0
}

// share is the part of the blocks that hold a term.
func (v *vocabulary) share(term string) float64 { return float64(v.df(term)) / float64(v.blocks) }

// A band is a range of document frequencies as shares of the blocks.
type band struct{ low, high float64 }

// The bands that queries are drawn from.
var (
	high   = band{0.05, 1}
	middle = band{0.005, 0.03}
	rare   = band{0, 0.0008}
)

// holds reports whether a term of that document frequency is in the band. A rare
// term is in 3 blocks at least, so that a query has something to find, and one of up
// to 10 is rare in a small corpus too.
func (b band) holds(df, blocks int) bool {
	share := float64(df) / float64(blocks)
	return df >= 3 && share >= b.low && (share <= b.high || b == rare && df <= 10)
}

// in lists the ASCII terms of a band, sorted.
func (v *vocabulary) in(b band) []string {
	var out []string
	for i := range v.terms {
		if t := &v.terms[i]; b.holds(int(t.df), v.blocks) && plain(t.term) {
			out = append(out, t.term)
		}
	}
	slices.Sort(out)
	return out
}

// plain reports whether a term is of ASCII letters and digits.
func plain(term string) bool {
	for i := range len(term) {
		if c := term[i]; (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return term != ""
}

// block draws the tokens of a sampled block.
func (v *vocabulary) block() []string { return v.sample[v.rng.IntN(len(v.sample))] }

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
