package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hansard-search/hansard/engine"
)

func archivePath(dir string) string { return filepath.Join(dir, "archive") }
func leanPath(dir string) string    { return filepath.Join(dir, "archive-lean") }

// openArchive opens an archive as an embedder does, but for one query worker, so that
// CPU time is comparable with a single-threaded peer's.
func openArchive(path string, lean bool) (*engine.Engine, error) {
	return engine.Open(path, engine.Options{Create: true, Workers: 1, DropRaw: lean, QueryLimits: engine.QueryLimits{Limits: noLimits}})
}

// buildArchive imports the session files until background merges have ended too.
func buildArchive(lean bool) func(context.Context, string, *built) (func() error, error) {
	return func(ctx context.Context, dir string, b *built) (func() error, error) {
		path := archivePath(dir)
		if lean {
			path = leanPath(dir)
		}
		return nil, importHome(ctx, path, homePath(dir), lean, b)
	}
}

func importHome(ctx context.Context, path, home string, lean bool, b *built) (err error) {
	e, err := openArchive(path, lean)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	report, err := e.Import(ctx, engine.ImportRequest{Home: home})
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	if report.Records.Rejected > 0 || len(report.Problems) > 0 {
		return fmt.Errorf("import rejected %d records and met %d problems", report.Records.Rejected, len(report.Problems))
	}
	if err := settle(ctx); err != nil {
		return err
	}
	stats, err := e.Stats(ctx)
	if err == nil {
		b.Index = stats.IndexBytes
	}
	return err
}

// searchArchive answers with everything that a caller gets: sessions, matches,
// snippets and the total.
func searchArchive(ctx context.Context, e *engine.Engine, text string) (total int, scores []float64, err error) {
	env, err := e.Search(ctx, engine.SearchRequest{Query: text, Limit: limit})
	if err != nil {
		return 0, nil, fmt.Errorf("query %s: %w", text, err)
	}
	if env.Partial {
		return 0, nil, errors.New("the answer is partial")
	}
	for _, h := range env.Hits {
		if h.Match == nil || h.Match.Score == nil {
			return 0, nil, errors.New("a hit has no score")
		}
		scores = append(scores, *h.Match.Score)
	}
	return env.Total, scores, nil
}

// plainText has the one fold applied that hansard adds to unicode61, for FTS5, so
// that both index the same terms.
var plainText = strings.NewReplacer("ł", "l", "Ł", "L")
