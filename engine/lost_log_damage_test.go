package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/internal/faultfs"
	"github.com/hansard-search/hansard/engine/store"
)

// killedStage is an archive whose process was killed while three write-ahead logs held
// what it had acknowledged; the names are those of the logs, oldest first.
func killedStage(t *testing.T, r *rand.Rand) (*stage, *vfs.MemFS, []string) {
	t.Helper()
	s := newStage(t, vfs.NewCrashableMem(), Options{FlushBytes: 64 << 10, NoMerge: true, QueryLimits: stageOptions.QueryLimits})
	gate := faultfs.NewGate(faultfs.On([]faultfs.Kind{faultfs.Create}, faultfs.Table))
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.open())
	must(s.load(map[string]int{"a": 1, "b": 1, "c": 1, "d": 1}))
	must(s.e.store.Flush(context.Background()))
	s.fs.Set(gate.Rule)
	logs := func() []string { return slices.Sorted(slices.Values(storeFiles(t, s.fs)["WAL"])) }
	for i := range 3 {
		must(s.load(map[string]int{"a": 2 + i, fmt.Sprint("n", i): 1}))
		must(s.look())
		if i == 1 {
			must(s.remove("d"))
		}
		must(s.e.index.flushNow(context.Background()))
		junk := make([]byte, 64<<10)
		for last := logs(); i < 2 && slices.Max(logs()) == slices.Max(last); { // until a memtable is full
			for at := range junk {
				junk[at] = byte(r.Uint32())
			}
			must(s.e.store.PutOverlays(context.Background(), []store.Overlay{{Kind: "junk", Key: fmt.Sprint(r.Uint64()), Value: junk}}))
		}
	}
	disk, err := s.fs.Crash(faultfs.Crash{Percent: 100, RNG: r})
	must(err)
	full := slices.Sorted(slices.Values(storeFiles(t, disk)["WAL"]))
	if len(full) < 3 {
		t.Fatalf("the logs %v hold records, want three", full)
	}
	full = full[len(full)-3:] // one before may be waiting for its removal
	gate.Open()
	must(s.e.Close())
	// What a lost log may bring back.
	for name, older := range map[string][]int{"a": {1, 2, 3}, "d": {1}, "n0": {0}, "n1": {0}, "n2": {0}} {
		s.may[name] = append(s.may[name], older...)
	}
	return s, disk, full
}

// TestLostFileOfKilled takes each file of a killed archive away, and of the same when it
// was opened and closed after that: the loss is named by the opening, the check and the
// answers, or every session is there.
func TestLostFileOfKilled(t *testing.T) {
	s, dead, logs := killedStage(t, seeded(t))
	closed := dead.CrashClone(vfs.CrashCloneCfg{})
	if err := inspect(closed, s.opts, s.may); err != nil {
		t.Fatal(err)
	}
	for name, disk := range map[string]*vfs.MemFS{"killed": dead, "closed": closed} {
		counts := map[string]int{}
		var files []string
		for _, list := range storeFiles(t, disk) {
			files = append(files, list...)
		}
		names, err := disk.List(path.Join(stageDir, "segments"))
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			files = append(files, path.Join(stageDir, "segments", n))
		}
		for _, file := range files {
			for _, readOnly := range []bool{true, false} {
				hurt := disk.CrashClone(vfs.CrashCloneCfg{})
				if err := hurt.Remove(file); err != nil {
					continue // the folder
				}
				s.opts.ReadOnly = readOnly
				v := s.examine(hurt, file)
				s.opts.ReadOnly = false
				if base := path.Base(file); v.err != nil && base != "FORMAT" && !strings.HasPrefix(base, "marker.") {
					t.Errorf("%s archive without %s, read-only %v: %s: %v", name, base, readOnly, v.what, v.err)
				}
				if v.what == "harmless" && slices.Contains([]string{"MARK", "SEAL"}, path.Base(file)) {
					t.Errorf("%s: the loss of %s is not told", name, file)
				}
				if name == "killed" && slices.Contains(logs, file) && (v.what != "told" || v.lost == 0) {
					t.Errorf("without the log %s: %+v", file, v)
				}
				counts[v.what]++
			}
		}
		t.Logf("%s: %d files, %v", name, len(files), counts)
	}
}

// TestLostLogComesBack loses a log in the middle of others: searches say so until it is
// settled, whatever is imported, and an import of the same files, which are as they
// were, makes the archive whole.
func TestLostLogComesBack(t *testing.T) {
	s, dead, logs := killedStage(t, seeded(t))
	for i, log := range logs {
		disk := dead.CrashClone(vfs.CrashCloneCfg{})
		if err := disk.Remove(log); err != nil {
			t.Fatal(err)
		}
		o := s.opts
		o.FS, o.Create = disk, false
		d, err := Diagnose(context.Background(), stageDir, o)
		if err != nil || !d.Unsettled() || d.Worst != SeverityLost {
			t.Errorf("log %d: diagnosis %+v, %v", i, d, err)
		}
		e, err := Open(stageDir, o)
		if err != nil {
			t.Fatal(err)
		}
		e.mustBePartial(t, true)
		if _, err := e.Import(context.Background(), ImportRequest{Paths: []string{s.src}}); err != nil {
			t.Fatal(err)
		}
		e.mustBePartial(t, true)
		st, err := e.Stats(context.Background())
		if err != nil || len(st.Losses) != 1 || st.Losses[0].Writes == 0 || st.Ready {
			t.Errorf("log %d: status %+v, %v", i, st, err)
		}
		if err := errors.Join(e.Close()); err != nil {
			t.Fatal(err)
		}
		if e, err = Open(stageDir, o); err != nil {
			t.Fatal(err)
		}
		e.mustBePartial(t, true)
		if was, err := e.Settle(context.Background()); err != nil || len(was) != 1 {
			t.Errorf("settled %v, %v", was, err)
		}
		e.mustBePartial(t, false)
		may := s.may.clone()
		if _, err := e.texts(stageID("d")); err == nil {
			may["d"] = []int{1} // its deletion was lost, or its file was imported again
		}
		if err := e.inspect(may); err != nil {
			t.Errorf("without log %d of %d, after an import: %v", i, len(logs), err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func (e *Engine) mustBePartial(t *testing.T, want bool) {
	t.Helper()
	env, err := e.Search(context.Background(), SearchRequest{Query: "everywhere"})
	if err != nil {
		t.Fatal(err)
	}
	named := slices.ContainsFunc(env.Missing, func(d Damage) bool { return d.File == storeFile && strings.Contains(d.Reason, "writes") })
	if env.Partial != want || named != want || env.Exact == want {
		t.Errorf("partial %v, missing %v, want %v", env.Partial, env.Missing, want)
	}
}
