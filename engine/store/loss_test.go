package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/internal/faultfs"
)

// A corpse is a store whose process was killed while several write-ahead logs held what
// it had acknowledged.
type corpse struct {
	disk *vfs.MemFS
	logs []string // that hold records, oldest first
	list []session
}

// kill makes sessions until so many logs hold some, and kills the process.
func kill(t *testing.T, logs int) *corpse {
	t.Helper()
	fs := faultfs.New(vfs.NewCrashableMem())
	s := openMem(t, fs)
	gate := faultfs.NewGate(faultfs.On([]faultfs.Kind{faultfs.Create}, faultfs.Table))
	fs.Set(gate.Rule)
	c := &corpse{}
	r := rng(t, 3)
	for i := range 4 * logs {
		z := say(fmt.Sprintf("s%02d", i), "first", text(r, 100)).under(fmt.Sprintf("s%02d", i-1))
		sealed := seal(t, s, z)
		sealed.Raw = []RawID{putRaw(t, s, randomBytes(r, 500))}
		if i%4 == 0 { // its frames come before the commit, in another log
			if err := sealed.rev.flush(context.Background()); err != nil {
				t.Fatal(err)
			}
			if i > 0 {
				if _, err := s.db.AsyncFlush(); err != nil {
					t.Fatal(err)
				}
			}
		}
		commitAs(t, s, Commit{Sessions: []*Sealed{sealed}, Cursors: []Cursor{{Path: z.head.Native, Size: 1, Fingerprint: "x"}}})
		if err := s.SetTitle(context.Background(), z.head.ID(), "title of "+z.head.Native); err != nil {
			t.Fatal(err)
		}
		c.list = append(c.list, z)
	}
	var err error
	if c.disk, err = fs.Crash(faultfs.Crash{Percent: 100, RNG: r}); err != nil {
		t.Fatal(err)
	}
	gate.Open()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, n := range c.files(t) {
		if i, err := c.disk.Stat("store/" + n); strings.HasSuffix(n, ".log") && err == nil && i.Size() > 0 {
			c.logs = append(c.logs, n)
		}
	}
	if len(c.logs) != logs {
		t.Fatalf("the logs %v hold records, want %d", c.logs, logs)
	}
	return c
}

func (c *corpse) files(t *testing.T) []string {
	names, err := c.disk.List("store")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// without is a copy of the disk that lacks a file.
func (c *corpse) without(t *testing.T, name string) *vfs.MemFS {
	t.Helper()
	disk := c.disk.CrashClone(vfs.CrashCloneCfg{})
	if err := disk.Remove("store/" + name); err != nil {
		t.Fatal(err)
	}
	return disk
}

// lacks counts the sessions and titles that are not as they were acknowledged.
func lacks(t *testing.T, s *Store, list []session) (n int) {
	t.Helper()
	sn := snap(t, s)
	for _, z := range list {
		title, err := sn.Title(z.head.ID())
		if err != nil || title != "title of "+z.head.Native || sameSession(sn, z) != nil {
			n++
		}
	}
	return n
}

func wantFault(t *testing.T, s *Store, kind FaultKind) {
	t.Helper()
	faults, err := s.Check(context.Background())
	if err != nil || !slices.ContainsFunc(faults, func(f Fault) bool { return f.Kind == kind }) {
		t.Errorf("faults %v, %v, want one of %s", faults, err, kind)
	}
}

// TestLostFile removes each file of a killed store in turn, and of one that was closed
// after it: the loss is named, or nothing is lost.
func TestLostFile(t *testing.T) {
	dead := kill(t, 3)
	s := openMem(t, dead.disk)
	wantClean(t, s)
	if n := lacks(t, s, dead.list); n > 0 || len(s.Losses()) > 0 {
		t.Fatalf("%d sessions are lost in the crash, %v", n, s.Losses())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	closed := &corpse{disk: dead.disk, list: dead.list}
	for _, c := range []struct {
		name string
		*corpse
	}{{"killed", kill(t, 3)}, {"closed", closed}} {
		told, harmless := 0, 0
		for _, name := range c.files(t) {
			disk := c.without(t, name)
			for _, readOnly := range []bool{true, false} {
				s, err := Open("store", Options{FS: disk, ReadOnly: readOnly})
				if err != nil {
					base := strings.TrimSuffix(name, ".sst")
					if named := strings.Contains(err.Error(), base); !named && !errors.Is(err, ErrCorrupt) && name != formatFile {
						t.Errorf("%s: without %s: %v", c.name, name, err)
					}
					told++
					continue
				}
				faults, err := s.Check(context.Background())
				if err != nil {
					t.Errorf("%s: without %s: %v", c.name, name, err)
				}
				n := lacks(t, s, c.list)
				if n > 0 && (len(faults) == 0 || len(s.Losses()) == 0) {
					t.Errorf("%s: without %s %d sessions are lost, and nobody says so", c.name, name, n)
				}
				if isLog := slices.Contains(c.logs, name); isLog && n == 0 {
					t.Errorf("%s: without %s nothing is lost: the test tests nothing", c.name, name)
				}
				if len(faults) > 0 {
					told++
				} else {
					harmless++
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		}
		t.Logf("%s: %d files, %d losses told, %d harmless", c.name, len(c.files(t)), told, harmless)
	}
}

// TestLossIsKept loses a log in the middle, or the last one: the loss stays known
// through later commits and restarts, whatever comes, until it is settled.
func TestLossIsKept(t *testing.T) {
	for i, kind := range []LossKind{LossLog, LossLog, LossTail} {
		c := kill(t, 3)
		disk := c.without(t, c.logs[i])
		for round := range 3 {
			s := openMem(t, disk)
			l := s.Losses()
			if len(l) != 1 || l[0].Kind != kind || l[0].Writes < 8 || l[0].Commits < 4 || l[0].Commits > 5 {
				t.Fatalf("log %d, opening %d: losses %+v", i, round, l)
			}
			wantFault(t, s, FaultLost)
			commit(t, s, say(fmt.Sprint("later", round), "text"))
			if round == 1 { // a kill
				disk = disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rng(t, 1)})
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		// All is imported again; then nothing else is wrong.
		s := openMem(t, disk)
		for _, z := range c.list {
			commit(t, s, z)
			if err := s.SetTitle(context.Background(), z.head.ID(), "title of "+z.head.Native); err != nil {
				t.Fatal(err)
			}
		}
		if n := lacks(t, s, c.list); n > 0 {
			t.Errorf("log %d: %d sessions are not as imported again", i, n)
		}
		settled, err := s.Settle(context.Background())
		if err != nil || len(settled) != 1 {
			t.Errorf("settled %v, %v", settled, err)
		}
		faults, err := s.Check(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range faults {
			t.Log(f)
			if f.Kind != FaultRawLink && f.Kind != FaultRaw && f.Kind != FaultRawOrphan {
				t.Errorf("log %d: after a new import: %v", i, f)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = openMem(t, disk)
		if l := s.Losses(); len(l) > 0 {
			t.Errorf("settled and still there: %v", l)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLostWatch removes MARK or SEAL alone: it is named until it is settled, and made
// anew by whoever may write.
func TestLostWatch(t *testing.T) {
	for name, kind := range map[string]FaultKind{markFile: FaultNoMark, sealFile: FaultNoSeal} {
		fs := vfs.NewMem()
		s := openMem(t, fs)
		commit(t, s, say("m", "text"))
		for _, step := range []error{s.Close(), fs.Remove("store/" + name)} {
			if step != nil {
				t.Fatal(step)
			}
		}
		for _, readOnly := range []bool{true, true, false, false, true} {
			s, err := Open("store", Options{FS: fs, ReadOnly: readOnly})
			if err != nil {
				t.Fatal(err)
			}
			if l := s.Losses(); len(l) != 1 || l[0].Data() {
				t.Errorf("without %s: losses %v", name, l)
			}
			wantFault(t, s, kind)
			_, err = fs.Stat("store/" + name)
			if missing := errors.Is(err, os.ErrNotExist); readOnly && !missing && len(s.guard.Losses) == 0 || !readOnly && missing {
				t.Errorf("%s: %v, read-only %v", name, err, readOnly)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		s = openMem(t, fs)
		if _, err := s.Settle(context.Background()); err != nil {
			t.Fatal(err)
		}
		wantClean(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestChainIsPruned: the links stay few, and a loss is found all the same.
func TestChainIsPruned(t *testing.T) {
	fs := vfs.NewCrashableMem()
	s := openMem(t, fs)
	s.chain.long = 16
	for i := range 200 {
		commit(t, s, say(fmt.Sprint(i), "text"))
		if i%8 == 0 {
			if err := s.Flush(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	}
	n := keys(t, s, prefixBatch)
	if n > 100 || s.chain.base.link == 0 {
		t.Errorf("%d links of %d are left", n, s.chain.last)
	}
	disk := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rng(t, 1)})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, fs := range []FS{fs, disk} {
		s := openMem(t, fs)
		if l := s.Losses(); len(l) > 0 {
			t.Errorf("losses %v", l)
		}
		wantClean(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDamagedLinks opens a store whose links cannot be read: a reader is told, nothing
// else suffers, and after a writer has opened it losses are found again.
func TestDamagedLinks(t *testing.T) {
	c := kill(t, 2)
	s := openMem(t, c.disk)
	if err := errors.Join(s.db.Set(keyLink(3), []byte{0x80}, pebble.Sync), s.Close()); err != nil {
		t.Fatal(err)
	}
	s, err := Open("store", Options{FS: c.disk, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	wantFault(t, s, FaultDamaged)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		s = openMem(t, c.disk)
		wantClean(t, s)
		if n := lacks(t, s, c.list); n > 0 || len(s.Losses()) > 0 || s.chain.blur != (round == 0) {
			t.Errorf("%d sessions are lost, losses %v, blur %v", n, s.Losses(), s.chain.blur)
		}
		if round == 1 {
			s.mark.write(s.Generation()+1, s.chain.last+2)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s = openMem(t, c.disk)
	defer s.Close()
	if l := s.Losses(); len(l) != 1 || l[0].Writes != 2 || l[0].Commits != 1 {
		t.Errorf("losses %v", l)
	}
}

func oldMark(generation uint64) []byte {
	b := binary.LittleEndian.AppendUint64([]byte(markMagic), generation)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli()))
}

// TestOldStore opens a store without links and guard, with a mark of its generation
// only: nothing is wrong with it, unless it is behind that mark.
func TestOldStore(t *testing.T) {
	for _, ahead := range []uint64{0, 4} {
		fs := vfs.NewMem()
		s := openMem(t, fs)
		commit(t, s, say("l", "1"))
		b := s.db.NewBatch()
		for _, err := range []error{
			b.DeleteRange([]byte{prefixBatch}, []byte{prefixBatch + 1}, nil), b.Delete(keyBase, nil), b.Delete(keyGuard, nil),
			s.db.Apply(b, pebble.Sync), s.Close(), fs.Remove("store/" + sealFile),
			faultfs.Replace(fs, "store/"+markFile, oldMark(1+ahead)),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			s = openMem(t, fs)
			l := s.Losses()
			if ahead == 0 && len(l) > 0 || ahead > 0 && (len(l) != 1 || l[0].Commits != ahead || l[0].Kind != LossTail) {
				t.Errorf("ahead by %d: losses %v", ahead, l)
			}
			commit(t, s, say("l", "1", "2"))
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestPruneAndLoss prunes while tables cannot be written and takes a log away then: the
// links of what no table holds must still be there.
func TestPruneAndLoss(t *testing.T) {
	fs := faultfs.New(vfs.NewCrashableMem())
	s := openMem(t, fs)
	s.chain.long = 4
	commit(t, s, say("first", "text"))
	if err := s.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	gate := faultfs.NewGate(faultfs.On([]faultfs.Kind{faultfs.Create}, faultfs.Table))
	fs.Set(gate.Rule)
	for i := range 20 {
		commit(t, s, say(fmt.Sprint(i), "text"))
	}
	disk, err := fs.Crash(faultfs.Crash{Percent: 100, RNG: rng(t, 3)})
	if err != nil {
		t.Fatal(err)
	}
	gate.Open()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	c := &corpse{disk: disk}
	for _, n := range c.files(t) {
		i, err := disk.Stat("store/" + n)
		if err != nil || !strings.HasSuffix(n, ".log") || i.Size() == 0 {
			continue
		}
		s, err := Open("store", Options{FS: c.without(t, n), ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		l := s.Losses()
		if first := len(c.logs) == 0; len(l) != 1 && !first { // it may have waited for its removal
			t.Errorf("without %s: losses %v", n, l)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		c.logs = append(c.logs, n)
	}
	if len(c.logs) < 2 {
		t.Errorf("only %v hold records", c.logs)
	}
}
