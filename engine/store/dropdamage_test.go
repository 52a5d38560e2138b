package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// tablesOf are the paths of a store's tables.
func tablesOf(t testing.TB, fs FS, dir string) []string {
	t.Helper()
	names, err := fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasSuffix(n, tableSuffix) })
	slices.Sort(names)
	for i, n := range names {
		names[i] = fs.PathJoin(dir, n)
	}
	return names
}

// noise is text that does not compress.
func noise(seed uint64, n int) string {
	var b strings.Builder
	for i := seed; b.Len() < n; i = i*6364136223846793005 + 1442695040888963407 {
		fmt.Fprintf(&b, "%016x ", i)
	}
	return b.String()
}

// TestBlankFits makes blanks of all lengths that blocks have, each to the byte.
func TestBlankFits(t *testing.T) {
	s := newStore(t)
	for _, size := range []int{300, 301, 302, 303, 304, 305, 306, 307, 308, 511, 512, 513, 4096, 4101, 16 << 10, 65_676, 65_535, 65_536, 65_537, 1<<20 + 77, 1<<20 + 78} {
		for _, from := range [][]byte{append(keyFrame(1, 2, place{3, 4}, 5), 0), append(keyHash(prefixChunk, [32]byte{1, 2}), 7)} {
			key, b, err := s.makeBlank(from, size, t.Context().Err)
			if err != nil || len(b) != size || !strings.HasPrefix(string(key), string(from)) || checkBlock("", 0, b) != nil {
				t.Errorf("blank of %d: %d bytes, key of %d, %v", size, len(b), len(key), err)
			}
		}
	}
}

// TestDropDamage damages each block of a store in turn, and several, and drops what is
// damaged: what is left is what was there, but for the records that were in the blocks,
// and no table holds damage any more.
func TestDropDamage(t *testing.T) {
	disk := vfs.NewMem()
	s := openMem(t, disk)
	var list []session
	for i := range 6 {
		list = append(list, say(fmt.Sprint("s", i), noise(uint64(i), 100_000), noise(uint64(i)+100, 30_000)))
	}
	commit(t, s, list...)
	must(t, s.Close())
	path := tablesOf(t, disk, s.Dir())[0]
	opened, err := s.openTable(disk, path)
	must(t, err)
	blocks := opened.blocks
	opened.close()
	t.Logf("%d blocks", len(blocks))
	if len(blocks) < 12 {
		t.Fatal("too few")
	}
	sets := [][]int{{3, 4}, {3, 4, 5, 9}, {2, 7}}
	for i := range blocks {
		sets = append(sets, []int{i})
	}
	dropped := 0
	for _, set := range sets {
		fs := cloneDisk(t, disk)
		for _, i := range set {
			flipAt(t, fs, path, int64(blocks[i].Offset+blocks[i].Length/2))
		}
		s, err := Open("store", Options{FS: fs})
		if err != nil {
			continue // the block has what a store cannot open without
		}
		before, err := s.Check(t.Context())
		if errors.Is(err, ErrCorrupt) { // small records
			_ = s.Close()
			continue
		}
		must(t, err)
		gone, err := s.DropDamage(t.Context())
		must(t, err)
		after, err := s.Check(t.Context())
		must(t, err)
		if len(gone) > 0 {
			dropped++
			if len(gone) != len(set) {
				t.Errorf("%v: dropped %v", set, gone)
			}
			for _, f := range after {
				if f.Kind == FaultDamaged && strings.Contains(f.Detail, "checksum") {
					t.Errorf("%v: still there: %v", set, f)
				}
			}
			// A neighbour of what is damaged cannot be read to its end either, until the
			// damage is gone.
			was := sessionsOf(before)
			for _, id := range sessionsOf(after) {
				if !slices.Contains(was, id) {
					t.Errorf("%v: %s is damaged by it: before %v\nafter %v", set, id, before, after)
				}
			}
			if len(was) == 0 {
				t.Errorf("%v: nothing was damaged", set)
			}
			for _, z := range list {
				commit(t, s, say(z.head.Native, "something else"))
				commit(t, s, z)
			}
			wantClean(t, s)
		}
		must(t, s.Compact(t.Context()))
		must(t, s.Close())
	}
	t.Logf("dropped in %d of %d", dropped, len(sets))
	if dropped < len(sets)*2/3 {
		t.Errorf("dropped in %d of %d only", dropped, len(sets))
	}
}

// sessionsOf are the sessions with faults.
func sessionsOf(faults []Fault) []string {
	var ids []string
	for _, f := range faults {
		if !slices.Contains(ids, string(f.Session)) && f.Session != "" {
			ids = append(ids, string(f.Session))
		}
	}
	return ids
}

func cloneDisk(t testing.TB, disk *vfs.MemFS) *vfs.MemFS {
	t.Helper()
	fs := vfs.NewMem()
	if ok, err := vfs.Clone(disk, fs, "store", "store"); err != nil || !ok {
		t.Fatal(ok, err)
	}
	return fs
}

// TestSupersededDamageGoes lets sessions and source bytes that are replaced lie in damaged
// blocks: compactions come through, writing goes on, and check has nothing to say.
func TestSupersededDamageGoes(t *testing.T) {
	for name, c := range map[string]struct {
		put func(t *testing.T, s *Store, round int)
		at  float64
	}{
		"frames": {func(t *testing.T, s *Store, round int) {
			commit(t, s, say("a", noise(uint64(3*round), 200_000)), say("b", noise(uint64(3*round+1), 200_000)), say("c", noise(uint64(3*round+2), 200_000)))
		}, 0.5},
		"chunks": {func(t *testing.T, s *Store, round int) {
			for i := range min(4, 3+round) { // the same, once again, and one that is new
				if round > 1 && i < 3 {
					continue
				}
				b := randomBytes(rng(t, uint64(1000+i)), chunkBytes)
				if i == 3 {
					b = randomBytes(rng(t, uint64(2000+round)), chunkBytes)
				}
				id := putRaw(t, s, b)
				commitAs(t, s, Commit{Cursors: []Cursor{{Path: id.String(), Raw: id}}})
			}
		}, 0.4},
	} {
		t.Run(name, func(t *testing.T) {
			fs := vfs.NewMem()
			s := openMem(t, fs)
			c.put(t, s, 0)
			must(t, s.Close())
			path := tablesOf(t, fs, s.Dir())[0]
			info, err := fs.Stat(path)
			must(t, err)
			flipAt(t, fs, path, int64(float64(info.Size())*c.at))
			s = openMem(t, fs)
			s.rot.every = 10 * time.Millisecond
			if faults, err := s.Check(t.Context()); err != nil || len(faults) == 0 {
				t.Fatalf("nothing is damaged: %v", err)
			}
			c.put(t, s, 1)
			if faults, err := s.Check(t.Context()); err != nil || len(faults) > 1 || len(faults) == 1 && faults[0].Kind != FaultTable {
				t.Fatalf("what was damaged is replaced: %v, %v", faults, err)
			}
			for round := range 32 { // more than may wait
				c.put(t, s, round+2)
				must(t, s.Flush(t.Context()))
			}
			for end := time.Now().Add(5 * time.Minute); s.liveDamage(t) != "" && time.Now().Before(end); {
				time.Sleep(10 * time.Millisecond)
			}
			if left := s.liveDamage(t); left != "" {
				t.Errorf("still in the store: %s", left)
			}
			if n := s.db.Metrics().Levels[0].Sublevels; n > 12 {
				t.Errorf("%d sublevels wait", n)
			}
			wantClean(t, s)
			must(t, s.Close())
		})
	}
}

// liveDamage names a damaged block of a live table.
func (s *Store) liveDamage(t testing.TB) string {
	t.Helper()
	list, err := s.liveTables()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range list {
		opened, bad, err := s.damagedBlocks(one, func() error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if len(bad) > 0 {
			opened.close()
			return bad[0].Error()
		}
	}
	return ""
}

// TestNeededDamageEndsWriting: damage that something needs is not dropped by itself.
// Writing ends with an error that names it and not with a wait for ever; what else there
// is can be read; and when the user asks, the damage goes and writing goes on.
func TestNeededDamageEndsWriting(t *testing.T) {
	fs := vfs.NewMem()
	s := openMem(t, fs)
	commit(t, s, say("a", noise(1, 200_000)), say("b", noise(2, 200_000)), say("c", noise(3, 200_000)))
	must(t, s.Close())
	path := tablesOf(t, fs, s.Dir())[0]
	info, err := fs.Stat(path)
	must(t, err)
	flipAt(t, fs, path, info.Size()/2)
	s = openMem(t, fs)
	s.rot.every, s.rot.stall = 10*time.Millisecond, 100*time.Millisecond
	write := func(s *Store, round int) error {
		z := say("d", noise(uint64(round), 100_000))
		r, err := s.NewRevision(z.head.ID())
		if err != nil {
			return err
		}
		if err := r.Message(z.msgs[0]); err != nil {
			return err
		}
		sealed, err := r.Seal(z.head, "test 1")
		if err != nil {
			return err
		}
		_, err = s.Commit(t.Context(), Commit{Sessions: []*Sealed{sealed}})
		return errors.Join(err, s.Flush(t.Context()))
	}
	for round := 0; round < 60 && err == nil; round++ {
		err = write(s, round)
	}
	if !errors.Is(err, ErrFailed) || !errors.Is(err, ErrInTheWay) || errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), path) {
		t.Fatalf("writing in front of damage: %v", err)
	}
	wantOnly := func(s *Store, id string) {
		t.Helper()
		faults, err := s.Check(t.Context())
		if got := sessionsOf(faults); err != nil || len(got) != 1 || got[0] != id {
			t.Errorf("check: %v, %v", faults, err)
		}
	}
	wantOnly(s, "codex-session:b")
	_ = s.Close() // the failure again

	s = openMem(t, fs)
	wantOnly(s, "codex-session:b")
	dropped, err := s.DropDamage(t.Context())
	if err != nil || len(dropped) != 1 {
		t.Fatalf("dropped %v, %v", dropped, err)
	}
	wantOnly(s, "codex-session:b")
	for round := range 60 {
		must(t, write(s, round))
	}
	commit(t, s, say("b", "something else"))
	wantClean(t, s)
	must(t, s.Close())
}

// TestDropSoleBlock drops the only block of a table, as those of large files have.
func TestDropSoleBlock(t *testing.T) {
	fs := vfs.NewMem()
	s := openMem(t, fs)
	b := randomBytes(rng(t, 31), 12*chunkBytes)
	id := putRaw(t, s, b)
	commitAs(t, s, Commit{Cursors: []Cursor{{Path: "p", Raw: id}}})
	must(t, s.Close())
	hurt := 0
	for _, path := range tablesOf(t, fs, s.Dir()) {
		opened, err := s.openTable(fs, path)
		must(t, err)
		sole := len(opened.blocks) == 1
		at := opened.blocks[0]
		opened.close()
		if sole && hurt < 2 {
			flipAt(t, fs, path, int64(at.Offset+at.Length/2))
			hurt++
		}
	}
	if hurt != 2 {
		t.Fatalf("%d tables of one block", hurt)
	}
	s = openMem(t, fs)
	if dropped, err := s.DropDamage(t.Context()); err != nil || len(dropped) != 2 {
		t.Fatalf("dropped %v, %v", dropped, err)
	}
	if faults, err := s.Check(t.Context()); err != nil || len(faults) != 1 || faults[0].Kind != FaultRaw {
		t.Errorf("check: %v, %v", faults, err)
	}
	if again := putRaw(t, s, b); again != id {
		t.Errorf("put again as %v", again)
	}
	wantRaw(t, s, id, b)
	wantClean(t, s)
	must(t, s.Close())
}
