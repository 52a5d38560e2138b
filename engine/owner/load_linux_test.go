package owner

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hansard-search/hansard/engine"
)

// TestFigureUnderLoad measures what a search costs in processor time while another
// process' import goes on, beside what it costs when nothing does: eight `hansard
// QUERY` at a time, each its own process, plus the owner's thread while it serves that
// process. The figure to hold: the 99th percentile at most twice the idle one.
func TestFigureUnderLoad(t *testing.T) {
	if !*long {
		t.Skip("without -long")
	}
	bin := filepath.Join(t.TempDir(), "hansard")
	if out, err := exec.Command("go", "build", "-o", bin, "github.com/hansard-search/hansard/cmd/hansard").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	tmp := t.TempDir()
	dir := filepath.Join(tmp, "archive")
	var mu sync.Mutex
	served := map[int]time.Duration{}
	own := attach(t, dir, Options{Engine: engine.Options{Workers: 1}, served: func(_ string, pid int) func() {
		runtime.LockOSThread()
		begin := threadTime()
		return func() {
			d := threadTime() - begin
			runtime.UnlockOSThread()
			mu.Lock()
			defer mu.Unlock()
			served[pid] += d
		}
	}})
	_, err := own.Import(t.Context(), engine.ImportRequest{Paths: []string{write(t, tmp, "base", 300, 100, 1)}})
	check(t, err)
	m := &meter{t: t, bin: bin, dir: dir, served: func(pid int) time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return served[pid]
	}}
	m.run(4) // warm
	idle := m.run(rounds)
	ctx, stop := context.WithCancel(t.Context())
	var imports sync.WaitGroup
	imported := 0
	imports.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			r, err := own.Import(ctx, engine.ImportRequest{Paths: []string{write(t, tmp, fmt.Sprint("more", i), 100, 100, uint64(2+i))}})
			if err != nil && ctx.Err() == nil {
				t.Errorf("import: %v", err)
			}
			if r != nil {
				imported += r.Added
			}
		}
	})
	busy := m.run(rounds)
	stop()
	imports.Wait()
	t.Logf("%d sessions imported meanwhile", imported)
	t.Logf("idle: process %s, owner %s, both %s", idle.process, idle.owner, idle.both)
	t.Logf("busy: process %s, owner %s, both %s", busy.process, busy.owner, busy.both)
	t.Logf("elapsed: idle %s, busy %s", idle.elapsed, busy.elapsed)
	t.Logf("99th percentile of processor time, busy over idle: %.2f", float64(busy.both.at(99))/float64(idle.both.at(99)))
	if busy.both.at(99) > 2*idle.both.at(99) {
		t.Error("the figure is not held")
	}
}

const rounds = 50

// A meter runs searches in processes of their own.
type meter struct {
	t        *testing.T
	bin, dir string
	served   func(pid int) time.Duration
}

type costs struct{ process, owner, both, elapsed sample }

// run runs so many rounds of eight searches at once.
func (m *meter) run(rounds int) costs {
	var c costs
	queries := []string{"basket1 tax2", "timeout*", `"retry1 harbor2"`, "needle", "repo:shop ledger7", "cache3 -index4", "owner5 OR lock6", "since:2026-01-01 merge8"}
	for range rounds {
		var mu sync.Mutex
		var all sync.WaitGroup
		for _, q := range queries {
			all.Go(func() {
				cmd := exec.Command(m.bin, "--archive", m.dir, "--format", "json", q)
				cmd.Stderr = os.Stderr
				begin := time.Now()
				err := cmd.Run()
				elapsed := time.Since(begin)
				if err != nil {
					m.t.Errorf("%s: %v", q, err)
					return
				}
				used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
				owner := m.served(cmd.Process.Pid)
				mu.Lock()
				defer mu.Unlock()
				c.process, c.owner, c.both, c.elapsed = append(c.process, used), append(c.owner, owner), append(c.both, used+owner), append(c.elapsed, elapsed)
			})
		}
		all.Wait()
	}
	for _, s := range []sample{c.process, c.owner, c.both, c.elapsed} {
		slices.Sort(s)
	}
	return c
}

// A sample is sorted.
type sample []time.Duration

func (s sample) at(percent int) time.Duration {
	return s[min(len(s)*percent/100, len(s)-1)]
}

func (s sample) String() string {
	round := func(p int) time.Duration { return s.at(p).Round(100 * time.Microsecond) }
	return fmt.Sprintf("p50 %v p99 %v", round(50), round(99))
}

// threadTime is the processor time of this thread.
func threadTime() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(thread, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
