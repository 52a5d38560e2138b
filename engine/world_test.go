package engine

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/oracle"
	"github.com/hansard-search/hansard/engine/source"
)

// testNow is the time of every test world.
var testNow = time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)

// A world is an engine on a file system in memory, fed by session files in a
// folder on disk. When its test ends, the archive must pass its check and close.
type world struct {
	*Engine
	t    testing.TB
	opts Options
	src  string // folder of session files
}

func newWorld(t testing.TB, o Options) *world {
	t.Helper()
	return newWorldIn(t, o, t.TempDir())
}

// newWorldIn is a world whose session files lie in src.
func newWorldIn(t testing.TB, o Options, src string) *world {
	t.Helper()
	o.Create = true
	o.FS = vfs.NewMem()
	o.Now = func() time.Time { return testNow }
	w := &world{t: t, opts: o, src: src}
	w.open()
	t.Cleanup(func() {
		if w.Engine == nil {
			return
		}
		w.check()
		w.close()
	})
	return w
}

func (w *world) open() {
	w.t.Helper()
	e, err := Open("archive", w.opts)
	if err != nil {
		w.t.Fatalf("open: %v", err)
	}
	w.Engine = e
}

func (w *world) close() {
	w.t.Helper()
	if err := w.Engine.Close(); err != nil {
		w.t.Errorf("close: %v", err)
	}
	w.Engine = nil
}

// reopen ends the engine and opens the archive again with other options.
func (w *world) reopen(o Options) {
	w.t.Helper()
	w.close()
	o.Create, o.FS, o.Now = true, w.opts.FS, w.opts.Now
	w.opts = o
	w.open()
}

func (w *world) check() {
	w.t.Helper()
	r, err := w.Check(context.Background())
	if err != nil {
		w.t.Errorf("check: %v", err)
		return
	}
	for _, f := range r.Faults {
		w.t.Errorf("check: %s: %s", f.Where, f.What)
	}
}

// write puts a session file into the folder.
func (w *world) write(name string, content []byte) string {
	w.t.Helper()
	path := filepath.Join(w.src, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// load imports the named files, or the whole folder.
func (w *world) load(names ...string) *Report {
	w.t.Helper()
	paths := []string{w.src}
	if len(names) > 0 {
		paths = nil
	}
	for _, n := range names {
		paths = append(paths, filepath.Join(w.src, filepath.FromSlash(n)))
	}
	r, err := w.Import(context.Background(), ImportRequest{Paths: paths})
	if err != nil {
		w.t.Fatalf("import: %v", err)
	}
	if n := r.Records; n.Read != n.Stored+n.Skipped+n.Rejected {
		w.t.Errorf("import: records do not add up: %+v", n)
	}
	return r
}

// remove deletes a session from the store.
func (w *world) remove(id archive.SessionID) {
	w.t.Helper()
	snap, err := w.store.Snapshot()
	if err != nil {
		w.t.Fatal(err)
	}
	defer snap.Close()
	no, ok, err := snap.Lookup(id)
	if err != nil || !ok {
		w.t.Fatalf("delete %s: found %v: %v", id, ok, err)
	}
	if err := w.store.Delete(context.Background(), no); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) search(q SearchRequest) *SearchEnvelope {
	w.t.Helper()
	env, err := w.Search(context.Background(), q)
	if err != nil {
		w.t.Fatalf("search %s: %v", q.Query, err)
	}
	return env
}

// answer is an answer as JSON without what may differ between equal archives.
func (w *world) answer(q SearchRequest) string {
	w.t.Helper()
	env := w.search(q)
	env.TookMS, env.IndexGeneration = 0, 0
	b, err := json.Marshal(env)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

// A reader is a sink that keeps the sessions of a file, derived as an import does.
type reader struct{ sessions []oracle.Session }

type readerSession struct {
	r        *reader
	d        *archive.Deriver
	messages []archive.Message
}

func (r *reader) Session(o archive.Origin, native string) (source.SessionSink, error) {
	return &readerSession{r: r, d: archive.NewDeriver(o)}, nil
}

func (r *reader) Problem(source.Problem) {}

func (s *readerSession) Message(m *archive.Message) error {
	if err := s.d.Add(m); err != nil {
		return err
	}
	c := *m
	c.Blocks = slices.Clone(m.Blocks)
	s.messages = append(s.messages, c)
	return nil
}

func (s *readerSession) Finish(h *archive.Session) error {
	s.d.Finish(h)
	s.r.sessions = append(s.r.sessions, oracle.Session{Head: *h, Messages: s.messages})
	return nil
}

// readAll reads all session files of the folder, not through the archive.
func readAll(t testing.TB, dir string) []oracle.Session {
	t.Helper()
	found, err := source.DiscoverPaths(context.Background(), []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	var r reader
	for _, c := range found.Files {
		readOne(t, c, &r)
	}
	return r.sessions
}

func readOne(t testing.TB, c source.Candidate, r *reader) {
	t.Helper()
	f, err := c.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	head, err := f.Head()
	if err != nil {
		t.Fatal(err)
	}
	format, why := source.Identify(formats(nil), c.Path, head)
	if format == nil {
		t.Logf("%s is left out: %s", c.Path, why)
		return
	}
	if _, err := format.Read(context.Background(), f.File, source.Limits{}, r); err != nil {
		t.Fatal(err)
	}
}
