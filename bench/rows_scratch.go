package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hansard-search/hansard/bench/corpus"
	"github.com/hansard-search/hansard/engine"
)

// scratch makes an empty folder below the work folder, removed at the end of the run.
func (x *comparison) scratch(name string) (string, error) {
	dir := filepath.Join(x.c.dir, "scratch-"+name)
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	x.scratches = append(x.scratches, dir)
	return dir, os.MkdirAll(dir, 0o755)
}

// moreBlocks is the size of the second corpus, which is imported beside searches.
func (x *comparison) moreBlocks() int { return min(max(x.c.blocks/4, 200), 50_000) }

// more writes the second corpus: other sessions than the first.
func (x *comparison) more() (string, error) {
	dir, err := x.scratch("more")
	if err != nil {
		return "", err
	}
	for s := range corpus.Sessions(corpus.Options{Blocks: x.moreBlocks(), Seed: x.c.seed + 1}) {
		if _, err := corpus.Write(dir, s); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// scratchRows measures what changes an archive, on a copy of it.
func (x *comparison) scratchRows(ctx context.Context) (err error) {
	if _, err := x.make(ctx, "archive"); err != nil {
		return err
	}
	dir, err := x.scratch("archive")
	if err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(dir, "a"), os.DirFS(archivePath(x.c.dir))); err != nil {
		return err
	}
	e, err := openArchive(filepath.Join(dir, "a"), false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	for _, row := range []struct {
		id  string
		run func(context.Context, *engine.Engine) error
	}{{"I7", x.changedRow}, {"I4", x.appendRow}, {"Q14", x.tailRow}} {
		if x.c.wants(row.id) {
			if err := row.run(ctx, e); err != nil {
				return fmt.Errorf("%s: %w", row.id, err)
			}
		}
	}
	return nil
}

// changedRow changes every hundredth session by one message.
func (x *comparison) changedRow(ctx context.Context, e *engine.Engine) (err error) {
	r := newRow("I7", "ms", false)
	changed := map[uint32]bool{}
	var restore []func() error
	defer func() {
		for _, f := range restore {
			err = errors.Join(err, f())
		}
	}()
	err = filepath.WalkDir(homePath(x.c.dir), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		n, err := strconv.ParseUint(entry.Name()[:8], 16, 32)
		if err != nil || n%100 != 0 {
			return err
		}
		changed[uint32(n)] = true
		fi, err := entry.Info()
		if err != nil {
			return err
		}
		restore = append(restore, func() error { return os.Truncate(path, fi.Size()) })
		return appendRecord(path, strings.TrimSuffix(entry.Name(), ".jsonl"), 0, "changed")
	})
	if err != nil {
		return err
	}
	start := processCPU()
	err = x.profiled("I7", func() error {
		if _, err := e.Import(ctx, engine.ImportRequest{Home: homePath(x.c.dir)}); err != nil {
			return err
		}
		if _, _, err := searchArchive(ctx, e, "changed"); err != nil {
			return err
		}
		return settle(ctx)
	})
	if err != nil {
		return err
	}
	r.ours(float64((processCPU() - start).Milliseconds()))
	rows := map[int64]string{}
	err = documents(x.c.dir, func(b *block) error {
		if changed[b.session] {
			rows[int64(b.number)+1] = plainText.Replace(b.text)
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.Note = fmt.Sprintf("%d sessions of %d blocks; ours finds them among %d files, reads them, and ends idle after merges; FTS5 with texts: DELETE and INSERT of their rows, not durable",
		len(changed), len(rows), x.layout.Sessions)
	_, why, err := x.peer(ctx, "fts5", "fts5-content")
	if err != nil {
		return err
	}
	if why != "" {
		x.r.add(r.missing("fts5", why).finish())
		return nil
	}
	took, err := reindexFTS5(x.c.dir, rows)
	x.r.add(r.theirs("fts5", float64(took.Microseconds())/1e3).finish())
	return err
}

// appendRecord adds one message to a session file.
func appendRecord(path, session string, n int, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, `{"type":"user","uuid":"%s-appended-%06d","sessionId":"%s","cwd":"/bench","timestamp":"%s","message":{"role":"user","content":"%s"}}`+"\n",
		session, n, session, time.Date(2027, 1, 1, 0, 0, n, 0, time.UTC).Format("2006-01-02T15:04:05.000Z"), text)
	return errors.Join(err, f.Close())
}
