package store

import (
	"math"
	"runtime"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestHitAllocates: what a row of a search reads costs a bounded number of
// allocations, and no garbage of the size of a frame.
func TestHitAllocates(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	s := openMem(t, vfs.NewMem())
	defer s.Close()
	out := commit(t, s, workSession(rng(t, 67), "long", 100), say("short", "one", "two"))
	if err := s.db.Flush(); err != nil {
		t.Fatal(err)
	}
	sn := snap(t, s)
	long, short := out[0].Summary.No, out[1].Summary.No
	for _, c := range []struct {
		name string
		most float64
		f    func() error
	}{
		{"brief", 14, func() error { _, err := sn.Brief(long); return err }},
		{"hit", 19, func() error { _, err := sn.Hit(long, 50, 0); return err }},
		{"hit in a short session", 16, func() error { _, err := sn.Hit(short, 1, 0); return err }},
		{"block", 16, func() error { _, err := sn.Block(long, 50, 0); return err }},
	} {
		run := func() {
			if err := c.f(); err != nil {
				t.Fatal(err)
			}
		}
		if n := testing.AllocsPerRun(100, run); n > c.most {
			t.Errorf("%s: %v allocations, want at most %v", c.name, n, c.most)
		}
		bytes := leastGarbage(run)
		if bytes > frameTarget*3/4 {
			t.Errorf("%s: %d bytes of garbage", c.name, bytes)
		}
		t.Logf("%s: %d bytes", c.name, bytes)
	}
}

// leastGarbage is the least that a call of f allocates, in bytes: others may allocate
// meanwhile, and the collector may empty the pool before any call.
func leastGarbage(f func()) uint64 {
	least := uint64(math.MaxUint64)
	for range 50 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}
