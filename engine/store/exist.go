package store

import (
	"errors"
	"os"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Disk is the disk, with files that only their owner reads.
var Disk FS = diskFS{vfs.Default}

// Exists reports whether dir holds a store. It is an error that wraps [ErrCorrupt] if
// there are remains of one without what names it: a new store there would replace them.
func Exists(dir string, fs FS) (bool, error) {
	if fs == nil {
		fs = Disk
	}
	_, err := fs.Stat(fs.PathJoin(dir, formatFile))
	if errors.Is(err, os.ErrNotExist) {
		return false, headless(dir, fs)
	}
	return err == nil, err
}

// headless returns an error if dir holds more than a creation that was cut off can
// have left: tables, a seal, or a log without the marker that is made before it.
func headless(dir string, fs FS) error {
	names, err := fs.List(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	marker, log := false, ""
	for _, n := range names {
		marker = marker || strings.HasPrefix(n, "marker.manifest.")
		switch {
		case n == sealFile, strings.HasSuffix(n, ".sst"):
			return corruptf("file %s is missing beside %s", formatFile, n)
		case strings.HasSuffix(n, ".log"):
			if info, err := fs.Stat(fs.PathJoin(dir, n)); err == nil && info.Size() > 0 {
				log = n
			}
		}
	}
	if log != "" && !marker {
		return corruptf("file %s and Pebble's marker are missing beside %s", formatFile, log)
	}
	return nil
}
