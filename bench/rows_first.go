package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/hansard-search/hansard/engine"
)

// firstRuns is how many new processes each engine is started in.
const firstRuns = 15

// firstHitsRow measures new processes from their start to their end, after ten hits
// were printed. Snippets are made by ours and FTS5; bleve has no texts here.
func (x *comparison) firstHitsRow(ctx context.Context) error {
	r, cold := newRow("Q15", "ms", false), newCase("caches evicted", "ms", false)
	r.Note = fmt.Sprintf("wall time, median of %d processes, each with another term in 0.5-3 %% of the blocks; ours opens for reading. bleve: ids without snippets", firstRuns)
	questions := x.ofClass("term-mid")
	if len(questions) == 0 {
		r.Reason = "the corpus is too small for this class"
		x.r.add(r.finish())
		return nil
	}
	if _, err := x.make(ctx, "archive"); err != nil {
		return err
	}
	paths := map[string]string{ourName: archivePath(x.c.dir)}
	for name, what := range map[string]string{"fts5": "fts5-content", "bleve": "bleve"} {
		_, why, err := x.peer(ctx, name, what)
		if err != nil {
			return err
		}
		if why != "" {
			r.missing(name, why)
			cold.missing(name, why)
			continue
		}
		paths[name] = builders()[what].path(x.c.dir)
	}
	for _, evicted := range []bool{false, true} {
		part := r
		if evicted {
			part = cold
		}
		took := map[string][]time.Duration{}
		for i := range firstRuns {
			for name, path := range paths {
				d, err := x.newProcess(ctx, name, path, questions[i%len(questions)], evicted)
				if err != nil {
					return err
				}
				took[name] = append(took[name], d)
			}
		}
		for name, of := range took {
			if v := micros(percentile(of, 0.5)) / 1e3; name == ourName {
				part.ours(v)
			} else {
				part.theirs(name, v)
			}
		}
	}
	r.Cases = append(r.Cases, cold.finish())
	x.r.add(r.finish())
	if x.c.profiles == "" {
		return nil
	}
	return profile(filepath.Join(x.c.profiles, "Q15.pprof"), func() error {
		for i := range firstRuns {
			if _, err := firstOurs(ctx, paths[ourName], questions[i%len(questions)].text()); err != nil {
				return err
			}
		}
		return nil
	})
}

func (x *comparison) newProcess(ctx context.Context, name, path string, q *question, evicted bool) (time.Duration, error) {
	if evicted {
		if err := evictAll(path); err != nil {
			return 0, err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	text := q.text()
	if name != ourName {
		text = q.terms[0]
	}
	cmd := exec.CommandContext(ctx, self, childCommand, "first-hits", name, x.c.dir, text)
	cmd.Stderr = os.Stderr
	start := time.Now()
	out, err := cmd.Output()
	took := time.Since(start)
	if err != nil {
		return 0, fmt.Errorf("%s in a new process: %w", name, err)
	}
	if want := fmt.Sprintln(limit); string(out) != want && name != ourName || len(out) < 2 {
		return 0, fmt.Errorf("%s in a new process printed %q, want %q", name, out, want)
	}
	return took, nil
}

func evictAll(path string) error {
	return filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		return evict(p)
	})
}

// firstHits is the new process: it prints how many hits it found.
func firstHits(ctx context.Context, args []string) error {
	if len(args) != 3 {
		return errors.New("usage: build-one first-hits ENGINE DIR TEXT")
	}
	name, dir, text := args[0], args[1], args[2]
	n, err := 0, error(nil)
	switch name {
	case ourName:
		n, err = firstOurs(ctx, archivePath(dir), text)
	case "fts5":
		n, err = firstFTS5(dir, `"`+text+`"`)
	case "bleve":
		n, err = firstBleve(ctx, dir, text)
	default:
		err = fmt.Errorf("no engine %s", name)
	}
	if err == nil {
		fmt.Println(n)
	}
	return err
}

func firstOurs(ctx context.Context, path, text string) (n int, err error) {
	e, err := engine.Open(path, engine.Options{ReadOnly: true, QueryLimits: engine.QueryLimits{Limits: noLimits}})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	_, scores, err := searchArchive(ctx, e, text)
	return len(scores), err
}

func firstBleve(ctx context.Context, dir, text string) (n int, err error) {
	e, err := openBleve(dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	p, err := e.Prepare(&question{op: all, terms: []string{text}})
	if err != nil {
		return 0, err
	}
	a, err := p.Ask(ctx, top)
	return len(a.blocks), err
}

// budgetRow compares with budgets instead of peers.
func (x *comparison) budgetRow(ctx context.Context) (err error) {
	if _, err := x.make(ctx, "archive"); err != nil {
		return err
	}
	e, err := openArchive(archivePath(x.c.dir), false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	r := newRow("P1", "x", true)
	r.Reason = fmt.Sprintf("measured with %d sessions, not 100,000, and there are no facets yet", x.layout.Sessions)
	r.Note = "wall time beside the budget; cases: ours and the budget in ms"
	var texts []string
	for _, q := range x.questions {
		if q.where == nil {
			texts = append(texts, q.text())
		}
	}
	for _, k := range []struct {
		name   string
		budget float64
		texts  []string
	}{{"query p50", 100, texts}, {"list p50", 300, make([]string, 50)}} {
		took, err := wallTimes(ctx, e, k.texts)
		if err != nil {
			return err
		}
		part := newCase(k.name, "ms", false)
		ours, target := micros(percentile(took, 0.5))/1e3, 50.0
		part.Target, part.BestPeer, part.Peer, part.Ratio = &target, &k.budget, "budget", ratioOf(ours, k.budget, false)
		r.Cases = append(r.Cases, part.ours(ours).finish())
	}
	facets := newCase("facets p50", "ms", false)
	facets.Reason = noAggregates
	r.Cases = append(r.Cases, facets.finish())
	x.r.add(r.finish())
	return nil
}

// wallTimes asks each text once, after a first one that does not count.
func wallTimes(ctx context.Context, e *engine.Engine, texts []string) ([]time.Duration, error) {
	out := make([]time.Duration, 0, len(texts)+1)
	for i, text := range append([]string{""}, texts...) {
		start := time.Now()
		if _, err := e.Search(ctx, engine.SearchRequest{Query: text, Limit: limit}); err != nil {
			return nil, fmt.Errorf("query %s: %w", text, err)
		}
		if i > 0 {
			out = append(out, time.Since(start))
		}
	}
	return out, nil
}
