package store

import (
	"errors"
	"os"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// ErrLocked means that another process, or another Store of this one, has the
// folder open.
var ErrLocked = errors.New("store is open elsewhere")

// Disk is the disk, with files that only their owner reads.
var Disk FS = diskFS{vfs.Default}

// Exists reports whether dir holds a store.
func Exists(dir string, fs FS) (bool, error) {
	if fs == nil {
		fs = Disk
	}
	_, err := fs.Stat(fs.PathJoin(dir, formatFile))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// isLocked tells the error of a held lock, for which the file systems have no type
// of their own.
func isLocked(err error) bool {
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) && strings.Contains(err.Error(), "lock") ||
		strings.Contains(err.Error(), "lock held by current process")
}
