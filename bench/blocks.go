package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/postings"
	"github.com/hansard-search/hansard/query"
	"github.com/hansard-search/hansard/segments"
)

// flushBytes is the engine's default for a segment under construction.
const flushBytes = 32 << 20

// blockSchema are the columns of the block index: what the filtered questions read.
var blockSchema = []segments.Column{
	{Name: "session.repo", Unit: postings.Session, Kind: segments.Keyword},
	{Name: "session.time", Unit: postings.Session, Kind: segments.Number},
}

func blocksPath(dir string) string { return filepath.Join(dir, "blocks") }

// buildBlocks writes the index of all texts as the engine would after its merges:
// one segment, through the engine's own writer and with its limit of memory, synced.
// There is no store, and two columns in place of the engine's ninety.
func buildBlocks(dir string) error { return writeBlocks(dir, blocksPath(dir)) }

// writeBlocks writes the segment into the folder path.
func writeBlocks(dir, path string) error {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	w, err := segments.NewWriter(segments.Options{Schema: blockSchema, SpillBytes: flushBytes, FS: vfs.Default, TempDir: path})
	if err != nil {
		return err
	}
	defer w.Close()
	open := int64(-1)
	err = documents(dir, func(d *block) error {
		if open != int64(d.session) {
			if open >= 0 {
				if err := w.EndSession(); err != nil {
					return err
				}
			}
			open = int64(d.session)
			vals := []segments.Value{{Column: 0, Text: repoName(d.repo)}, {Column: 1, Number: d.time}}
			if err := w.BeginSession(segments.Ref{No: uint64(d.session) + 1, Rev: 1}, vals); err != nil {
				return err
			}
		}
		if err := w.Message(false, nil); err != nil {
			return err
		}
		return w.Block(d.text, false, nil)
	})
	if err != nil {
		return err
	}
	if err := w.EndSession(); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(path, segments.Name(1)))
	if err != nil {
		return err
	}
	_, err = w.Finish(f)
	return errors.Join(err, f.Sync(), f.Close())
}

// noLimits: no peer refuses a prefix of many words, so that neither do we.
var noLimits = query.Limits{Prefix: -1, Memory: -1}

// ourBlocks is our index of blocks, read as an embedder reads it: query over
// segments, without the engine.
type ourBlocks struct {
	segment *segments.Segment
	sources []query.Source
}

func openBlocks(dir string) (*ourBlocks, error) {
	s, err := segments.OpenFile(vfs.Default, filepath.Join(blocksPath(dir), segments.Name(1)))
	if err != nil {
		return nil, err
	}
	return &ourBlocks{s, []query.Source{segments.NewView(s, postings.Set{})}}, nil
}

func (o *ourBlocks) Name() string { return ourName }

func (o *ourBlocks) Close() error { return o.segment.Unref() }

func (o *ourBlocks) Prepare(q *question) (prepared, error) {
	p, err := query.Compile(q.text(), query.Options{})
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", q.text(), err)
	}
	return &ourQuestion{o, p}, nil
}

type ourQuestion struct {
	index *ourBlocks
	plan  *query.Plan
}

// ask runs the plan: the best blocks, or their number.
func (x *ourQuestion) ask(ctx context.Context, m mode) (answer, []query.BlockHit, error) {
	if m == count {
		n, err := query.CountBlocks(ctx, x.plan, x.index.sources, query.RunOptions{Limits: noLimits})
		return answer{count: n}, nil, err
	}
	hits, err := query.TopBlocks(ctx, x.plan, x.index.sources, query.RunOptions{Limit: limit, Limits: noLimits})
	return answer{}, hits, err
}

func (x *ourQuestion) Ask(ctx context.Context, m mode) (answer, error) {
	a, hits, err := x.ask(ctx, m)
	for _, h := range hits {
		a.blocks, a.scores = append(a.blocks, uint32(h.Block)), append(a.scores, h.Score)
	}
	return a, err
}

func (x *ourQuestion) Time(ctx context.Context, m mode, n int) (time.Duration, error) {
	return timed(n, func() error {
		_, _, err := x.ask(ctx, m)
		return err
	})
}
