package engine

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/internal/faultfs"
)

// TestCrashChoices cuts the power after each file operation of the story and tries each
// choice of what is not durable: names that came or went, and written files. What
// [TestCrashAnywhere] draws by chance is here always.
func TestCrashChoices(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of disks")
	}
	pauses := storyPauses(t)
	cuts := make(chan cut)
	var done sync.WaitGroup
	var tried, failed atomic.Int64
	for range 2 {
		done.Go(func() { inspectCuts(t, cuts, &tried, &failed) })
	}
	choices, most := 0, 0
	seen := map[string]bool{}
	for _, p := range pauses {
		most = max(most, len(p.moment.Changes))
		for left := range p.moment.Choices() {
			choices++
			c, id, err := p.cut(left)
			if err != nil {
				t.Error(err)
			} else if !seen[id] {
				seen[id] = true
				cuts <- c
			}
		}
	}
	close(cuts)
	done.Wait()
	t.Logf("%d operations, up to %d changes, %d choices, %d disks, %d fail", len(pauses), most, choices, tried.Load(), failed.Load())
}

// A pause is the moment after an operation of the story, and what its disks may hold.
type pause struct {
	op     faultfs.Op
	may    ledger
	moment *faultfs.Moment
}

// storyPauses plays the story. The disks are made and inspected after it: a store that
// closes does not wait for a slow disk for ever.
func storyPauses(t *testing.T) (list []pause) {
	s := newStage(t, vfs.NewCrashableMem(), stageOptions)
	var mu sync.Mutex // guards list
	s.fs.Observe(func(op faultfs.Op) {
		mu.Lock()
		defer mu.Unlock()
		// The ledger is read first: what it is sure of was durable before.
		may := s.now()
		m, err := s.fs.Moment()
		if err != nil {
			t.Error(err)
			return
		}
		list = append(list, pause{op, may, m})
	})
	for i, step := range s.steps() {
		if err := step(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
	s.fs.Observe(nil)
	return list
}

// cut is the disk with these changes; cuts with one id are equal.
func (p *pause) cut(left []faultfs.Change) (c cut, id string, err error) {
	disk, err := p.moment.Disk(left)
	if err != nil {
		return cut{}, "", err
	}
	sum, err := faultfs.Sum(disk)
	return cut{disk, p.may, fmt.Sprintf("%v, which leaves %v of %v", p.op, left, p.moment.Changes)}, fmt.Sprint(p.may, sum), err
}
