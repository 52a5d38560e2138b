package store

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
)

// openDamage gives the error of opening the database its kind: what neither the system
// nor a lock says is about what the files hold, whether or not Pebble calls it
// corruption. A file that is missing from its place, or of another size, is damage too.
func openDamage(err error) error {
	var path *fs.PathError
	var errno syscall.Errno
	switch {
	case err == nil, errors.Is(err, ErrCorrupt), isLocked(err):
		return err
	case errors.Is(err, pebble.ErrDBDoesNotExist):
		return corruptf("the list of its files is missing: %w", err)
	case errors.As(err, &path), errors.As(err, &errno), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return err
	}
	return corruptf("%w", err)
}

// formatted reports whether a store was ever made in the folder. If one was, a database
// that is not there is damage: Pebble would make an empty one in its place and remove
// the files of the old.
func (s *Store) formatted() bool {
	_, err := s.opts.FS.Stat(s.opts.FS.PathJoin(s.dir, formatFile))
	return err == nil
}
