package store

import (
	"errors"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// makeDir makes the store's folder and what lacks above it, durably: a folder is
// there after a power cut only when the folder that names it was synced. As long as
// the store is not complete nobody knows who made those above, so all are synced.
func (s *Store) makeDir() error {
	if _, err := s.fs.Stat(s.fs.PathJoin(s.dir, formatFile)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := s.fs.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	for d := s.dir; ; {
		up := s.fs.PathDir(d)
		if err := syncDir(s.fs, up); err != nil && !errors.Is(err, os.ErrPermission) {
			return err
		}
		if up == d || s.fs.PathDir(up) == up {
			return nil
		}
		d = up
	}
}

func syncDir(fs vfs.FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
