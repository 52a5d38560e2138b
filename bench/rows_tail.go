package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hansard-search/hansard/engine"
)

// tailRow compares the slow queries of a mixed log with the median, and with the same
// log beside an import.
func (x *comparison) tailRow(ctx context.Context, e *engine.Engine) (err error) {
	r := newRow("Q14", "p99/p50", false)
	r.Note = "wall time of whole searches, each question once in random order. Cases: p99 in ms, idle and beside an import at full speed, and their ratio, which is to be 1.3 at most"
	var texts []string
	for _, q := range x.questions {
		if slices.Contains(searchClasses, q.class) {
			texts = append(texts, q.text())
		}
	}
	if len(texts) < 20 {
		r.Reason = "the corpus is too small for a log"
		x.r.add(r.finish())
		return nil
	}
	shuffle(x.c.seed, texts)
	if _, err := wallTimes(ctx, e, texts); err != nil { // all caches are warm then
		return err
	}
	idle, err := wallTimes(ctx, e, texts)
	if err != nil {
		return err
	}
	home, err := x.more()
	if err != nil {
		return err
	}
	imported := make(chan error, 1)
	go func() {
		_, err := e.Import(ctx, engine.ImportRequest{Home: home})
		imported <- err
	}()
	busy, whole, err := untilImported(ctx, e, texts, imported)
	if err != nil {
		return err
	}
	p99 := func(of []time.Duration) float64 { return micros(percentile(of, 0.99)) / 1e3 }
	r.ours(p99(idle) / (micros(percentile(idle, 0.5)) / 1e3))
	quiet, loud := p99(idle), p99(busy)
	part := newCase("p99 beside an import", "ms", false).ours(loud)
	target := 1 / 1.3
	part.Target, part.BestPeer, part.Peer, part.Ratio = &target, &quiet, "ours, idle", ratioOf(loud, quiet, false)
	part.Note = fmt.Sprintf("%d searches beside the import of %d blocks; import ended in between: %t", len(busy), x.moreBlocks(), whole)
	r.Cases = append(r.Cases, part.finish())
	return x.peerTail(ctx, r)
}

// untilImported searches until the import ends, at least once.
func untilImported(ctx context.Context, e *engine.Engine, texts []string, imported <-chan error) (took []time.Duration, ended bool, err error) {
	for i := 0; ; i++ {
		select {
		case err := <-imported:
			return took, true, err
		default:
		}
		start := time.Now()
		if _, err := e.Search(ctx, engine.SearchRequest{Query: texts[i%len(texts)], Limit: limit}); err != nil {
			return took, false, errors.Join(err, <-imported)
		}
		took = append(took, time.Since(start))
	}
}

// peerTail adds FTS5's p99 over p50 of the same log.
func (x *comparison) peerTail(ctx context.Context, r *row) (err error) {
	_, why, err := x.peer(ctx, "fts5", "fts5-grouped")
	if err != nil {
		return err
	}
	if why != "" {
		x.r.add(r.missing("fts5", why).finish())
		return nil
	}
	g, err := openGrouped(x.c.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	var took []time.Duration
	for round := range 2 {
		took = took[:0]
		for _, q := range x.questions {
			if !slices.Contains(searchClasses, q.class) {
				continue
			}
			start := time.Now()
			if _, _, err := g.Search(ctx, q); err != nil {
				return err
			}
			took = append(took, time.Since(start))
		}
		x.c.log("FTS5's log, pass %d", round+1)
	}
	r.theirs("fts5", float64(percentile(took, 0.99))/float64(percentile(took, 0.5)))
	x.r.add(r.finish())
	return nil
}
