package engine

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/internal/faultfs"
)

// TestSearchWhileWriteHangs lets the disk hold a write for good, of a merge and of an
// import in turn: searches go on.
func TestSearchWhileWriteHangs(t *testing.T) {
	for _, c := range []struct {
		name  string
		match faultfs.Match
		write func(s *stage) error
	}{
		{"merge", faultfs.On([]faultfs.Kind{faultfs.Write, faultfs.Sync}, faultfs.Segment), func(s *stage) error {
			_, err := s.e.index.mergeOnce(context.Background())
			return err
		}},
		{"import", faultfs.On([]faultfs.Kind{faultfs.Sync}, faultfs.WAL), func(s *stage) error {
			return s.load(map[string]int{"d": 1})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, vfs.NewMem(), stageOptions)
			for i, step := range []func() error{
				s.open,
				func() error { return s.load(map[string]int{"a": 1, "b": 1, "c": 1}) },
				func() error { return s.e.index.flushNow(context.Background()) },
				func() error { return s.remove("a") },
				func() error { return s.remove("b") },
				s.look,
			} {
				if err := step(); err != nil {
					t.Fatalf("step %d: %v", i, err)
				}
			}
			gate := faultfs.NewGate(c.match)
			s.fs.Set(gate.Rule)
			done := make(chan error, 1)
			go func() { done <- c.write(s) }()
			select {
			case <-gate.Held():
			case err := <-done:
				t.Fatalf("nothing was written: %v", err)
			}
			var err error
			if !inTime(soon, func() { err = s.look() }) {
				t.Error("a search waits for the write")
			} else if err != nil {
				t.Error(err)
			}
			gate.Open()
			if err := <-done; err != nil {
				t.Error(err)
			}
			if err := s.e.inspect(s.now()); err != nil {
				t.Error(err)
			}
			if err := s.e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSlowDisk measures searches beside imports and merges on a disk whose writes
// take 50 ms. Times are logged, not judged.
func TestSlowDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a slow disk")
	}
	s := newStage(t, vfs.NewMem(), stageOptions)
	for i, step := range []func() error{
		s.open, func() error { return s.load(map[string]int{"a": 3, "b": 3, "c": 3}) }, func() error { return s.e.index.flushNow(context.Background()) },
	} {
		if err := step(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
	quiet := s.searchTimes(t, 100*time.Millisecond, func() error { return nil })
	s.fs.Set(faultfs.Slow(faultfs.Writes, 50*time.Millisecond))
	busy := s.searchTimes(t, 0, func() error {
		for v := range 3 {
			if err := s.load(map[string]int{"d": v + 1}); err != nil {
				return err
			}
			if _, err := s.e.Rebuild(context.Background(), nil); err != nil {
				return err
			}
		}
		return nil
	})
	s.fs.Set()
	t.Logf("search on a quiet disk: %d, p50 %v, p99 %v; beside imports and rebuilds on a slow one: %d, p50 %v, p99 %v",
		len(quiet), quiet[len(quiet)/2], quiet[len(quiet)*99/100], len(busy), busy[len(busy)/2], busy[len(busy)*99/100])
	if err := s.e.inspect(s.now()); err != nil {
		t.Error(err)
	}
	if err := s.e.Close(); err != nil {
		t.Error(err)
	}
}

// searchTimes searches until beside ends, and at least for a while. The times are sorted.
func (s *stage) searchTimes(t *testing.T, least time.Duration, beside func() error) []time.Duration {
	done := make(chan error, 1)
	go func() { done <- beside() }()
	var times []time.Duration
	for start := time.Now(); ; {
		at := time.Now()
		if err := s.look(); err != nil {
			t.Fatal(err)
		}
		times = append(times, time.Since(at))
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			done = nil
		default:
		}
		if done == nil && time.Since(start) >= least {
			slices.Sort(times)
			return times
		}
	}
}
