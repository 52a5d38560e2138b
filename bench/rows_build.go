package main

import (
	"context"
	"fmt"
	"path/filepath"
)

// A buildFigure makes a figure of what a build took and the bytes of text.
type buildFigure func(b *built, text float64) float64

var (
	rate      buildFigure = func(b *built, text float64) float64 { return text / 1e6 / b.CPU }
	rateAll   buildFigure = func(b *built, text float64) float64 { return text / 1e6 / (b.CPU + b.Extra) }
	peak      buildFigure = func(b *built, _ float64) float64 { return float64(b.Peak) / (1 << 20) }
	share     buildFigure = func(b *built, text float64) float64 { return float64(b.Size) / text }
	indexOnly buildFigure = func(b *built, text float64) float64 { return float64(b.Index) / text }
	amplified buildFigure = func(b *built, _ float64) float64 {
		if b.Written < 0 {
			return -1
		}
		return float64(b.Written) / float64(b.Kept)
	}
)

// A buildRow is a row about indexes: which of ours and which of a peer's are compared.
type buildRow struct {
	id     string
	unit   string
	larger bool
	ours   string
	figure buildFigure
	theirs map[string]string // build of each peer
	note   string
	cases  []buildCase
}

type buildCase struct {
	name   string
	ours   string
	figure buildFigure
	theirs map[string]string
	peers  buildFigure
}

// indexers are the peers' builds without texts.
var indexers = map[string]string{"fts5": "fts5", "bleve": "bleve", "bluge": "bluge", "xapian": "xapian"}

// with replaces FTS5's build.
func with(fts5 string) map[string]string {
	return map[string]string{"fts5": fts5, "bleve": "bleve", "bluge": "bluge", "xapian": "xapian"}
}

var buildTable = []buildRow{
	{"I1", "MB/s", true, "archive", rate, with("fts5-content"),
		"ours: parse session files, keep their bytes and texts, index, sync, merge. FTS5: texts kept and indexed, not durable, before optimize; bleve, bluge, Xapian: index only",
		[]buildCase{{"without source bytes", "archive-lean", rate, with("fts5-content"), rate}}},
	{"I2", "MB/s", true, "blocks", rate, indexers, "ours: segments.Writer, one merged segment, synced; FTS5 contentless before optimize",
		[]buildCase{{"with optimize / merge to one", "blocks", rate, indexers, rateAll}}},
	{"I5", "MiB", false, "archive", peak, with("fts5-default"), "resident at the peak in a process of its own, mapped files included; FTS5 with texts and its default cache",
		[]buildCase{{"index only", "blocks", peak, indexers, peak}}},
	{"I6", "ratio", false, "archive", amplified, with("fts5-default"), "write_bytes of the process over bytes on disk; FTS5 with texts, WAL, 1,000 rows a transaction; the others not durable",
		[]buildCase{{"index only", "blocks", amplified, indexers, amplified}}},
	{"S1", "ratio", false, "blocks", share, indexers, "FTS5 after optimize and VACUUM, bleve merged to one segment, Xapian compacted",
		[]buildCase{{"the engine's index with its 90 columns", "archive", indexOnly, indexers, share}}},
	{"S2", "ratio", false, "archive-lean", share, map[string]string{"fts5": "fts5-content"}, "ours without source bytes (DropRaw); FTS5 with texts, optimize, VACUUM",
		[]buildCase{{"with source bytes", "archive", share, map[string]string{"fts5": "fts5-content"}, share}}},
}

// buildRows reports what making and keeping indexes took.
func (x *comparison) buildRows(ctx context.Context) error {
	for _, t := range buildTable {
		if !x.c.wants(t.id) {
			continue
		}
		r := newRow(t.id, t.unit, t.larger)
		r.Note = t.note
		if err := x.fill(ctx, r, t.ours, t.figure, t.theirs, t.figure); err != nil {
			return err
		}
		for _, k := range t.cases {
			part := newCase(k.name, t.unit, t.larger)
			if err := x.fill(ctx, part, k.ours, k.figure, k.theirs, k.peers); err != nil {
				return err
			}
			r.Cases = append(r.Cases, part.finish())
		}
		x.r.add(r.finish())
	}
	return x.profileBuilds(ctx)
}

func (x *comparison) fill(ctx context.Context, r *row, ours string, figure buildFigure, theirs map[string]string, peers buildFigure) error {
	text := float64(x.layout.Bytes)
	b, err := x.make(ctx, ours)
	if err != nil {
		return err
	}
	r.ours(figure(b, text))
	for _, name := range peerNames {
		if theirs[name] == "" {
			continue
		}
		b, why, err := x.peer(ctx, name, theirs[name])
		switch {
		case err != nil:
			return err
		case why != "":
			r.missing(name, why)
		default:
			r.theirs(name, peers(b, text))
		}
	}
	return nil
}

// profileBuilds makes our indexes again under the profiler, if profiles are wanted.
func (x *comparison) profileBuilds(ctx context.Context) error {
	for id, what := range map[string]string{"I1": "archive", "I2": "blocks"} {
		if x.c.profiles == "" || !x.c.wants(id) {
			continue
		}
		dir, err := x.scratch("profiled")
		if err != nil {
			return err
		}
		x.c.log("profiling %s", what)
		err = profile(filepath.Join(x.c.profiles, id+".pprof"), func() error {
			if what == "blocks" {
				return writeBlocks(x.c.dir, dir)
			}
			return importHome(ctx, filepath.Join(dir, "archive"), homePath(x.c.dir), false, &built{})
		})
		if err != nil {
			return fmt.Errorf("profile %s: %w", what, err)
		}
	}
	return nil
}
