package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hansard-search/hansard/engine"
)

// searchClasses are the questions that whole searches are measured with.
var searchClasses = []string{"term-rare", "term-mid", "term-high", "and-high-high", "and-high-rare", "or-5", "phrase-2", "prefix-3"}

// archiveQuestion is a question to the engine: everything that a caller gets.
type archiveQuestion struct {
	e    *engine.Engine
	text string
}

func (p archiveQuestion) Ask(context.Context, mode) (answer, error) {
	return answer{}, errors.New("whole searches answer sessions")
}

func (p archiveQuestion) Time(ctx context.Context, _ mode, n int) (time.Duration, error) {
	return timed(n, func() error {
		_, _, err := searchArchive(ctx, p.e, p.text)
		return err
	})
}

// groupedQuestion is the same question to FTS5.
type groupedQuestion struct {
	s sessionSearcher
	q *question
}

func (p groupedQuestion) Ask(context.Context, mode) (answer, error) {
	return answer{}, errors.New("whole searches answer sessions")
}

func (p groupedQuestion) Time(ctx context.Context, _ mode, n int) (time.Duration, error) {
	return timed(n, func() error {
		_, _, err := p.s.Search(ctx, p.q)
		return err
	})
}

// searchRow compares whole searches with FTS5 and GROUP BY.
func (x *comparison) searchRow(ctx context.Context) (err error) {
	if _, err := x.make(ctx, "archive"); err != nil {
		return err
	}
	e, err := openArchive(archivePath(x.c.dir), false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	_, why, err := x.peer(ctx, "fts5", "fts5-grouped")
	if err != nil {
		return err
	}
	names, missing := []string{ourName}, map[string]string{}
	var g sessionSearcher
	if why != "" {
		missing["fts5"] = why
	} else {
		if g, err = openGrouped(x.c.dir); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, g.Close()) }()
		names = append(names, "fts5")
	}
	questions, err := x.searches(ctx, e, g)
	if err != nil {
		return err
	}
	if err := race(ctx, x.c, names, questions); err != nil {
		return err
	}
	var cases []queryCase
	for _, c := range searchClasses {
		cases = append(cases, queryCase{c + " p50", c, top, 0.5, 0}, queryCase{c + " p95", c, top, 0.95, 0})
	}
	r := queryRow("Search", append([]queryCase{{"or-5 p50", "or-5", top, 0.5, 0}}, cases...), questions, missing)
	r.Note = "headline: or-5, p50. Ours with session rows, texts and snippets from the store; FTS5 with neither. " + r.Note
	x.r.add(r)
	return x.profileSearches(ctx, questions)
}

// searches prepares the questions and checks both engines' answers.
func (x *comparison) searches(ctx context.Context, e *engine.Engine, g sessionSearcher) ([]*asked, error) {
	var out []*asked
	note := func(name string, q *question, t *truth, total int, scores []float64) {
		why := differ(scores, t.best)
		if total != t.sessions {
			why = fmt.Sprintf("%d sessions, want %d", total, t.sessions)
		}
		if x.r.Checked.Answers[name]++; why != "" {
			x.r.Checked.Differences = append(x.r.Checked.Differences, fmt.Sprintf("%s: sessions of %s: %s", name, q.text(), why))
		}
	}
	for _, class := range searchClasses {
		for _, q := range x.ofClass(class) {
			a := &asked{question: q, truth: x.oracle.answer(q), by: map[string]prepared{}, took: map[string]*timing{}}
			total, scores, err := searchArchive(ctx, e, q.text())
			if err != nil {
				return nil, err
			}
			x.r.Checked.Queries++
			note(ourName, q, a.truth, total, scores)
			a.by[ourName], a.took[ourName] = archiveQuestion{e, q.text()}, &timing{}
			if g != nil {
				if total, scores, err = g.Search(ctx, q); err != nil {
					return nil, err
				}
				note("fts5", q, a.truth, total, scores)
				a.by["fts5"], a.took["fts5"] = groupedQuestion{g, q}, &timing{}
			}
			out = append(out, a)
		}
	}
	if d := x.r.Checked.Differences; len(d) > 0 {
		return nil, fmt.Errorf("%d answers differ, the first: %s", len(d), d[0])
	}
	return out, nil
}
