package engine

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/internal/faultfs"
)

// stageOptions make a small archive do all that a large one does.
var stageOptions = Options{FlushBytes: 16 << 10, NoMerge: true, Workers: 2, QueryLimits: QueryLimits{Time: time.Minute}}

// crashes says how many disks a test tries.
func crashes() int {
	switch {
	case *long:
		return 5000
	case testing.Short():
		return 60
	}
	return 500
}

// TestCrashAnywhere cuts the power after any file operation: the archive opens, its
// check is clean, what was acknowledged is there and nothing is there by half.
func TestCrashAnywhere(t *testing.T) {
	crashEverywhere(t, crashes(), func(r *rand.Rand) faultfs.Crash {
		return faultfs.Crash{Percent: []int{0, 10, 50, 100}[r.IntN(4)]}
	})
}

// TestCrashTornWrite is TestCrashAnywhere on a disk that keeps a part of what was
// written last: its beginning, or every second sector.
func TestCrashTornWrite(t *testing.T) {
	crashEverywhere(t, crashes(), func(r *rand.Rand) faultfs.Crash {
		return faultfs.Crash{Percent: []int{50, 100, 100}[r.IntN(3)], Tear: faultfs.Tear(1 + r.IntN(2))}
	})
}

// A cut is a disk that a power cut left, and what it may hold.
type cut struct {
	disk vfs.FS
	may  ledger
	what string
}

// crashEverywhere plays the story until enough disks were tried.
func crashEverywhere(t *testing.T, want int, choose func(*rand.Rand) faultfs.Crash) {
	r := seeded(t)
	cuts := make(chan cut, 4)
	var done sync.WaitGroup
	var tried, failed, ops atomic.Int64
	for range 2 {
		done.Go(func() { inspectCuts(t, cuts, &tried, &failed) })
	}
	for round := 0; tried.Load() < int64(want) && failed.Load() < 10; round++ {
		ops.Store(crashStory(t, r.Uint64(), want, choose, cuts))
	}
	close(cuts)
	done.Wait()
	t.Logf("%d disks, %d operations in the story", tried.Load(), ops.Load())
}

// inspectCuts inspects the disks as they come, and names the first ten that fail.
func inspectCuts(t *testing.T, cuts <-chan cut, tried, failed *atomic.Int64) {
	for c := range cuts {
		tried.Add(1)
		if err := inspect(c.disk, stageOptions, c.may); err != nil && failed.Add(1) <= 10 {
			t.Errorf("crash after %s: %v", c.what, err)
		}
	}
}

// crashStory plays the story once and sends the disks of about a third of its
// operations. It returns how many operations there were.
func crashStory(t *testing.T, seed uint64, want int, choose func(*rand.Rand) faultfs.Crash, cuts chan<- cut) (ops int64) {
	s := newStage(t, vfs.NewCrashableMem(), stageOptions)
	r := rand.New(rand.NewPCG(seed, 2))
	var mu sync.Mutex // guards r, sent and ops
	sent := 0
	s.fs.Observe(func(op faultfs.Op) {
		mu.Lock()
		defer mu.Unlock()
		if ops++; r.IntN(3) > 0 || sent >= want {
			return
		}
		sent++
		// The ledger is read first: what it is sure of was durable before.
		may := s.now()
		c := choose(r)
		c.RNG = rand.New(rand.NewPCG(r.Uint64(), 3))
		disk, err := s.fs.Crash(c)
		if err != nil {
			t.Error(err)
			return
		}
		cuts <- cut{disk, may, fmt.Sprintf("%v (%d %%, tear %d, story seed %d)", op, c.Percent, c.Tear, seed)}
	})
	for i, step := range s.steps() {
		if err := step(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
	s.fs.Observe(nil)
	return ops
}
