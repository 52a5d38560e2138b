package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/internal/faultfs"
	"github.com/hansard-search/hansard/engine/store"
)

// TestBitRot flips one bit in a file of a store that was closed: the flip is found
// and the file named, or every answer is as it was.
func TestBitRot(t *testing.T) {
	flips := 300
	if *long {
		flips = 2000
	} else if testing.Short() {
		flips = 12
	}
	r := seeded(t)
	s := restingStage(t, r)
	s.rot(r, flips, func() *vfs.MemFS {
		disk, err := s.fs.Crash(faultfs.Crash{Percent: 100, RNG: r})
		if err != nil {
			t.Fatal(err)
		}
		return disk
	}, true)
}

// TestBitRotOfKilled is the same for an archive whose process was killed: what it had
// acknowledged is in its logs, and no seal holds its MANIFEST.
func TestBitRotOfKilled(t *testing.T) {
	flips := 100
	if *long {
		flips = 2000
	} else if testing.Short() {
		flips = 8
	}
	r := seeded(t)
	s, dead, _ := killedStage(t, r)
	s.rot(r, flips, func() *vfs.MemFS { return dead.CrashClone(vfs.CrashCloneCfg{}) }, false)
}

// rot flips one bit each of copies of a disk.
func (s *stage) rot(r *rand.Rand, flips int, copyDisk func() *vfs.MemFS, closed bool) {
	t := s.t
	files := storeFiles(t, copyDisk())
	kinds := []string{"SST", "MANIFEST", "WAL", "OPTIONS", "marker", "FORMAT", "MARK", "SEAL"}
	results := map[string]map[string]int{}
	worst := 0
	var mu sync.Mutex // guards those above
	var work sync.WaitGroup
	slots := make(chan struct{}, 8)
	for range flips {
		kind := kinds[r.IntN(len(kinds))]
		list := files[kind]
		if len(list) == 0 {
			continue
		}
		disk := copyDisk()
		name := bySize(t, disk, list, r)
		bit, err := flip(disk, name, r)
		if err != nil {
			t.Fatal(err)
		}
		slots <- struct{}{}
		work.Go(func() {
			v := s.examine(disk, name)
			<-slots
			mu.Lock()
			defer mu.Unlock()
			if results[kind] == nil {
				results[kind] = map[string]int{}
			}
			results[kind][v.what]++
			if closed && kind == "WAL" && v.what != "harmless" {
				t.Errorf("bit %d of %s is %s: the log of a closed store holds records", bit, name, v.what)
			}
			if kind == "SST" {
				worst = max(worst, v.lost)
			}
			if v.err != nil {
				t.Errorf("bit %d of %s: %v", bit, name, v.err)
			}
		})
	}
	work.Wait()
	for _, k := range kinds {
		t.Logf("%s: %d files, %v", k, len(files[k]), results[k])
	}
	t.Logf("one bit of an SST costs up to %d of %d sessions", worst, len(s.may))
}

// restingStage is an archive of several tables that was closed.
func restingStage(t *testing.T, r *rand.Rand) *stage {
	s := newStage(t, vfs.NewCrashableMem(), Options{FlushBytes: 64 << 10, NoMerge: true, QueryLimits: stageOptions.QueryLimits})
	steps := []func() error{s.open}
	for i := range 4 {
		next := map[string]int{}
		for j := range 8 {
			next[fmt.Sprintf("r%d", 10+8*i+j)] = 1 + r.IntN(3)
		}
		steps = append(steps, func() error { return s.load(next) }, func() error { return s.e.store.Flush(context.Background()) })
	}
	steps = append(steps, func() error { return s.remove("r13") }, func() error { return s.e.Close() })
	for _, step := range steps {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// storeFiles lists the files of the store by kind.
func storeFiles(t testing.TB, fs store.FS) map[string][]string {
	names, err := fs.List(stageDir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]string{}
	for _, n := range names {
		kind := faultfs.KindOf(n).String()
		switch {
		case strings.HasPrefix(n, "marker."):
			kind = "marker"
		case strings.HasPrefix(n, "OPTIONS"):
			kind = "OPTIONS"
		case n == "FORMAT" || n == "MARK" || n == "SEAL":
			kind = n
		}
		files[kind] = append(files[kind], path.Join(stageDir, n))
	}
	return files
}

// bySize chooses a file as often as it has bytes.
func bySize(t testing.TB, fs store.FS, list []string, r *rand.Rand) string {
	var ends []int64
	sum := int64(1)
	for _, name := range list {
		i, err := fs.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		sum += i.Size()
		ends = append(ends, sum)
	}
	at := r.Int64N(sum)
	for i, end := range ends {
		if at < end {
			return list[i]
		}
	}
	return list[0]
}

// flip turns one random bit of a file around, if it has any.
func flip(fs store.FS, name string, r *rand.Rand) (int, error) {
	f, err := fs.Open(name)
	if err != nil {
		return 0, err
	}
	b, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil || len(b) == 0 {
		return 0, err
	}
	bit := r.IntN(8 * len(b))
	b[bit/8] ^= 1 << (bit % 8)
	return bit, faultfs.Replace(fs, name, b)
}

// A verdict says what a flip did.
type verdict struct {
	what string
	lost int // sessions that cannot be read
	err  error
}

// examine opens a damaged archive and looks whether it says so.
func (s *stage) examine(disk store.FS, name string) verdict {
	o := s.opts
	o.FS, o.Create = disk, false
	e, err := Open(stageDir, o)
	if err != nil {
		code := codeOf(err)
		if code != CodeArchiveDamaged && code != CodeArchiveNewer {
			return verdict{what: "refused", err: fmt.Errorf("code %s: %w", code, err)}
		}
		if base := strings.TrimSuffix(path.Base(name), ".sst"); !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(base)) {
			return verdict{what: "refused", err: fmt.Errorf("open does not name %s: %w", base, err)}
		}
		return verdict{what: "refused"}
	}
	defer e.Close() // what it says of the damage is not asked here
	lost, err := s.damage(e)
	if err != nil {
		return verdict{what: "wrong", lost: lost, err: err}
	}
	report, err := e.Check(context.Background())
	if err != nil && codeOf(err) != CodeArchiveDamaged {
		return verdict{what: "wrong", lost: lost, err: err}
	}
	told := err != nil || len(report.Faults) > 0
	switch {
	case told:
		return verdict{what: "told", lost: lost}
	case lost > 0:
		return verdict{what: "silent", lost: lost, err: fmt.Errorf("%d sessions are lost and the check is clean", lost)}
	}
	return verdict{what: "harmless"}
}

// damage counts the sessions that cannot be read. An error is a session that reads
// wrongly, or a search that is wrong and does not say so.
func (s *stage) damage(e *Engine) (lost int, err error) {
	alive := 0
	for name, versions := range s.may {
		if versions[0] > 0 {
			alive++
		}
		v, err := e.version(name, versions)
		if code := codeOf(err); err != nil && code != CodeArchiveDamaged {
			if _, missing := e.texts(stageID(name)); codeOf(missing) != CodeNotFound {
				return lost, err
			}
		}
		if err != nil || v != versions[0] {
			lost++
		}
	}
	env, err := e.Search(context.Background(), SearchRequest{Query: "everywhere", Limit: 100})
	if err != nil {
		if codeOf(err) != CodeArchiveDamaged {
			return lost, err
		}
		return max(lost, 1), nil
	}
	if env.Total != alive && !env.Partial {
		return lost, fmt.Errorf("a search finds %d of %d sessions and does not say that it is partial", env.Total, alive)
	}
	return lost, nil
}
