package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/document"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/index/scorch/mergeplan"
	"github.com/blevesearch/bleve/v2/search/query"
	index "github.com/blevesearch/bleve_index_api"

	"github.com/hansard-search/hansard/lexer"
)

const bleveVersion = "bleve 2.6.3 (scorch, bm25)"

func blevePath(dir string) string { return filepath.Join(dir, "bleve") }

// peerBatch is the number of texts that bleve and bluge get at once.
const peerBatch = 2000

// bleveTokens feeds bleve the terms of our lexer.
type bleveTokens struct{}

func (bleveTokens) Tokenize(text []byte) analysis.TokenStream {
	var s lexer.Scanner
	var out analysis.TokenStream
	s.Reset(text)
	for s.Next() {
		out = append(out, &analysis.Token{Start: s.Start(), End: s.End(), Term: append([]byte(nil), s.Term()...), Position: s.Pos() + 1})
	}
	return out
}

// buildBleve indexes the texts with positions, without stored texts and without
// durability of each batch, and then merges all segments into one.
func buildBleve(ctx context.Context, dir string, b *built) (func() error, error) {
	b.Version = bleveVersion
	m := bleve.NewIndexMapping()
	m.ScoringModel = index.BM25Scoring
	x, err := bleve.NewUsing(blevePath(dir), m, scorch.Name, scorch.Name, map[string]any{"unsafe_batch": true})
	if err != nil {
		return nil, err
	}
	tokens := &analysis.DefaultAnalyzer{Tokenizer: bleveTokens{}}
	batch := x.NewBatch()
	add := func() error {
		err := x.Batch(batch)
		batch.Reset()
		return err
	}
	err = documents(dir, func(d *block) error {
		doc := document.NewDocument(strconv.Itoa(int(d.number)))
		doc.AddField(document.NewTextFieldCustom("t", nil, []byte(d.text), index.IndexField|index.IncludeTermVectors, tokens))
		doc.AddField(document.NewTextFieldCustom("repo", nil, []byte(repoName(d.repo)), index.IndexField|index.SkipFreqNorm, nil))
		doc.AddField(document.NewNumericFieldWithIndexingOptions("time", nil, float64(d.time), index.IndexField))
		if err := batch.IndexAdvanced(doc); err != nil {
			return err
		}
		if batch.Size() >= peerBatch {
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
	if err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return func() error { return errors.Join(mergeBleve(ctx, x), x.Close()) }, nil
}

func mergeBleve(ctx context.Context, x bleve.Index) error {
	low, err := x.Advanced()
	if err != nil {
		return err
	}
	s, ok := low.(*scorch.Scorch)
	if !ok {
		return fmt.Errorf("bleve: the index is a %T", low)
	}
	if err := s.ForceMerge(ctx, &mergeplan.SingleSegmentMergePlanOptions); err != nil {
		return err
	}
	return settle(ctx)
}

type bleveIndex struct{ x bleve.Index }

func openBleve(dir string) (engineUnderTest, error) {
	x, err := bleve.Open(blevePath(dir))
	if err != nil {
		return nil, err
	}
	return &bleveIndex{x}, nil
}

func (e *bleveIndex) Name() string { return bleveVersion }

func (e *bleveIndex) Close() error { return e.x.Close() }

func (e *bleveIndex) Prepare(q *question) (prepared, error) {
	p := &bleveQuestion{e.x, bleve.NewSearchRequestOptions(bleveQuery(q), limit, 0, false), bleve.NewSearchRequestOptions(bleveQuery(q), 0, 0, false)}
	p.count.Score = "none"
	return p, nil
}

func bleveQuery(q *question) query.Query {
	terms := make([]query.Query, len(q.terms))
	for i, t := range q.terms {
		x := query.NewTermQuery(t)
		x.SetField("t")
		terms[i] = x
	}
	var out query.Query
	switch {
	case q.op == phrase:
		out = query.NewPhraseQuery(q.terms, "t")
	case q.op == prefix:
		x := query.NewPrefixQuery(q.terms[0])
		x.SetField("t")
		out = x
	case len(terms) == 1:
		out = terms[0]
	case q.op == any1:
		out = query.NewDisjunctionQuery(terms)
	default:
		out = query.NewConjunctionQuery(terms)
	}
	if w := q.where; w != nil {
		repo := query.NewTermQuery(repoName(w.repo))
		repo.SetField("repo")
		lo, hi, yes := float64(w.since.UnixMilli()), float64(w.until.UnixMilli()), true
		when := query.NewNumericRangeInclusiveQuery(&lo, &hi, &yes, &yes)
		when.SetField("time")
		b := query.NewBooleanQuery([]query.Query{out}, nil, nil)
		b.AddFilter(query.NewConjunctionQuery([]query.Query{repo, when}))
		out = b
	}
	return out
}

type bleveQuestion struct {
	x          bleve.Index
	top, count *bleve.SearchRequest
}

func (p *bleveQuestion) Ask(ctx context.Context, m mode) (a answer, err error) {
	if m == count {
		r, err := p.x.SearchInContext(ctx, p.count)
		if err != nil {
			return a, err
		}
		return answer{count: int64(r.Total)}, nil
	}
	r, err := p.x.SearchInContext(ctx, p.top)
	if err != nil {
		return a, err
	}
	for _, h := range r.Hits {
		n, err := strconv.Atoi(h.ID)
		if err != nil {
			return a, err
		}
		a.blocks, a.scores = append(a.blocks, uint32(n)), append(a.scores, h.Score)
	}
	return a, nil
}

func (p *bleveQuestion) Time(ctx context.Context, m mode, n int) (time.Duration, error) {
	return timed(n, func() error {
		_, err := p.Ask(ctx, m)
		return err
	})
}
