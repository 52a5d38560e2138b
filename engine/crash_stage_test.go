package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/faultfs"
	"github.com/hansard-search/hansard/engine/store"
)

// A stage is an engine over a file system with faults, and what it must hold: of
// each session the versions that it may have. An acknowledged session has one; an
// operation that is under way, or has failed, leaves the old and the new.
type stage struct {
	t    testing.TB
	fs   *faultfs.FS
	opts Options
	src  string // folder of session files, on a disk without faults
	e    *Engine
	// force imports files that are as they were too: a deleted session comes back.
	force bool

	mu  sync.Mutex
	may ledger
}

// stageDir is a folder that has to be made with those above it.
const stageDir = "home/data/archive"

// A ledger gives the versions that each session may have; 0 means none.
type ledger map[string][]int

func (l ledger) clone() ledger {
	c := ledger{}
	for name, v := range l {
		c[name] = slices.Clone(v)
	}
	return c
}

func newStage(t testing.TB, fs store.FS, o Options) *stage {
	o.Create, o.Now = true, func() time.Time { return testNow }
	s := &stage{t: t, fs: faultfs.New(fs), src: t.TempDir(), may: ledger{}}
	o.FS = s.fs
	s.opts = o
	return s
}

// during runs an operation that gives sessions new versions.
func (s *stage) during(next map[string]int, run func() error) error {
	s.mu.Lock()
	for name, v := range next {
		if len(s.may[name]) == 0 {
			s.may[name] = []int{0}
		}
		s.may[name] = append(s.may[name], v)
	}
	s.mu.Unlock()
	err := run()
	if err == nil {
		s.mu.Lock()
		for name, v := range next {
			s.may[name] = []int{v}
		}
		s.mu.Unlock()
	}
	return err
}

// now is what the archive may hold at this moment.
func (s *stage) now() ledger {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.may.clone()
}

// load imports the sessions in their given versions.
func (s *stage) load(next map[string]int) error {
	var paths []string
	for name, v := range next {
		file, content := stagePlay(name, v).file()
		path := filepath.Join(s.src, file)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			s.t.Fatal(err)
		}
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return s.during(next, func() error {
		_, err := s.e.Import(context.Background(), ImportRequest{Paths: paths, Force: s.force})
		return err
	})
}

// again imports all files once more, although nothing has changed.
func (s *stage) again() error {
	_, err := s.e.Import(context.Background(), ImportRequest{Paths: []string{s.src}, Force: true})
	return err
}

func (s *stage) remove(name string) error {
	snap, err := s.e.store.Snapshot()
	if err != nil {
		return err
	}
	defer snap.Close()
	no, ok, err := snap.Lookup(stageID(name))
	if err != nil || !ok {
		return err
	}
	return s.during(map[string]int{name: 0}, func() error { return s.e.store.Delete(context.Background(), no) })
}

func (s *stage) open() (err error) {
	s.fs.Restart()
	s.e, err = Open(stageDir, s.opts)
	return err
}

// steps is a story of a small archive: imports that grow and replace, searches,
// deletions, merges, a rebuild, and a restart in between.
func (s *stage) steps() []func() error {
	return []func() error{
		s.open,
		func() error { return s.load(map[string]int{"a": 1, "b": 1, "c": 1}) },
		s.look,
		func() error { return s.load(map[string]int{"a": 2}) },
		func() error { return errors.Join(s.load(map[string]int{"d": 1, "b": 2}), s.again()) },
		func() error { return s.remove("c") },
		s.look,
		func() error { return s.e.index.flushNow(context.Background()) },
		func() error { return s.load(map[string]int{"e": 1}) },
		func() error { return s.remove("a") },
		func() error { _, err := s.e.index.mergeOnce(context.Background()); return err },
		func() error { _, err := s.e.Rebuild(context.Background(), nil); return err },
		func() error { return s.load(map[string]int{"a": 3, "f": 1}) },
		func() error { return s.e.Close() },
		s.open,
		s.look,
		func() error { return s.load(map[string]int{"e": 2, "c": 2}) },
		func() error { return s.e.index.flushNow(context.Background()) },
		func() error { return s.remove("f") },
		func() error { return s.e.Close() },
	}
}

// flushNow makes the tail durable, as a full tail or Close would.
func (x *index) flushNow(ctx context.Context) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.flush(ctx)
}

func stageID(name string) archive.SessionID {
	return archive.MakeSessionID(archive.ClaudeCode, "stage-"+name)
}

// stagePlay is the session name in one of its versions. Each of its texts names both.
func stagePlay(name string, version int) *script {
	p := &script{native: "stage-" + name, cwd: "/srv/stage", start: testNow.AddDate(0, -1, version)}
	for i := range 2 + 2*version {
		text := fmt.Sprintf("everywhere %s message %d", stageWord(name, version), i)
		if i == 1 {
			text += strings.Repeat(fmt.Sprintf(" filler%d of %s", version, name), 60*version)
		}
		p.turns = append(p.turns, turn{kind: []string{"user", "assistant"}[i%2], text: text})
	}
	return p
}

func stageWord(name string, version int) string { return fmt.Sprintf("word%sv%d", name, version) }

// text is what a reader sees of the session.
func (s *script) text() string {
	var b strings.Builder
	for _, t := range s.turns {
		b.WriteString(t.text + "\n")
	}
	return b.String()
}

// inspect opens the archive on fs and compares it with what it may hold: the check
// is clean, each session is there in one whole version that it may have, and a
// search finds exactly that version. It returns the first fault.
func inspect(fs store.FS, o Options, may ledger) error { return inspectOnce(fs, o, may, false) }

// inspectOnce is inspect; with heals, segments that could not be read are first
// indexed again.
func inspectOnce(fs store.FS, o Options, may ledger, heals bool) error {
	o.FS, o.Create, o.Now = fs, true, func() time.Time { return testNow }
	e, err := Open(stageDir, o)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	if heals {
		e.awaitHealing(soon)
	}
	if err := e.inspect(may); err != nil {
		_ = e.Close() // the fault is the one to report
		return err
	}
	if err := e.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return nil
}

// awaitHealing waits until no segment is set aside any more, or for so long.
func (e *Engine) awaitHealing(most time.Duration) {
	for end := time.Now().Add(most); time.Now().Before(end); time.Sleep(time.Millisecond) {
		e.index.mu.Lock()
		left := len(e.index.broken)
		e.index.mu.Unlock()
		if left == 0 || e.Err() != nil {
			return
		}
	}
}

func (e *Engine) inspect(may ledger) error {
	ctx := context.Background()
	r, err := e.Check(ctx)
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	if len(r.Faults) > 0 {
		return fmt.Errorf("check: %s: %s", r.Faults[0].Where, r.Faults[0].What)
	}
	var there, stale []string
	for name, versions := range may {
		v, err := e.version(name, versions)
		if err != nil {
			return err
		}
		for i := range 4 {
			if i+1 != v {
				stale = append(stale, stageWord(name, i+1))
			}
		}
		if v > 0 {
			there = append(there, stageWord(name, v))
		}
	}
	for _, q := range []struct {
		query string
		want  int
	}{{"", len(there)}, {"everywhere", len(there)}, {strings.Join(there, " OR "), len(there)}, {strings.Join(stale, " OR "), 0}} {
		env, err := e.Search(ctx, SearchRequest{Query: q.query})
		if err != nil {
			return fmt.Errorf("search %s: %w", q.query, err)
		}
		if env.Total != q.want {
			return fmt.Errorf("search %q finds %d sessions, want %d", q.query, env.Total, q.want)
		}
	}
	return nil
}

// version finds which of its versions a session has, whole.
func (e *Engine) version(name string, versions []int) (int, error) {
	got, err := e.texts(stageID(name))
	if codeOf(err) == CodeNotFound {
		if !slices.Contains(versions, 0) {
			return 0, fmt.Errorf("session %s is gone, it may have versions %v", name, versions)
		}
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", name, err)
	}
	for _, v := range versions {
		if v > 0 && got == stagePlay(name, v).text() {
			return v, nil
		}
	}
	return 0, fmt.Errorf("session %s is none of its versions %v, whole: it reads %.60q", name, versions, got)
}

func (e *Engine) texts(id archive.SessionID) (string, error) {
	r, err := e.Read(context.Background(), string(id))
	if err != nil {
		return "", err
	}
	defer r.Close()
	var b strings.Builder
	for m, err := range r.Messages() {
		if err != nil {
			return "", err
		}
		for _, blk := range m.Blocks {
			b.WriteString(blk.Text + "\n")
		}
	}
	return b.String(), nil
}
