package engine

import (
	"context"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/internal/faultfs"
	"github.com/hansard-search/hansard/engine/store"
)

// TestDiagnose makes archives ill in one way each and wants the doctor's findings.
func TestDiagnose(t *testing.T) {
	var deny *faultfs.FS
	for _, c := range []struct {
		name, code, severity string
		command              string // one of the commands begins with it, behind hansard --archive archive
		hurt                 func(w *world)
	}{
		{"sound", "", "", "", func(w *world) {}},
		{"newer", CodeArchiveNewer, SeverityBlocked, "", func(w *world) {
			if err := faultfs.Replace(w.opts.FS, "archive/FORMAT", []byte("hansard store 9\n")); err != nil {
				t.Fatal(err)
			}
		}},
		{"forbidden", CodeArchiveUnreadable, SeverityBlocked, "", func(w *world) {
			deny = faultfs.New(w.opts.FS)
			deny.Set(func(o faultfs.Op) error {
				if strings.HasSuffix(o.Path, ".sst") || strings.HasSuffix(o.Path, "FORMAT") {
					return syscall.EACCES
				}
				return nil
			})
			w.opts.FS = deny
		}},
		{"index", "INDEX", SeverityDerived, "doctor --fix", func(w *world) { w.flip(w.segmentPath(w.segmentFiles()[0]), 9) }},
		{"session", "SESSIONS", SeverityLost, "import", func(w *world) {
			w.plant(func(db *pebble.DB) error { return overwrite(db, []byte{'f'}, junk) })
		}},
		{"source bytes", "SOURCE_BYTES", SeverityEvidence, "import --force", func(w *world) {
			w.plant(func(db *pebble.DB) error { return overwrite(db, []byte{'y'}, junk) })
		}},
		{"bookkeeping", "BOOKKEEPING", SeverityUpkeep, "import --force", func(w *world) {
			w.plant(func(db *pebble.DB) error { return db.Set([]byte("g?"), junk, pebble.Sync) })
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, Options{NoMerge: true, NoHeal: true})
			w.put(randomScripts(seeded(t), 3)...)
			w.load()
			w.close()
			c.hurt(w)
			d, err := Diagnose(context.Background(), "archive", Options{FS: w.opts.FS, Now: w.opts.Now})
			if err != nil {
				t.Fatal(err)
			}
			if d.Sound != (c.code == "") || d.Worst != c.severity {
				t.Errorf("sound %v, worst %q: %+v", d.Sound, d.Worst, d.Findings)
			}
			for _, f := range d.Findings {
				if f.Code != c.code || f.What == "" || f.Means == "" || len(f.Do) == 0 {
					t.Errorf("finding %+v, want %s that says all", f, c.code)
				}
				if c.command != "" && !slices.ContainsFunc(f.Do, func(s Step) bool {
					return strings.HasPrefix(strings.Join(s.Command, " "), "hansard --archive archive "+c.command)
				}) {
					t.Errorf("steps %+v do not have %q", f.Do, c.command)
				}
			}
			if c.code == "" {
				w.open()
				live, err := DiagnoseOpen(context.Background(), "archive", w.opts, w.Engine)
				if err != nil || !live.Sound {
					t.Errorf("of an open archive: %+v, %v", live, err)
				}
			}
		})
	}
}

// TestDiagnoseRoom: a disk without room for the logs is named with its numbers, though
// every byte is sound, and a process that cannot write any more.
func TestDiagnoseRoom(t *testing.T) {
	w := newWorld(t, Options{NoMerge: true, NoHeal: true})
	w.put(randomScripts(seeded(t), 3)...)
	w.load()
	mem := w.opts.FS.(*vfs.MemFS)
	mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 12_345, TotalBytes: 1 << 30})
	disk := faultfs.New(mem)
	diagnose := func(held bool) *Diagnosis {
		t.Helper()
		o := Options{FS: disk, Now: w.opts.Now}
		look := func() (*Diagnosis, error) { return Diagnose(t.Context(), "archive", o) }
		if held {
			look = func() (*Diagnosis, error) { return DiagnoseOpen(t.Context(), "archive", o, w.Engine) }
		}
		d, err := look()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	want := func(what string, d *Diagnosis) {
		t.Helper()
		if len(d.Findings) != 1 || d.Findings[0].Code != CodeDiskFull || d.Error == nil || d.Error.Code != CodeDiskFull || !strings.Contains(d.Findings[0].What, what) {
			t.Errorf("want one finding with %q: %+v", what, d)
		}
	}
	want("12.3 kB are free", diagnose(true))
	w.close()
	want("12.3 kB are free, and 1.0 MB are needed", diagnose(false))
	mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 30, TotalBytes: 1 << 30})
	if d := diagnose(false); !d.Sound || d.Sessions != 3 {
		t.Errorf("with room: %+v", d)
	}
	w.opts.FS = disk
	w.open()
	disk.Set(faultfs.Fail(faultfs.Writes, syscall.ENOSPC))
	if _, err := w.Rebuild(t.Context(), nil); codeOf(err) != CodeDiskFull {
		t.Fatal(err)
	}
	d := diagnose(true)
	if len(d.Findings) != 1 || d.Findings[0].Code != CodeDiskFull || d.Error == nil || !strings.Contains(d.Findings[0].What, "process") {
		t.Errorf("of a process that cannot write: %+v", d)
	}
	if err := w.Engine.Close(); !store.IsFull(err) {
		t.Errorf("close: %v", err)
	}
	w.Engine = nil
}
