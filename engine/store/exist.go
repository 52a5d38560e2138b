package store

import (
	"errors"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

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
