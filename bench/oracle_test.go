package main

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// library is a corpus that can be checked by eye.
var library = []string{"red fox", "the red red hen", "the fox and the hen", "hen", "redwood the fox"}

func answerOf(q *question) *truth {
	o := newOracle([]*question{q})
	for i, text := range library {
		o.add(&block{number: uint32(i), session: uint32(i / 2), repo: uint32(i % 2), time: int64(i) * 1000, text: text})
	}
	return o.answer(q)
}

func TestOracleFindsBlocks(t *testing.T) {
	early := &where{repo: 0, since: time.UnixMilli(0), until: time.UnixMilli(2000)}
	for _, c := range []struct {
		q        question
		want     []uint32
		sessions int
	}{
		{question{op: all, terms: []string{"red"}}, []uint32{0, 1}, 1},
		{question{op: all, terms: []string{"the", "fox"}}, []uint32{2, 4}, 2},
		{question{op: any1, terms: []string{"fox", "hen"}}, []uint32{0, 1, 2, 3, 4}, 3},
		{question{op: phrase, terms: []string{"the", "fox"}}, []uint32{2, 4}, 2},
		{question{op: phrase, terms: []string{"the", "hen"}}, []uint32{2}, 1},
		{question{op: phrase, terms: []string{"red", "hen"}}, []uint32{1}, 1},
		{question{op: prefix, terms: []string{"red"}}, []uint32{0, 1, 4}, 2},
		{question{op: any1, terms: []string{"fox", "hen"}, where: early}, []uint32{0, 2}, 2},
	} {
		got := answerOf(&c.q)
		if !slices.Equal(got.blocks, c.want) || got.sessions != c.sessions {
			t.Errorf("%s: blocks %v of %d sessions, want %v of %d", c.q.text(), got.blocks, got.sessions, c.want, c.sessions)
		}
	}
}

// The score of "red" in "the red red hen", by hand: 5 blocks of 2, 4, 5, 1 and 3
// tokens, 2 of them with the term.
func TestOracleScores(t *testing.T) {
	want := -math.Log(3.5/2.5) * 2 * 2.2 / (2 + 1.2*(0.25+0.75*4/3))
	got := answerOf(&question{op: all, terms: []string{"red"}})
	if math.Abs(got.scores[0]-want) > 1e-12 {
		t.Errorf("score %.12f, want %.12f", got.scores[0], want)
	}
	if len(got.best) != 1 || got.best[0] != got.scores[0] {
		t.Errorf("the best session scores %v, its best block %v", got.best, got.scores)
	}
}

// canned gives the same answer to everything.
type canned struct{ a answer }

func (p canned) Ask(context.Context, mode) (answer, error) { return p.a, nil }

func (p canned) Time(context.Context, mode, int) (time.Duration, error) { return 0, nil }

func TestWrongAnswersAreCaught(t *testing.T) {
	q := &question{op: all, terms: []string{"red"}}
	truth := answerOf(q)
	right := answer{count: 2, blocks: []uint32{1, 0}, scores: truth.scores}
	for _, c := range []struct {
		name, engine string
		change       func(*answer)
		want         string
	}{
		{"right", ourName, func(*answer) {}, ""},
		{"a hit less", ourName, func(a *answer) { a.blocks, a.scores = a.blocks[:1], a.scores[:1] }, "1 hits"},
		{"a wrong hit", ourName, func(a *answer) { a.blocks = []uint32{1, 3} }, "block 3"},
		{"a hit twice", ourName, func(a *answer) { a.blocks = []uint32{1, 1} }, "twice"},
		{"a wrong score", ourName, func(a *answer) { a.scores = []float64{truth.scores[0], truth.scores[1] * 1.001} }, "scores"},
		{"a score of another formula", "xapian", func(a *answer) { a.scores = []float64{2, 1} }, ""},
		{"a wrong count", "xapian", func(a *answer) { a.count = 3 }, "3 blocks"},
	} {
		a := right
		c.change(&a)
		x := &asked{question: q, truth: truth, by: map[string]prepared{c.engine: canned{a}}}
		why, err := x.check(t.Context(), c.engine)
		if err != nil || (why == "") != (c.want == "") || !strings.Contains(why, c.want) {
			t.Errorf("%s: %q, %v; want %q", c.name, why, err, c.want)
		}
	}
}
