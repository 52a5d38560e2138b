package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// A queryCase is a figure of a row: the p50 or p95 of one class.
type queryCase struct {
	name   string
	class  string
	mode   mode
	share  float64
	target float64 // least ratio to the best peer; 0: none
}

// queryRows are the rows about blocks. The first case of a row is its headline.
var queryRows = []struct {
	id    string
	cases []queryCase
}{
	{"Q1", []queryCase{{"p50", "term-high", top, 0.5, 0}, {"p95", "term-high", top, 0.95, 0},
		{"0.5-3 % p50", "term-mid", top, 0.5, 0}, {"0.5-3 % p95", "term-mid", top, 0.95, 0},
		{"<0.08 % p50", "term-rare", top, 0.5, 0}, {"<0.08 % p95", "term-rare", top, 0.95, 0}}},
	{"Q2", []queryCase{{"p50", "and-high-high", top, 0.5, 0}, {"p95", "and-high-high", top, 0.95, 0}}},
	{"Q3", []queryCase{{"p50", "and-high-rare", top, 0.5, 0}, {"p95", "and-high-rare", top, 0.95, 4}}},
	{"Q4", []queryCase{{"p50", "or-2", top, 0.5, 0}, {"p95", "or-2", top, 0.95, 0}}},
	{"Q5", []queryCase{{"p50", "or-5", top, 0.5, 0}, {"p95", "or-5", top, 0.95, 0}}},
	{"Q6", []queryCase{{"p50", "or-10", top, 0.5, 0}, {"p95", "or-10", top, 0.95, 0}}},
	{"Q7", []queryCase{{"p50", "phrase-2", top, 0.5, 0}, {"p95", "phrase-2", top, 0.95, 8}}},
	{"Q8", []queryCase{{"p95", "phrase-3", top, 0.95, 0}, {"p50", "phrase-3", top, 0.5, 0}}},
	{"Q9", []queryCase{{"p50", "prefix-3", top, 0.5, 0}, {"p95", "prefix-3", top, 0.95, 12},
		{"prefix-5 p50", "prefix-5", top, 0.5, 0}, {"prefix-5 p95", "prefix-5", top, 0.95, 0}}},
	{"Q10", []queryCase{{"p50", "or-10", count, 0.5, 0}, {"p95", "or-10", count, 0.95, 0}}},
	{"Q11", []queryCase{{"p50", "and-high-high", count, 0.5, 0}, {"p95", "and-high-high", count, 0.95, 0},
		{"term >5 % p50", "term-high", count, 0.5, 0}}},
	{"Q12", []queryCase{{"p50", "or-5-filter", top, 0.5, 0}, {"p95", "or-5-filter", top, 0.95, 0}}},
}

func queryIDs() []string {
	var out []string
	for _, r := range queryRows {
		out = append(out, r.id)
	}
	return out
}

// blockRows measures the questions about blocks, all engines side by side.
func (x *comparison) blockRows(ctx context.Context) (err error) {
	open, missing, err := x.engines(ctx)
	defer func() { err = errors.Join(err, closeAll(open)) }()
	if err != nil {
		return err
	}
	names := slices.DeleteFunc(append([]string{ourName}, peerNames...), func(n string) bool { return open[n] == nil })
	truths := map[*question]*truth{}
	var questions []*asked
	for _, r := range queryRows {
		if !x.c.wants(r.id) {
			continue
		}
		for _, k := range r.cases {
			if slices.ContainsFunc(questions, func(a *asked) bool { return a.class == k.class && a.mode == k.mode }) {
				continue
			}
			for _, q := range x.ofClass(k.class) {
				if truths[q] == nil {
					truths[q] = x.oracle.answer(q)
				}
				a, err := pose(q, k.mode, truths[q], open)
				if err != nil {
					return err
				}
				questions = append(questions, a)
			}
		}
	}
	if err := x.checkAll(ctx, names, questions); err != nil {
		return err
	}
	if err := race(ctx, x.c, names, questions); err != nil {
		return err
	}
	for _, r := range queryRows {
		if x.c.wants(r.id) {
			x.r.add(queryRow(r.id, r.cases, questions, missing))
		}
	}
	return x.profileBlocks(ctx, questions)
}

func pose(q *question, m mode, t *truth, open map[string]engineUnderTest) (*asked, error) {
	a := &asked{question: q, mode: m, truth: t, by: map[string]prepared{}, took: map[string]*timing{}}
	for name, e := range open {
		p, err := e.Prepare(q)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		a.by[name], a.took[name] = p, &timing{}
	}
	return a, nil
}

// queryRow makes a row with its cases, the headline's figures in the row itself.
func queryRow(id string, cases []queryCase, questions []*asked, missing map[string]string) *row {
	r := newRow(id, "us", false)
	for i, k := range cases {
		part := r
		if i > 0 {
			part = newCase(k.name, "us", false)
			if k.target > 0 {
				part.Target = &k.target
			}
		}
		took := map[string][]time.Duration{}
		hits := 0
		for _, q := range questions {
			if q.class != k.class || q.mode != k.mode {
				continue
			}
			hits += len(q.truth.blocks)
			for name, t := range q.took {
				took[name] = append(took[name], t.best)
			}
		}
		n := len(took[ourName])
		if n == 0 {
			part.Reason = "the corpus is too small for this class"
		}
		for name, of := range took {
			if v := micros(percentile(of, k.share)); name == ourName {
				part.ours(v)
			} else {
				part.theirs(name, v)
			}
		}
		for name, why := range missing {
			part.missing(name, why)
		}
		if n > 0 {
			part.Note = fmt.Sprintf("%s: %d questions, %d hits each on average", k.class, n, hits/n)
		}
		if i > 0 {
			r.Cases = append(r.Cases, part.finish())
		}
	}
	return r.finish()
}
