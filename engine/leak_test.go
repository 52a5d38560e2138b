package engine

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// noLeaks begins a test; what it returns ends it, and holds that no goroutine is left of
// it. On a busy machine those that end may need longer than goleak waits.
func noLeaks(t *testing.T) func() {
	before := goleak.IgnoreCurrent()
	return func() {
		t.Helper()
		for begin := time.Now(); ; {
			err := goleak.Find(before)
			if err == nil {
				return
			}
			if time.Since(begin) > soon {
				t.Error(err)
				return
			}
		}
	}
}

// TestNoGoroutineOutlivesClose runs everything that starts goroutines.
func TestNoGoroutineOutlivesClose(t *testing.T) {
	defer noLeaks(t)()
	r := seeded(t)
	w := newWorld(t, Options{FlushBytes: 1 << 10, Workers: 4})
	names := w.put(randomScripts(r, 20)...)
	for _, n := range names {
		w.load(n)
	}
	for range 3 {
		w.search(SearchRequest{Query: "the OR retry"})
		w.rebuild()
	}
	reading, err := w.Read(t.Context(), w.search(SearchRequest{}).Hits[0].Session.ID)
	if err != nil {
		t.Fatal(err)
	}
	for range reading.Messages() {
		break
	}
	reading.Close()
	w.check()
	w.close()
}

// TestCloseEndsCalls closes an engine that is searching, importing and checking.
// Whatever a call returns is an answer, an end of its context, or ARCHIVE_CLOSED.
func TestCloseEndsCalls(t *testing.T) {
	defer noLeaks(t)()
	r := seeded(t)
	w := newWorld(t, Options{FlushBytes: 4 << 10})
	w.put(randomScripts(r, 12)...)
	w.load()
	ctx := context.Background()
	calls := []func(e *Engine) error{
		func(e *Engine) error { _, err := e.Search(ctx, SearchRequest{Query: "the"}); return err },
		func(e *Engine) error { _, err := e.Check(ctx); return err },
		func(e *Engine) error { _, err := e.Stats(ctx); return err },
		func(e *Engine) error { _, err := e.Rebuild(ctx, nil); return err },
		func(e *Engine) error {
			_, err := e.Import(ctx, ImportRequest{Paths: []string{w.src}, Force: true})
			return err
		},
	}
	e := w.Engine
	var running sync.WaitGroup
	for _, call := range calls {
		started := make(chan struct{})
		running.Go(func() {
			for first := true; ; first = false {
				err := call(e)
				if first {
					close(started)
				}
				if err == nil {
					continue
				}
				if codeOf(err) != CodeClosed && !errors.Is(err, context.Canceled) {
					t.Errorf("a call ends with %v", err)
				}
				return
			}
		})
		<-started
	}
	w.close()
	running.Wait()
	w.open()
	if got := w.search(SearchRequest{}).Total; got != 12 {
		t.Errorf("%d sessions after a busy close, want 12", got)
	}
	w.check()
	w.close()
}
