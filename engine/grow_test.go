package engine

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/internal/faultfs"
)

// TestGrowingSession appends to a session message by message, with an import and a
// search after each, beside others that stay: the archive answers as one that saw the
// end alone. It logs how many bytes were written for each byte that is there.
func TestGrowingSession(t *testing.T) {
	r := seeded(t)
	appends := 40
	if *long {
		appends = 1000
	}
	var written atomic.Int64
	disk := faultfs.New(vfs.NewMem())
	disk.Observe(func(op faultfs.Op) {
		if op.Kind == faultfs.Write {
			written.Add(int64(op.Bytes))
		}
	})
	w := &world{t: t, src: t.TempDir(), opts: Options{Create: true, FlushBytes: 16 << 10, FS: disk, Now: func() time.Time { return testNow }}}
	w.open()
	others := randomScripts(r, 12)
	w.put(others...)
	w.load()
	before := written.Load()
	for _, codex := range []bool{false, true} {
		s := randomScript(r, 99)
		s.codex, s.native, s.turns, s.parent = codex, "growing", nil, ""
		for i := range appends / 2 {
			s.turns = append(s.turns, turn{kind: pick(r, "user", "assistant"), text: randomText(r, 5+r.IntN(40))})
			name, content := s.file()
			w.write(name, content)
			if rep := w.load(name); rep.Added+rep.Updated != 1 {
				t.Fatalf("append %d: %+v", i, rep)
			}
			if got := w.search(SearchRequest{Query: "the OR of OR a OR retry"}); got.Total == 0 {
				t.Fatal("nothing is found")
			}
		}
	}
	requests := metamorphicQueries(r, 20)
	got := w.answers(requests)
	w.check()
	w.close()
	wrote := written.Load() - before
	fresh := newWorldIn(t, Options{}, w.src)
	fresh.load()
	for i, want := range fresh.answers(requests) {
		if got[i] != want {
			t.Fatalf("%+v answers\n%s\nwant, as from one import,\n%s", requests[i], got[i], want)
		}
	}
	w.open()
	w.sameAnswers(requests, got, "reopened")
	w.close()
	total := treeBytes(t, disk, "archive")
	t.Logf("%d appends wrote %d bytes, %d each; the archive has %d bytes: %.0f written for each", appends, wrote, wrote/int64(appends), total,
		float64(wrote)/float64(total))
}

// treeBytes sums the sizes of the files below a folder.
func treeBytes(t *testing.T, fs vfs.FS, dir string) int64 {
	t.Helper()
	names, err := fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	for _, n := range names {
		p := fs.PathJoin(dir, n)
		if i, err := fs.Stat(p); err != nil {
			t.Fatal(err)
		} else if i.IsDir() {
			total += treeBytes(t, fs, p)
		} else {
			total += i.Size()
		}
	}
	return total
}
