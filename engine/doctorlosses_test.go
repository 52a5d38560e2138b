package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/store"
)

// TestRestoreFormat takes the file FORMAT away, or garbles it: the doctor asks the
// database, and writes the file again if that is all that is wrong, and nothing else.
func TestRestoreFormat(t *testing.T) {
	for _, content := range []string{"missing", "", "junk\n", "hansard store x\n", "hansard store 0\n"} {
		t.Run(fmt.Sprintf("%q", content), func(t *testing.T) { testRestoreFormat(t, content) })
	}
}

func testRestoreFormat(t *testing.T, content string) {
	for _, c := range []struct {
		name, code string
		hurt       func(w *world) error
		err        error
	}{
		{"alone", findingFormat, func(*world) error { return nil }, nil},
		{"of a newer store", CodeArchiveNewer, func(w *world) error {
			w.plant(func(db *pebble.DB) error { return db.Set([]byte("mformat"), []byte{9}, pebble.Sync) })
			return nil
		}, store.ErrVersion},
		{"no format in the database either", CodeArchiveDamaged, func(w *world) error {
			w.plant(func(db *pebble.DB) error { return db.Delete([]byte("mformat"), pebble.Sync) })
			return nil
		}, store.ErrCorrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, Options{NoMerge: true, NoHeal: true})
			w.put(randomScripts(seeded(t), 3)...)
			w.load()
			w.close()
			err := errors.Join(c.hurt(w), w.opts.FS.Remove("archive/FORMAT"))
			if content != "missing" {
				err = errors.Join(err, plantFile(w.opts.FS, "archive/FORMAT", content))
			}
			before := contents(t, w.opts.FS, "archive")
			o := Options{FS: w.opts.FS, Now: w.opts.Now}
			d, err2 := Diagnose(context.Background(), "archive", o)
			if err := errors.Join(err, err2); err != nil || len(d.Findings) != 1 || d.Findings[0].Code != c.code || d.Worst != SeverityBlocked {
				t.Fatalf("diagnosis %+v, %v", d, err)
			}
			offered := slices.ContainsFunc(d.Findings[0].Do, func(s Step) bool { return slices.Contains(s.Command, "--fix") })
			if err := RestoreFormat("archive", o); !errors.Is(err, c.err) || offered != (c.err == nil) {
				t.Errorf("restored: %v, want %v; --fix offered: %v", err, c.err, offered)
			}
			after := contents(t, w.opts.FS, "archive")
			if got := after["archive/FORMAT"]; (got == "hansard store 1\n") != (c.err == nil) {
				t.Errorf("FORMAT is %q", got)
			}
			delete(after, "archive/FORMAT")
			for path, b := range after {
				if before[path] != b && !strings.HasSuffix(path, "LOCK") {
					t.Errorf("%s has changed", path)
				}
			}
			if c.err == nil {
				w.open()
				w.check()
			}
		})
	}
}

func plantFile(fs vfs.FS, name, content string) error {
	f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(content))
	return errors.Join(err, f.Close())
}

// TestLossesAreTold removes the files that tell of a loss: check, doctor and status name
// them until they are settled, and no answer is called partial for it.
func TestLossesAreTold(t *testing.T) {
	w := newWorld(t, Options{NoMerge: true, NoHeal: true})
	w.put(randomScripts(seeded(t), 3)...)
	w.load()
	w.close()
	for _, name := range []string{"MARK", "SEAL"} {
		if err := w.opts.FS.Remove("archive/" + name); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{FS: w.opts.FS, Now: w.opts.Now}
	for round := range 2 { // before and after somebody wrote
		d, err := Diagnose(context.Background(), "archive", o)
		if err != nil || len(d.Findings) != 1 || d.Findings[0].Code != findingWatch || d.Findings[0].Count != 2 || !d.Unsettled() {
			t.Errorf("round %d: diagnosis %+v, %v", round, d, err)
		}
		if f := d.Findings[0]; !strings.Contains(f.Means, "No answer is called partial") || slices.ContainsFunc(f.Do, func(s Step) bool { return strings.Contains(s.Text, "partial") }) {
			t.Errorf("round %d: finding %+v", round, f)
		}
		for _, name := range []string{"MARK", "SEAL"} {
			if _, err := w.opts.FS.Stat("archive/" + name); (err == nil) != (round == 1) {
				t.Errorf("round %d: %s: %v", round, name, err)
			}
		}
		w.open()
		st, err := w.Stats(context.Background())
		if err != nil || len(st.Losses) != 2 || st.Losses[0].Code != "STORE_NO_MARK" || st.Losses[1].Code != "STORE_NO_SEAL" || !st.Ready {
			t.Errorf("round %d: status %+v, %v", round, st, err)
		}
		if env := w.search(SearchRequest{}); env.Partial {
			t.Errorf("partial for %v", env.Missing)
		}
		if round == 1 {
			if _, err := w.Settle(context.Background()); err != nil {
				t.Error(err)
			}
		} else {
			w.close()
		}
	}
	w.check()
}
