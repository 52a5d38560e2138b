package store

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/internal/faultfs"
)

// history writes at random: sessions that change their parents and their source bytes,
// deletions, cursors, unfinished revisions. A log is begun anew now and then. It returns
// what the store holds in the end.
func history(t *testing.T, s *Store, r *rand.Rand, steps int) map[string]session {
	t.Helper()
	now := map[string]session{}
	for range steps {
		name := fmt.Sprintf("s%d", r.IntN(10))
		switch r.IntN(8) {
		case 0:
			if _, err := s.db.AsyncFlush(); err != nil {
				t.Fatal(err)
			}
			continue
		case 1:
			if z, ok := now[name]; ok {
				no, _, err := snap(t, s).Lookup(z.head.ID())
				if err == nil {
					err = s.Delete(context.Background(), no)
				}
				if err != nil {
					t.Fatal(err)
				}
				delete(now, name)
			}
			continue
		}
		z := say(name, text(r, 50), text(r, r.IntN(400))).under(fmt.Sprintf("s%d", r.IntN(10)))
		sealed := seal(t, s, z)
		path := "file of " + name
		raw := putRaw(t, s, randomBytes(r, 300+r.IntN(100)))
		sealed.Raw, sealed.Path = []RawID{raw}, path
		if r.IntN(3) == 0 {
			if err := sealed.rev.flush(context.Background()); err != nil {
				t.Fatal(err)
			}
			if r.IntN(2) == 0 {
				if _, err := s.db.AsyncFlush(); err != nil {
					t.Fatal(err)
				}
			}
			if r.IntN(6) == 0 {
				continue // never committed
			}
		}
		commitAs(t, s, Commit{Sessions: []*Sealed{sealed}, Cursors: []Cursor{{Path: path, Raw: raw, Size: 1, Fingerprint: "x"}}})
		now[name] = z
	}
	return now
}

// TestMend loses one log or two of a random history: what is left opens, says so, and
// after all was imported again nothing is wrong with it.
func TestMend(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 6
	}
	cases := 0
	for seed := range seeds {
		r := rng(t, 100+seed)
		fs := faultfs.New(vfs.NewCrashableMem())
		s := openMem(t, fs)
		history(t, s, r, 20)
		if err := s.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
		gate := faultfs.NewGate(faultfs.On([]faultfs.Kind{faultfs.Create}, faultfs.Table))
		fs.Set(gate.Rule)
		now := history(t, s, r, 12)
		disk, err := fs.Crash(faultfs.Crash{Percent: 100, RNG: r})
		if err != nil {
			t.Fatal(err)
		}
		gate.Open()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		names, err := disk.List("store")
		if err != nil {
			t.Fatal(err)
		}
		names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasSuffix(n, ".log") })
		for range min(len(names), 1+r.IntN(2)) {
			i := r.IntN(len(names))
			if err := disk.Remove("store/" + names[i]); err != nil {
				t.Fatal(err)
			}
			names = slices.Delete(names, i, i+1)
		}
		s = openMem(t, disk)
		if len(s.Losses()) == 0 {
			wantClean(t, s) // it held nothing
		} else {
			cases++
		}
		for _, name := range slices.Sorted(maps.Keys(now)) {
			z := now[name]
			sealed := seal(t, s, z)
			path := "file of " + name
			raw := putRaw(t, s, randomBytes(r, 500))
			sealed.Raw, sealed.Path = []RawID{raw}, path
			commitAs(t, s, Commit{Sessions: []*Sealed{sealed}, Cursors: []Cursor{{Path: path, Raw: raw, Size: 1, Fingerprint: "x"}}})
			wantSession(t, snap(t, s), z)
		}
		for p, err := range snap(t, s).Sessions() { // whose deletion was lost, perhaps with a part of them
			if err != nil {
				t.Fatal(err)
			}
			_, name, _ := p.ID.Split()
			if _, ok := now[name]; !ok {
				if err := s.Delete(context.Background(), p.No); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := s.Settle(context.Background()); err != nil {
			t.Fatal(err)
		}
		wantClean(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			t.Fatalf("seed %d", 100+seed)
		}
	}
	t.Logf("%d losses in %d histories", cases, seeds)
	if cases < int(seeds)/3 {
		t.Error("too few losses to mean anything")
	}
}
