package engine

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/internal/faultfs"
	"github.com/hansard-search/hansard/segments"
)

// A call is something that a user of an engine may be in the middle of.
type call struct {
	name string
	do   func(ctx context.Context, e *Engine) error
}

// calls are all sorts of calls. src is a folder of session files, ids are sessions.
func calls(r *rand.Rand, src string, ids []string) []call {
	one := func() string { return ids[r.IntN(len(ids))] }
	read, raw, query := one(), one(), randomExpression(r, 2)
	return []call{
		{"search", func(ctx context.Context, e *Engine) error {
			_, err := e.Search(ctx, SearchRequest{Query: query, Limit: 50})
			return err
		}},
		{"list", func(ctx context.Context, e *Engine) error {
			_, err := e.Search(ctx, SearchRequest{Query: "messages >= 1", Limit: 50})
			return err
		}},
		{"units", func(ctx context.Context, e *Engine) error {
			_, err := e.Units(ctx, UnitRequest{Expression: "blocks where NOT type:image", Limit: 500})
			return err
		}},
		{"import", func(ctx context.Context, e *Engine) error {
			_, err := e.Import(ctx, ImportRequest{Paths: []string{src}, Force: true})
			return err
		}},
		{"rebuild", func(ctx context.Context, e *Engine) error { _, err := e.Rebuild(ctx, nil); return err }},
		{"check", func(ctx context.Context, e *Engine) error { _, err := e.Check(ctx); return err }},
		{"stats", func(ctx context.Context, e *Engine) error { _, err := e.Stats(ctx); return err }},
		{"read", func(ctx context.Context, e *Engine) error {
			reading, err := e.Read(ctx, read)
			if err != nil {
				return err
			}
			defer reading.Close()
			for _, err := range reading.Messages() {
				if err != nil {
					return err
				}
			}
			reading.Close()
			return nil
		}},
		{"raw", func(ctx context.Context, e *Engine) error {
			rc, err := e.Raw(ctx, raw)
			if err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, rc)
			return errors.Join(err, rc.Close())
		}},
	}
}

// leaks is what must not be left when an engine is closed.
type leaks struct {
	t    *testing.T
	fs   *faultfs.FS
	segs []*segments.Segment
}

// note remembers the segments of an engine.
func (l *leaks) note(e *Engine) {
	e.index.mu.Lock()
	defer e.index.mu.Unlock()
	for _, m := range e.index.members {
		l.segs = append(l.segs, m.seg)
	}
}

func (l *leaks) none(e *Engine) {
	l.t.Helper()
	if open := l.fs.OpenFiles(); len(open) > 0 {
		l.t.Errorf("files are open after Close: %v", open)
	}
	if n := e.store.Snapshots(); n != 0 {
		l.t.Errorf("%d snapshots are open after Close", n)
	}
	for _, s := range l.segs {
		// Whoever gives a segment back once too often is told so.
		if err := s.Unref(); !errors.Is(err, segments.ErrClosed) {
			l.t.Errorf("segment %s is held after Close (%v)", s.Name(), err)
		}
	}
}

// TestCloseAnywhere closes engines at random points of everything that they can do,
// twice at once. Whatever a call returns is an answer or ARCHIVE_CLOSED; Close takes
// no longer than two seconds; no goroutine, file, snapshot or segment is left; and
// the archive opens again, whole.
func TestCloseAnywhere(t *testing.T) {
	defer noLeaks(t)()
	r := seeded(t)
	rounds := 3
	if *long {
		rounds = 400
	}
	src := &world{t: t, src: t.TempDir()}
	src.put(randomScripts(r, 20)...)
	worst := time.Duration(0)
	ended := map[string]int{}
	for round := range rounds {
		l := &leaks{t: t, fs: faultfs.New(vfs.NewMem())}
		o := Options{Create: true, FS: l.fs, FlushBytes: 1 << (10 + r.IntN(8)), Workers: 1 + r.IntN(4)}
		e := openOrFail(t, o)
		if _, err := e.Import(t.Context(), ImportRequest{Paths: []string{src.src}}); err != nil {
			t.Fatal(err)
		}
		ids := idsOf(searchOrFail(t, e, SearchRequest{Limit: 100}))
		var running sync.WaitGroup
		var mu sync.Mutex
		for _, c := range calls(r, src.src, ids) {
			running.Go(func() {
				for {
					err := c.do(context.Background(), e)
					if err == nil {
						continue
					}
					if codeOf(err) != CodeClosed {
						t.Errorf("%s ends with %v", c.name, err)
					}
					mu.Lock()
					ended[c.name]++
					mu.Unlock()
					return
				}
			})
		}
		reading, err := e.Read(t.Context(), ids[0]) // nobody is reading it when the engine closes
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(r.IntN(30_000)) * time.Microsecond)
		l.note(e)
		start := time.Now()
		running.Go(func() {
			if err := e.Close(); err != nil {
				t.Errorf("close beside another: %v", err)
			}
		})
		if err := e.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		took := time.Since(start)
		running.Wait()
		worst = max(worst, took)
		for _, err := range reading.Messages() {
			if codeOf(err) != CodeClosed {
				t.Errorf("reading on after Close: %v", err)
			}
		}
		reading.Close()
		l.none(e)
		again := openOrFail(t, o)
		if got := idsOf(searchOrFail(t, again, SearchRequest{Limit: 100})); !slices.Equal(got, ids) {
			t.Errorf("after Close there is %v, want %v", got, ids)
		}
		if report, err := again.Check(t.Context()); err != nil || len(report.Faults) > 0 {
			t.Errorf("check: %+v, %v", report, err)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
	t.Logf("%d closes, the longest took %v; calls ended: %v", rounds, worst, ended)
	if worst > atMost(2*time.Second) {
		t.Errorf("a Close took %v", worst)
	}
}

func openOrFail(t *testing.T, o Options) *Engine {
	t.Helper()
	e, err := Open("archive", o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func searchOrFail(t *testing.T, e *Engine, q SearchRequest) *SearchEnvelope {
	t.Helper()
	env, err := e.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return env
}
