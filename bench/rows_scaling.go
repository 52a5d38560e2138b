package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/hansard-search/hansard/engine"
)

// scalingRow imports the second corpus with one processor and with two.
func (x *comparison) scalingRow(ctx context.Context) error {
	r := newRow("I3", "x", true)
	home, err := x.more()
	if err != nil {
		return err
	}
	wall := [2]float64{}
	for i := range wall {
		dir, err := x.scratch(fmt.Sprintf("cores-%d", i+1))
		if err != nil {
			return err
		}
		if wall[i], err = importWith(ctx, dir, home, i+1); err != nil {
			return err
		}
	}
	ratio := wall[0] / wall[1]
	r.ours(ratio)
	r.BestPeer, r.Peer, r.Ratio = new(float64), "ours, one core", &ratio
	*r.BestPeer = 1
	r.Note = fmt.Sprintf("wall time of an import of %d blocks with GOMAXPROCS 1 (%.1f s) and 2 (%.1f s); the machine's other load weighs on it", x.moreBlocks(), wall[0], wall[1])
	x.r.add(r.finish())
	return nil
}

// importWith imports home into a new archive with so many processors, and returns the
// seconds until all of it was searchable.
func importWith(ctx context.Context, dir, home string, processors int) (seconds float64, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
	e, err := openArchive(filepath.Join(dir, "archive"), false)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	start := time.Now()
	if _, err := e.Import(ctx, engine.ImportRequest{Home: home}); err != nil {
		return 0, err
	}
	_, _, err = searchArchive(ctx, e, "a")
	return time.Since(start).Seconds(), err
}

func shuffle(seed uint64, texts []string) {
	rand.New(rand.NewPCG(seed, 0x6c6f67)).Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
}

// removeScratches removes what this run alone needed.
func (x *comparison) removeScratches() error {
	for _, dir := range x.scratches {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}
