package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/hansard-search/hansard/engine"
)

// An ours is the engine under measurement, opened as an embedder opens it, but for
// one query worker, so that CPU time is comparable with a single-threaded peer's.
type ours struct {
	dir    string
	engine *engine.Engine
}

func openOurs(dir string) (*ours, error) {
	o := &ours{dir: filepath.Join(dir, "archive")}
	return o, o.open()
}

func (o *ours) open() (err error) {
	o.engine, err = engine.Open(o.dir, engine.Options{Create: true, Workers: 1})
	return err
}

// An importCost is what an import took until background merges had ended too.
type importCost struct {
	cpu, settle, wall time.Duration // cpu includes settle
	peak              int64         // resident bytes
	blocks            int64
}

// Import reads the session files under home.
func (o *ours) Import(ctx context.Context, home string) (importCost, error) {
	resetPeak()
	wall, cpu := time.Now(), processCPU()
	report, err := o.engine.Import(ctx, engine.ImportRequest{Home: home})
	if err != nil {
		return importCost{}, fmt.Errorf("import: %w", err)
	}
	if report.Records.Rejected > 0 || len(report.Problems) > 0 {
		return importCost{}, fmt.Errorf("import rejected %d records and met %d problems", report.Records.Rejected, len(report.Problems))
	}
	c := importCost{cpu: processCPU() - cpu, wall: time.Since(wall), blocks: report.Blocks}
	if err := settle(ctx); err != nil {
		return importCost{}, err
	}
	c.settle = processCPU() - cpu - c.cpu
	c.cpu += c.settle
	c.peak = peakRSS()
	return c, nil
}

// settle waits until the process is idle: background merges have ended then.
func settle(ctx context.Context) error {
	for quiet := 0; quiet < 3; quiet++ {
		before := processCPU()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
		if processCPU()-before > 5*time.Millisecond {
			quiet = -1
		}
	}
	return nil
}

// Reopen closes the archive and opens it again, as the next process would.
func (o *ours) Reopen() error {
	if err := o.engine.Close(); err != nil {
		return err
	}
	return o.open()
}

func (o *ours) Stats(ctx context.Context) (*engine.Stats, error) { return o.engine.Stats(ctx) }

// Search answers a query with everything a caller gets: sessions, matches,
// snippets and the total.
func (o *ours) Search(ctx context.Context, text string, limit int) (answer, error) {
	env, err := o.engine.Search(ctx, engine.SearchRequest{Query: text, Limit: limit})
	if err != nil {
		return answer{}, err
	}
	if env.Partial {
		return answer{}, errors.New("the answer is partial")
	}
	a := answer{total: env.Total}
	for _, h := range env.Hits {
		if h.Match == nil || h.Match.Score == nil {
			return answer{}, errors.New("a hit has no score")
		}
		a.scores = append(a.scores, *h.Match.Score)
	}
	return a, nil
}

func (o *ours) Close() error { return o.engine.Close() }
