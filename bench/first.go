package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/hansard-search/hansard/bench/corpus"
)

// limit is the page size of every query.
const limit = 10

type config struct {
	blocks, queries, rounds int
	seed                    uint64
	dir                     string
	profiles                string // folder; empty for no profiles
	log                     func(format string, args ...any)
}

func (c config) corpus() corpus.Options { return corpus.Options{Blocks: c.blocks, Seed: c.seed} }

// first runs the benchmark. An answer on which the engines differ is an error that
// comes with the report.
func first(ctx context.Context, c config) (r *report, err error) {
	dir, err := os.MkdirTemp(c.dir, "hansard-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r = newReport(c)
	home := filepath.Join(dir, "home")
	c.log("writing %d blocks", c.blocks)
	if r.Corpus.Sessions, err = corpus.Write(home, c.corpus()); err != nil {
		return nil, fmt.Errorf("write the corpus: %w", err)
	}
	o, cost, err := importAll(ctx, c, dir, home)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	p, err := openFTS5(dir, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	dense, err := openFTS5(dir, true)
	if err != nil {
		return nil, err
	}
	fed, err := feed(ctx, c, dense, p)
	err = errors.Join(err, dense.Close())
	if err != nil {
		return nil, err
	}
	if cost.blocks != int64(c.blocks) {
		return nil, fmt.Errorf("the archive has %d blocks, the corpus %d", cost.blocks, c.blocks)
	}
	if err := r.index(ctx, o, cost, p, fed); err != nil {
		return nil, err
	}
	queries := fed.words.draw(c.queries)
	fed.words = nil
	runtime.GC()
	return r, compare(ctx, c, r, o, p, queries)
}

func importAll(ctx context.Context, c config, dir, home string) (*ours, importCost, error) {
	c.log("importing")
	o, err := openOurs(dir)
	if err != nil {
		return nil, importCost{}, err
	}
	var cost importCost
	err = profile(c, "import", func() (err error) {
		cost, err = o.Import(ctx, home)
		return err
	})
	if err == nil {
		err = os.RemoveAll(home)
	}
	if err == nil {
		err = o.Reopen()
	}
	if err != nil {
		return nil, importCost{}, errors.Join(err, o.Close())
	}
	return o, cost, nil
}

// A feeding is what it took to give a peer the texts of a corpus.
type feeding struct {
	text     int64 // bytes
	cpu      time.Duration
	optimize time.Duration
	size     int64
	words    *vocabulary
}

// extraFold is the one fold that hansard adds to unicode61. The peer gets the texts
// with it applied, so that both index the same terms.
var extraFold = strings.NewReplacer("ł", "l", "Ł", "L")

// feed gives the corpus to p, which is measured, and to the peer that will be
// searched. It counts nothing but the CPU time of its own thread inside p.
func feed(ctx context.Context, c config, p, searched peer) (*feeding, error) {
	c.log("indexing with %s", p.Name())
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	f := &feeding{words: newVocabulary(c.seed)}
	var batch []document
	add := func() error {
		start := threadCPU()
		err := p.Add(batch)
		f.cpu += threadCPU() - start
		err = errors.Join(err, searched.Add(batch), ctx.Err())
		batch = batch[:0]
		return err
	}
	session := 0
	for s := range corpus.Sessions(c.corpus()) {
		for i, b := range s.Blocks {
			text := corpus.SearchText(b)
			f.text += int64(len(text))
			f.words.add(text)
			batch = append(batch, document{session, i, extraFold.Replace(text)})
		}
		if session++; len(batch) > 20_000 {
			if err := add(); err != nil {
				return nil, err
			}
		}
	}
	if err := add(); err != nil {
		return nil, err
	}
	start := threadCPU()
	size, err := p.Optimize()
	f.size, f.optimize = size, threadCPU()-start
	if err == nil {
		_, err = searched.Optimize()
	}
	return f, err
}
