package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/faultfs"
	"github.com/hansard-search/hansard/segments"
)

// damagedWorld is a closed archive of some files of segments, and its answers.
func damagedWorld(t testing.TB, r *rand.Rand, sessions int, o Options) (w *world, requests []SearchRequest, want []string) {
	t.Helper()
	w = newWorld(t, o)
	names := w.put(randomScripts(r, sessions)...)
	w.load(names[:len(names)/2]...)
	w.reopen(o) // the tail becomes a file
	w.load(names[len(names)/2:]...)
	w.reopen(o)
	requests = metamorphicQueries(r, 30)
	want = w.answers(requests)
	w.close()
	return w, requests, want
}

// segmentFiles lists the segment files of the archive.
func (w *world) segmentFiles() []string {
	w.t.Helper()
	names, err := w.opts.FS.List(w.opts.FS.PathJoin("archive", "segments"))
	if err != nil {
		w.t.Fatal(err)
	}
	slices.Sort(names)
	return slices.DeleteFunc(names, func(n string) bool { return !strings.HasSuffix(n, ".seg") })
}

func (w *world) segmentPath(name string) string {
	return w.opts.FS.PathJoin("archive", "segments", name)
}

func readFS(t testing.TB, fs vfs.FS, path string) []byte {
	t.Helper()
	f, err := fs.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return b
}

// flip turns a bit of a file over.
func (w *world) flip(path string, bit int) {
	w.t.Helper()
	b := readFS(w.t, w.opts.FS, path)
	b[bit/8] ^= 1 << (bit % 8)
	if err := faultfs.Replace(w.opts.FS, path, b); err != nil {
		w.t.Fatal(err)
	}
}

// whole waits until the archive says that nothing is missing.
func (w *world) whole() {
	w.t.Helper()
	for begin := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		s, err := w.Stats(context.Background())
		if err != nil {
			w.t.Fatal(err)
		}
		if s.Ready {
			return
		}
		if time.Since(begin) > soon {
			w.t.Fatalf("not healed: %+v", s.Damaged)
		}
	}
}

// ids are the sessions of an answer.
func ids(env *SearchEnvelope) []string {
	var out []string
	for _, h := range env.Hits {
		out = append(out, h.Session.ID)
	}
	return out
}

// TestDamagedSegmentsHeal damages or deletes segments of a closed archive: the answers
// of a reader that may not write are partial, name the file and how many sessions are
// missing, and hold nothing that is not right; another heals it beside searches, and
// then all answers are what they were.
func TestDamagedSegmentsHeal(t *testing.T) {
	for _, c := range []struct {
		name    string
		hurt    func(w *world, name string) error
		section bool // is named
		kept    bool // as evidence
	}{
		{"first byte", func(w *world, name string) error { w.flip(w.segmentPath(name), 3); return nil }, true, true},
		{"last byte", func(w *world, name string) error {
			w.flip(w.segmentPath(name), 8*len(readFS(w.t, w.opts.FS, w.segmentPath(name)))-1)
			return nil
		}, true, true},
		{"empty", func(w *world, name string) error { return faultfs.Replace(w.opts.FS, w.segmentPath(name), nil) }, true, true},
		{"deleted", func(w *world, name string) error { return w.opts.FS.Remove(w.segmentPath(name)) }, false, false},
		{"another's", func(w *world, name string) error {
			other := w.segmentFiles()[1]
			return faultfs.Replace(w.opts.FS, w.segmentPath(name), readFS(w.t, w.opts.FS, w.segmentPath(other)))
		}, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, requests, want := damagedWorld(t, seeded(t), 16, Options{NoMerge: true})
			name := w.segmentFiles()[0]
			if err := c.hurt(w, name); err != nil {
				t.Fatal(err)
			}
			w.partialReader(name, c.section)
			w.open()
			w.whole()
			w.sameAnswers(requests, want, "healed")
			w.check()
			kept, err := quarantined(w.opts.FS, "archive/quarantine")
			if err != nil || slices.Contains(kept, name) != c.kept {
				t.Errorf("evidence %v, %v, want that of %s: %v", kept, err, name, c.kept)
			}
			if note, ok := readNote(w.opts.FS, "archive/quarantine/"+name); c.kept && (!ok || note.File != name || note.Reason == "") {
				t.Errorf("note %+v, %v", note, ok)
			}
			if slices.Contains(w.segmentFiles(), name) {
				t.Error("the damaged file is still there")
			}
			w.reopen(w.opts)
			w.sameAnswers(requests, want, "reopened")
		})
	}
}

// partialReader opens the archive to read only and wants partial answers that name the
// segment; no file changes.
func (w *world) partialReader(name string, section bool) {
	w.t.Helper()
	before := contents(w.t, w.opts.FS, "archive")
	o := w.opts
	o.ReadOnly, o.Create = true, false
	e, err := Open("archive", o)
	if err != nil {
		w.t.Fatal(err)
	}
	all, err := e.Stats(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	env, err := e.Search(context.Background(), SearchRequest{Limit: 1000})
	if err != nil {
		w.t.Fatal(err)
	}
	if !env.Partial || env.Exact || env.TotalIs != "lower_bound" || len(env.Missing) != 1 {
		w.t.Fatalf("answer is partial %v, exact %v, total is %s, missing %v", env.Partial, env.Exact, env.TotalIs, env.Missing)
	}
	if m := env.Missing[0]; m.File != name || (m.Section != "") != section || m.Reason == "" || int(m.Sessions) != all.Sessions-env.Total || m.Sessions == 0 {
		w.t.Errorf("missing %+v of %d sessions, %d found", m, all.Sessions, env.Total)
	}
	if err := e.Close(); err != nil {
		w.t.Fatal(err)
	}
	after := contents(w.t, w.opts.FS, "archive")
	for path, b := range before {
		if after[path] != b {
			w.t.Errorf("a reader changed %s", path)
		}
	}
	if len(after) != len(before) {
		w.t.Errorf("a reader left %d files, there were %d", len(after), len(before))
	}
}

// contents are the files below dir.
func contents(t testing.TB, fs vfs.FS, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	names, err := fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		path := fs.PathJoin(dir, n)
		if info, err := fs.Stat(path); err != nil {
			t.Fatal(err)
		} else if info.IsDir() {
			for k, v := range contents(t, fs, path) {
				out[k] = v
			}
		} else {
			out[path] = string(readFS(t, fs, path))
		}
	}
	return out
}

// TestDamageFoundByAQuery damages pages that are read long after the archive was
// opened: the query that meets them is answered by the rest, by name.
func TestDamageFoundByAQuery(t *testing.T) {
	r := seeded(t)
	w := newWorld(t, Options{NoMerge: true})
	for i := range 60 {
		s := randomScript(r, i)
		for range 12 {
			s.grow(r)
		}
		w.put(s)
	}
	w.load()
	w.reopen(w.opts)
	w.put(randomScript(r, 1000))
	w.load() // one session beside the segment, in memory
	requests := metamorphicQueries(r, 20)
	want := w.answers(requests)
	w.close()
	path := w.segmentPath(w.segmentFiles()[0])
	size := len(readFS(t, w.opts.FS, path))
	if size < 4<<16 {
		t.Fatalf("a segment of %d bytes is too small for pages that wait", size)
	}
	sound := contents(t, w.opts.FS, "archive")
	found := 0
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	for i := range rounds {
		restore(t, w.opts.FS, sound)
		bit := 8*(1<<16) + r.IntN(8*(size-(2<<16)))
		w.flip(path, bit)
		w.opts.NoHeal = i%2 == 0
		w.open()
		for k, q := range requests {
			env := w.search(q)
			if !env.Partial {
				if got := w.answer(q); got != want[k] && !strings.Contains(got, `"partial":true`) {
					t.Errorf("bit %d: %+v is whole and wrong", bit, q)
				}
				continue
			}
			found++
			if m := env.Missing[0]; m.File == "" || m.Section == "" && m.Reason != "the file is missing" {
				t.Errorf("bit %d: missing %+v", bit, m)
			}
		}
		if w.opts.NoHeal {
			if _, err := w.Rebuild(context.Background(), nil); err != nil {
				t.Fatal(err)
			}
		} else {
			w.whole()
		}
		w.sameAnswers(requests, want, fmt.Sprintf("bit %d, healed", bit))
		w.check()
		w.close()
	}
	if found == 0 {
		t.Error("no query met damage")
	}
	w.open()
}

// restore makes the files of a folder what they were.
func restore(t testing.TB, fs vfs.FS, files map[string]string) {
	t.Helper()
	for path := range contents(t, fs, "archive") {
		if _, ok := files[path]; !ok {
			if err := fs.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	for path, b := range files {
		if err := faultfs.Replace(fs, path, []byte(b)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCrashWhileHealing cuts the power after every file operation of a healing: what
// is left opens, heals, and answers as before the damage.
func TestCrashWhileHealing(t *testing.T) {
	r := seeded(t)
	o := Options{NoMerge: true, FlushBytes: 16 << 10}
	w, requests, want := damagedWorld(t, r, 12, o)
	files := w.segmentFiles()
	w.flip(w.segmentPath(files[0]), 100)
	if err := w.opts.FS.Remove(w.segmentPath(files[len(files)-1])); err != nil {
		t.Fatal(err)
	}
	disk := faultfs.New(vfs.NewCrashableMem())
	for path, b := range contents(t, w.opts.FS, "archive") {
		if err := disk.MkdirAll(disk.PathDir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := faultfs.Replace(disk, path, []byte(b)); err != nil {
			t.Fatal(err)
		}
		for dir := disk.PathDir(path); ; dir = disk.PathDir(dir) {
			if err := segments.SyncDir(disk, dir); err != nil {
				t.Fatal(err)
			}
			if dir == disk.PathDir(dir) {
				break
			}
		}
	}
	requests, want = requests[:10], want[:10]
	var mu sync.Mutex
	var disks []vfs.FS
	disk.Observe(func(op faultfs.Op) {
		mu.Lock()
		defer mu.Unlock()
		c, err := disk.Crash(faultfs.Crash{Percent: []int{0, 50, 100}[len(disks)%3], RNG: rand.New(rand.NewPCG(uint64(len(disks)), 3))})
		if err != nil {
			t.Errorf("crash: %v", err)
			return
		}
		disks = append(disks, c)
	})
	victim := &world{t: t, opts: w.opts, src: w.src}
	victim.opts.FS = disk
	victim.open()
	victim.whole()
	victim.close()
	disk.Observe(nil)
	step := 1
	if testing.Short() {
		step = max(1, len(disks)/25)
	}
	tried := 0
	for i := r.IntN(step); i < len(disks); i += step {
		s := &world{t: t, opts: w.opts, src: w.src}
		s.opts.FS = disks[i]
		s.open()
		s.whole()
		s.sameAnswers(requests, want, fmt.Sprintf("cut after operation %d of %d", i, len(disks)))
		s.check()
		s.close()
		tried++
		if t.Failed() {
			break
		}
	}
	t.Logf("%d of %d disks", tried, len(disks))
	w.opts.FS = disk
	w.open()
}

// TestChangesWhileHealing updates, deletes and adds sessions between the parts of a
// healing: none of them comes back as it was.
func TestChangesWhileHealing(t *testing.T) {
	r := seeded(t)
	o := Options{NoMerge: true, NoHeal: true, FlushBytes: 4 << 10}
	w := newWorld(t, o)
	scripts := randomScripts(r, 12)
	w.put(scripts...)
	w.load()
	w.reopen(o)
	w.close()
	for _, name := range w.segmentFiles() {
		if err := w.opts.FS.Remove(w.segmentPath(name)); err != nil {
			t.Fatal(err)
		}
	}
	w.open()
	h, err := w.index.planHealing()
	if err != nil || h == nil || len(h.todo) != len(scripts) {
		t.Fatalf("plan %+v, %v", h, err)
	}
	defer h.snap.Close()
	change := func(i int) {
		switch i % 3 {
		case 0:
			w.remove(w.idOf(scripts[i]))
		case 1:
			scripts[i].grow(r)
			w.put(scripts[i])
			w.load()
		case 2:
			s := randomScript(r, 100+i)
			w.put(s)
			w.load()
		}
	}
	for i := 0; len(h.todo) > 0; i++ {
		change(i % len(scripts))
		if err := w.index.healSome(t.Context(), t.Context(), h); err != nil {
			t.Fatal(err)
		}
		w.renew()
		if env := w.search(SearchRequest{}); !env.Partial {
			t.Error("an answer in the middle of healing is whole")
		}
	}
	change(4)
	if err := w.index.healed(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	w.renew()
	w.check()
	requests := metamorphicQueries(r, 20)
	got := w.answers(requests)
	if _, err := w.Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	w.sameAnswers(requests, got, "rebuilt")
	if env := w.search(SearchRequest{}); env.Partial {
		t.Error("a healed archive is partial")
	}
}

// idOf is the id of the session of a script.
func (w *world) idOf(s *script) (id archive.SessionID) {
	w.t.Helper()
	snap, err := w.store.Snapshot()
	if err != nil {
		w.t.Fatal(err)
	}
	defer snap.Close()
	for sum, err := range snap.Sessions() {
		if err != nil {
			w.t.Fatal(err)
		}
		if strings.HasSuffix(string(sum.ID), ":"+s.native) {
			return sum.ID
		}
	}
	w.t.Fatalf("no session %s", s.native)
	return ""
}
