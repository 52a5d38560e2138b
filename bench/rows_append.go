package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/hansard-search/hansard/engine"
)

// appends is how many messages are added one by one.
const appends = 100

// appendRow adds messages to one session, each imported and acknowledged by itself.
func (x *comparison) appendRow(ctx context.Context, e *engine.Engine) error {
	r := newRow("I4", "1/s", true)
	r.Note = fmt.Sprintf("%d messages appended to a session file, each imported by itself into the whole archive; FTS5 with texts: one INSERT each, WAL, synchronous FULL", appends)
	dir, err := x.scratch("append")
	if err != nil {
		return err
	}
	session := "ffffffff-0000-4000-8000-000000000001"
	path := filepath.Join(dir, session+".jsonl")
	texts := make([]string, appends)
	var imports, searches time.Duration
	err = x.profiled("I4", func() error {
		for i := range texts {
			texts[i] = fmt.Sprintf("appended message number%d about the harbour and its cranes", i)
			if err := appendRecord(path, session, i, texts[i]); err != nil {
				return err
			}
			start := time.Now()
			if _, err := e.Import(ctx, engine.ImportRequest{Paths: []string{path}}); err != nil {
				return err
			}
			imports += time.Since(start)
			start = time.Now()
			total, _, err := searchArchive(ctx, e, fmt.Sprintf("number%d harbour", i))
			if err != nil {
				return err
			}
			searches += time.Since(start)
			if total != 1 {
				return fmt.Errorf("an acknowledged message is found in %d sessions", total)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.ours(appends / imports.Seconds())
	both := newCase("and a search that finds it", "1/s", true).ours(appends / (imports + searches).Seconds())
	both.Reason = "of the peer it was not measured"
	r.Cases = append(r.Cases, both.finish())
	_, why, err := x.peer(ctx, "fts5", "fts5-default")
	if err != nil {
		return err
	}
	if why != "" {
		x.r.add(r.missing("fts5", why).finish())
		return nil
	}
	perSecond, err := appendFTS5(x.c.dir, texts)
	x.r.add(r.theirs("fts5", perSecond).finish())
	return err
}
