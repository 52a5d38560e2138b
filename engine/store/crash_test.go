package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/internal/faultfs"
)

// crashScript runs commits, deletions, uploads and unfinished revisions, and calls
// point between them with what is acknowledged and what may have become true since.
type crashScript struct {
	s     *Store
	r     *rand.Rand
	acked map[string]session // by native id
	maybe map[string]session // of the operation that is under way; a nil head is a deletion
	point func(*crashScript)
}

func (c *crashScript) run(t *testing.T, steps int) {
	for range steps {
		c.maybe = map[string]session{}
		switch c.r.IntN(6) {
		case 0:
			c.remove(t)
		case 1:
			c.unfinished(t)
		default:
			c.put(t)
		}
	}
}

func (c *crashScript) put(t *testing.T) {
	var list []*Sealed
	for range 1 + c.r.IntN(3) {
		name := fmt.Sprintf("s%d", c.r.IntN(8))
		if _, twice := c.maybe[name]; twice {
			continue
		}
		z := randomSession(c.r, name, c.r.IntN(5))
		raw := putRaw(t, c.s, randomBytes(c.r, c.r.IntN(3000)))
		c.point(c)
		sealed := seal(t, c.s, z)
		sealed.Raw = []RawID{raw}
		list = append(list, sealed)
		c.maybe[name] = z
	}
	c.point(c)
	commitAs(t, c.s, Commit{Sessions: list})
	for name, z := range c.maybe {
		c.acked[name] = z
	}
	c.maybe = nil
	c.point(c)
}

func (c *crashScript) remove(t *testing.T) {
	for name, z := range c.acked {
		sn, err := c.s.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		no, _, err := sn.Lookup(z.head.ID())
		if err != nil || sn.Close() != nil {
			t.Fatal(err)
		}
		c.maybe[name] = session{}
		c.point(c)
		if err := c.s.Delete(context.Background(), no); err != nil {
			t.Fatal(err)
		}
		delete(c.acked, name)
		c.maybe = nil
		c.point(c)
		return
	}
}

// unfinished leaves a revision whose frames are written and that nobody commits.
func (c *crashScript) unfinished(t *testing.T) {
	r, err := c.s.NewRevision("codex-session:unfinished")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range randomSession(c.r, "unfinished", 6).msgs {
		if err := r.Message(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	c.point(c)
}

// TestCrash crashes at points of a script: the store opens, is whole, and has what
// was acknowledged and no half of anything.
func TestCrash(t *testing.T) {
	t.Parallel()
	clones := 0
	for _, percent := range []int{0, 10, 50, 100} {
		fs := vfs.NewCrashableMem()
		c := &crashScript{s: openMem(t, fs), r: rng(t, 20+uint64(percent)), acked: map[string]session{}}
		c.point = func(c *crashScript) {
			if c.r.IntN(2) == 0 {
				clones++
				cfg := vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rand.New(rand.NewPCG(c.r.Uint64(), 1))}
				afterCrash(t, fs.CrashClone(cfg), c)
			}
		}
		c.run(t, 20)
		if err := c.s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d crashes", clones)
	if clones < 100 {
		t.Errorf("only %d crashes", clones)
	}
}

func afterCrash(t *testing.T, fs FS, c *crashScript) {
	t.Helper()
	s := openMem(t, fs)
	defer s.Close()
	wantClean(t, s)
	if l := s.Losses(); len(l) > 0 {
		t.Errorf("losses %v", l)
	}
	sn := snap(t, s)
	seen := 0
	for p, err := range sn.Sessions() {
		if err != nil {
			t.Fatal(err)
		}
		seen++
		name := string(p.ID)[len("claude-code-session:"):]
		err := errorOf(sn, c.acked[name])
		if z, ok := c.maybe[name]; err != nil && ok {
			err = errorOf(sn, z)
		}
		if err != nil {
			t.Errorf("after a crash: %v", err)
		}
	}
	for name := range c.acked {
		if z, open := c.maybe[name]; open && z.head == nil {
			continue
		}
		if _, ok, err := sn.Lookup(c.acked[name].head.ID()); !ok || err != nil {
			t.Errorf("after a crash: acknowledged session %s is gone (%v)", name, err)
		}
	}
	for _, prefix := range []byte{prefixPending, prefixUpload} {
		if n := keys(t, s, prefix); n != 0 {
			t.Errorf("%d records %q are left", n, prefix)
		}
	}
}

func errorOf(sn *Snapshot, z session) error {
	if z.head == nil {
		return fmt.Errorf("a session that is not acknowledged is there")
	}
	return sameSession(sn, z)
}

// TestMarkersAreOrdered cuts the power while Pebble moves the marker that names its
// MANIFEST: whichever of the unsynced changes are there, the store opens and has what
// was acknowledged.
func TestMarkersAreOrdered(t *testing.T) {
	fs := faultfs.New(vfs.NewCrashableMem())
	var kept []session
	moves := map[faultfs.Kind]int{}
	disks := 0
	fs.Observe(func(op faultfs.Op) {
		if !strings.Contains(op.Path, "marker.") {
			return
		}
		moves[op.Kind]++
		m, err := fs.Moment()
		if err != nil {
			t.Error(err)
			return
		}
		for left := range m.Choices() {
			disk, err := m.Disk(left)
			if err == nil {
				err = holds(disk, kept)
			}
			if err != nil {
				t.Errorf("crash after %v, which leaves %v of %v: %v", op, left, m.Changes, err)
			}
			disks++
		}
	})
	for i := range 3 {
		s := openMem(t, fs)
		z := say(fmt.Sprintf("m%d", i), "text")
		commit(t, s, z)
		kept = append(kept, z)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	fs.Observe(nil)
	t.Logf("%d disks, markers %v", disks, moves)
	if moves[faultfs.Create] < 4 || moves[faultfs.Remove] < 2 {
		t.Errorf("markers %v: too few come and go", moves)
	}
}

// holds opens and closes the store on a disk, and compares its sessions.
func holds(disk FS, list []session) error {
	s, err := Open("store", Options{FS: disk})
	if err != nil {
		return err
	}
	sn, err := s.Snapshot()
	if err != nil {
		return errors.Join(err, s.Close())
	}
	for _, z := range list {
		err = errors.Join(err, sameSession(sn, z))
	}
	return errors.Join(err, sn.Close(), s.Close())
}

// TestCloseFlushes: after Close no record rests in a write-ahead log.
func TestCloseFlushes(t *testing.T) {
	fs := vfs.NewMem()
	s := openMem(t, fs)
	commit(t, s, say("f", "a canary in the text"), randomSession(rng(t, 30), "g", 50))
	if err := s.SetTitle(context.Background(), "a:b", "a canary in the title"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := fs.List("store")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		b, err := readAll(fs, fs.PathJoin("store", name))
		if err != nil {
			t.Fatal(err)
		}
		if len(name) > 4 && name[len(name)-4:] == ".log" && len(bytes.Trim(b, "\x00")) > 64 {
			t.Errorf("%s holds %d bytes after Close", name, len(b))
		}
	}
	// What Close left is enough without any log.
	for _, name := range names {
		if len(name) > 4 && name[len(name)-4:] == ".log" {
			if err := fs.Remove(fs.PathJoin("store", name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	s = openMem(t, fs)
	defer s.Close()
	wantSession(t, snap(t, s), say("f", "a canary in the text").sealed(t, s))
}

// sealed sets the hash that a commit would.
func (z session) sealed(t testing.TB, s *Store) session {
	if err := seal(t, s, z).Abort(); err != nil {
		t.Fatal(err)
	}
	return z
}
