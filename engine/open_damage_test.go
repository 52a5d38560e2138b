package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/internal/faultfs"
)

// TestDamagedStoreStaysShut takes away or cuts the files that a store cannot be opened
// without. It is refused by name, no file of it changes, also by one who might make a
// new archive, and the doctor explains it.
func TestDamagedStoreStaysShut(t *testing.T) {
	w := newWorld(t, Options{NoMerge: true})
	w.put(randomScripts(seeded(t), 6)...)
	w.load()
	w.close()
	sound := contents(t, w.opts.FS, "archive")
	for _, c := range []struct {
		name, file string
		hurt       func(fs vfs.FS, path string) error
	}{
		{"no marker", "marker.manifest", func(fs vfs.FS, path string) error { return fs.Remove(path) }},
		{"no manifest", "MANIFEST-", func(fs vfs.FS, path string) error { return fs.Remove(path) }},
		{"no table", ".sst", func(fs vfs.FS, path string) error { return fs.Remove(path) }},
		{"short table", ".sst", func(fs vfs.FS, path string) error { return faultfs.Replace(fs, path, []byte(sound[path][:100])) }},
		{"empty manifest", "MANIFEST-", func(fs vfs.FS, path string) error { return faultfs.Replace(fs, path, nil) }},
		{"no format", "FORMAT", func(fs vfs.FS, path string) error { return fs.Remove(path) }},
		{"no format, no marker", "FORMAT", func(fs vfs.FS, path string) error {
			for other := range sound {
				if strings.Contains(other, "marker.manifest") {
					if err := fs.Remove(other); err != nil {
						return err
					}
				}
			}
			return fs.Remove(path)
		}},
		{"no format in its file", "FORMAT", func(fs vfs.FS, path string) error { return faultfs.Replace(fs, path, nil) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			disk := vfs.NewMem()
			for path, b := range sound {
				if err := errors.Join(disk.MkdirAll(disk.PathDir(path), 0o700), faultfs.Replace(disk, path, []byte(b))); err != nil {
					t.Fatal(err)
				}
			}
			for path := range sound {
				if strings.Contains(path, c.file) {
					if err := c.hurt(disk, path); err != nil {
						t.Fatal(err)
					}
				}
			}
			before := contents(t, disk, "archive")
			for _, o := range []Options{{}, {Create: true}, {ReadOnly: true}} {
				o.FS, o.Now = disk, w.opts.Now
				e, err := Open("archive", o)
				if err == nil {
					e.Close()
					t.Fatalf("%+v opens it", o)
				}
				var known *Error
				if !errors.As(err, &known) || known.Code != CodeArchiveDamaged || known.Hint == "" {
					t.Errorf("error %v, want %s with a hint", err, CodeArchiveDamaged)
				}
			}
			worst := SeverityLost
			if strings.HasPrefix(c.name, "no format") {
				worst = SeverityBlocked // the sessions are most likely all there
			}
			d, err := Diagnose(context.Background(), "archive", Options{FS: disk, Now: w.opts.Now})
			if err != nil || d.Opens || d.Sound || d.Worst != worst || len(d.Findings[0].Do) < 2 {
				t.Errorf("diagnosis %+v, %v", d, err)
			}
			for path, b := range contents(t, disk, "archive") {
				old, was := before[path]
				if was && old != b && !strings.HasSuffix(path, "LOCK") {
					t.Errorf("%s has changed", path)
				}
				delete(before, path)
			}
			for path := range before {
				t.Errorf("%s is gone", path)
			}
		})
	}
	w.open()
}
