package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// childCommand is how this program calls itself for one build, so that CPU time,
// memory and writes are those of one engine alone.
const childCommand = "build-one"

// A built says what one build took. All CPU time of its process counts, background
// threads and reading the texts included.
type built struct {
	What    string  `json:"what"`
	CPU     float64 `json:"cpu"`     // seconds, until the index can be searched
	Extra   float64 `json:"extra"`   // seconds more, to bring it into the form it is searched fastest in
	Wall    float64 `json:"wall"`    // seconds, without Extra
	Peak    int64   `json:"peak"`    // resident bytes
	Written int64   `json:"written"` // bytes sent to storage, before Extra; -1 if not known
	Kept    int64   `json:"kept"`    // bytes on disk before Extra
	Size    int64   `json:"size"`    // bytes on disk at the end
	Index   int64   `json:"index"`   // of them, the inverted index; 0 if all
	Missing string  `json:"missing"` // why there is no such engine here
	Version string  `json:"version"` // of the engine
}

// A builder makes one index. optimize may be nil.
type builder struct {
	path  func(dir string) string
	build func(ctx context.Context, dir string, b *built) (optimize func() error, err error)
}

func builders() map[string]builder {
	return map[string]builder{
		"blocks":       {blocksPath, func(_ context.Context, dir string, _ *built) (func() error, error) { return nil, buildBlocks(dir) }},
		"archive":      {archivePath, buildArchive(false)},
		"archive-lean": {leanPath, buildArchive(true)},
		"fts5":         {fts5Path(""), buildFTS5("")},
		"fts5-grouped": {fts5Path("-grouped"), buildFTS5("-grouped")},
		"fts5-content": {fts5Path("-content"), buildFTS5("-content")},
		"fts5-default": {fts5Path("-default"), buildFTS5("-default")},
		"bleve":        {blevePath, buildBleve},
		"bluge":        {blugePath, buildBluge},
		"xapian":       {xapianPath, buildXapian},
	}
}

// make builds an index below the work folder unless it is there. An engine that is
// missing here is no error: its built says so.
func (c config) build(ctx context.Context, what string) (*built, error) {
	mark := filepath.Join(c.dir, what+".json")
	if b, err := os.ReadFile(mark); err == nil {
		var out built
		return &out, json.Unmarshal(b, &out)
	}
	c.log("building %s", what)
	if err := os.RemoveAll(builders()[what].path(c.dir)); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, childCommand, what, c.dir)
	cmd.Stderr = os.Stderr
	b, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", what, err)
	}
	var out built
	if err := json.Unmarshal(b, &out); err != nil {
		return nil, fmt.Errorf("build %s: %w", what, err)
	}
	if out.Missing != "" {
		return &out, nil
	}
	return &out, os.WriteFile(mark, b, 0o644)
}

// runChild makes one index and prints what that took.
func runChild(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == "first-hits" {
		return firstHits(ctx, args[1:])
	}
	if len(args) != 2 {
		return errors.New("usage: build-one WHAT DIR")
	}
	b := &built{What: args[0]}
	err := b.measure(ctx, builders()[args[0]], args[1])
	if errors.Is(err, errMissing) {
		b.Missing, err = err.Error(), nil
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(b)
}

func (b *built) measure(ctx context.Context, how builder, dir string) error {
	if how.build == nil {
		return fmt.Errorf("nothing is called %s", b.What)
	}
	resetPeak()
	wall, cpu, wrote := time.Now(), processCPU(), written()
	optimize, err := how.build(ctx, dir, b)
	if err != nil {
		return err
	}
	b.Wall, b.CPU = time.Since(wall).Seconds(), b.CPU+(processCPU()-cpu).Seconds()
	if b.Peak == 0 {
		b.Peak = peakRSS()
	}
	if b.Written == 0 {
		b.Written = -1
		if wrote >= 0 {
			b.Written = written() - wrote
		}
	}
	if b.Kept, err = diskSize(how.path(dir)); err != nil {
		return err
	}
	b.Size = b.Kept
	if optimize == nil {
		return nil
	}
	cpu = processCPU()
	if err := optimize(); err != nil {
		return err
	}
	b.Extra += (processCPU() - cpu).Seconds()
	b.Size, err = diskSize(how.path(dir))
	return err
}

// diskSize adds up the files at path, which may be one file with others that share
// its name, as SQLite keeps them.
func diskSize(path string) (int64, error) {
	var n int64
	for _, p := range []string{path, path + "-wal", path + "-journal"} {
		err := filepath.WalkDir(p, func(_ string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			fi, err := e.Info()
			if err == nil {
				n += fi.Size()
			}
			return err
		})
		if err != nil && !(p != path && errors.Is(err, fs.ErrNotExist)) {
			return n, err
		}
	}
	return n, nil
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
