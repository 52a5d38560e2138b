package store

import (
	"errors"
	"fmt"
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
	if name := damagedLog(err); name != "" {
		return corruptf("file %s: %w", name, err)
	}
	return corruptf("%w", err)
}

// damagedLog is the write-ahead log that could not be replayed, if that is what err
// says: Pebble names it in a detail, which is no part of the text.
func damagedLog(err error) string {
	var d interface{ ErrorDetail() string }
	var n uint64
	if errors.As(err, &d) {
		if _, err := fmt.Sscanf(d.ErrorDetail(), "replaying wal %d", &n); err == nil {
			return fmt.Sprintf("%06d.log", n)
		}
	}
	return ""
}

// formatted reports whether a store was ever made in the folder. If one was, a database
// that is not there is damage: Pebble would make an empty one in its place and remove
// the files of the old.
func (s *Store) formatted() bool {
	_, err := s.opts.FS.Stat(s.opts.FS.PathJoin(s.dir, formatFile))
	return err == nil
}
