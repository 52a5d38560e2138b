package main

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"time"

	"github.com/blugelabs/bluge"
	"github.com/blugelabs/bluge/analysis"
	"github.com/blugelabs/bluge/search"

	"github.com/hansard-search/hansard/lexer"
)

const blugeVersion = "bluge 0.2.2"

func blugePath(dir string) string { return filepath.Join(dir, "bluge") }

// blugeTokens feeds bluge the terms of our lexer.
type blugeTokens struct{}

func (blugeTokens) Tokenize(text []byte) analysis.TokenStream {
	var s lexer.Scanner
	var out analysis.TokenStream
	s.Reset(text)
	for s.Next() {
		out = append(out, &analysis.Token{Start: s.Start(), End: s.End(), Term: append([]byte(nil), s.Term()...), PositionIncr: 1})
	}
	return out
}

// buildBluge indexes the texts with positions and without stored texts. Bluge cannot
// be told to merge, so it is searched as its background merges leave it.
func buildBluge(ctx context.Context, dir string, b *built) (func() error, error) {
	b.Version = blugeVersion
	w, err := bluge.OpenWriter(bluge.DefaultConfig(blugePath(dir)))
	if err != nil {
		return nil, err
	}
	tokens := &analysis.Analyzer{Tokenizer: blugeTokens{}}
	batch, n := bluge.NewBatch(), 0
	add := func() error {
		err := w.Batch(batch)
		batch, n = bluge.NewBatch(), 0
		return err
	}
	err = documents(dir, func(d *block) error {
		doc := bluge.NewDocument(strconv.Itoa(int(d.number)))
		doc.AddField(bluge.NewTextField("t", d.text).WithAnalyzer(tokens).SearchTermPositions())
		doc.AddField(bluge.NewKeywordField("repo", repoName(d.repo)))
		doc.AddField(bluge.NewNumericField("time", float64(d.time)))
		batch.Insert(doc)
		if n++; n >= peerBatch {
			return add()
		}
		return nil
	})
	if err == nil {
		err = add()
	}
	if err == nil {
		err = settle(ctx)
	}
	return nil, errors.Join(err, w.Close())
}

type blugeIndex struct{ r *bluge.Reader }

func openBluge(dir string) (engineUnderTest, error) {
	r, err := bluge.OpenReader(bluge.DefaultConfig(blugePath(dir)))
	if err != nil {
		return nil, err
	}
	return &blugeIndex{r}, nil
}

func (e *blugeIndex) Name() string { return blugeVersion }

func (e *blugeIndex) Close() error { return e.r.Close() }

func (e *blugeIndex) Prepare(q *question) (prepared, error) {
	return &blugeQuestion{e.r, blugeQuery(q)}, nil
}

func blugeQuery(q *question) bluge.Query {
	out := bluge.NewBooleanQuery()
	switch q.op {
	case phrase:
		terms := make([][]string, len(q.terms))
		for i, t := range q.terms {
			terms[i] = []string{t}
		}
		out.AddMust(bluge.NewMultiPhraseQuery(terms).SetField("t"))
	case prefix:
		out.AddMust(bluge.NewPrefixQuery(q.terms[0]).SetField("t"))
	case any1:
		for _, t := range q.terms {
			out.AddShould(bluge.NewTermQuery(t).SetField("t"))
		}
	default:
		for _, t := range q.terms {
			out.AddMust(bluge.NewTermQuery(t).SetField("t"))
		}
	}
	if w := q.where; w != nil {
		filtered := bluge.NewBooleanQuery().AddMust(out)
		filtered.AddMust(bluge.NewTermQuery(repoName(w.repo)).SetField("repo").SetBoost(0))
		filtered.AddMust(bluge.NewNumericRangeInclusiveQuery(float64(w.since.UnixMilli()), float64(w.until.UnixMilli()), true, true).SetField("time").SetBoost(0))
		out = filtered
	}
	return out
}

type blugeQuestion struct {
	r *bluge.Reader
	q bluge.Query
}

// hits runs the question and walks its hits.
func (p *blugeQuestion) hits(ctx context.Context, m mode, each func(*search.DocumentMatch) error) (int64, error) {
	request := bluge.NewTopNSearch(limit, p.q)
	if m == count {
		request = bluge.NewTopNSearch(1, p.q).SetScore("none").WithStandardAggregations()
	}
	it, err := p.r.Search(ctx, request)
	if err != nil {
		return 0, err
	}
	for {
		hit, err := it.Next()
		if err != nil {
			return 0, err
		}
		if hit == nil {
			break
		}
		if m == top && each != nil {
			if err := each(hit); err != nil {
				return 0, err
			}
		}
	}
	if m == count {
		return int64(it.Aggregations().Count()), nil
	}
	return 0, nil
}

func (p *blugeQuestion) Ask(ctx context.Context, m mode) (a answer, err error) {
	a.count, err = p.hits(ctx, m, func(hit *search.DocumentMatch) error {
		var bad error
		err := hit.VisitStoredFields(func(field string, value []byte) bool {
			if field == "_id" {
				var n int
				n, bad = strconv.Atoi(string(value))
				a.blocks, a.scores = append(a.blocks, uint32(n)), append(a.scores, hit.Score)
			}
			return true
		})
		return errors.Join(err, bad)
	})
	return a, err
}

func (p *blugeQuestion) Time(ctx context.Context, m mode, n int) (time.Duration, error) {
	return timed(n, func() error {
		_, err := p.hits(ctx, m, nil)
		return err
	})
}
