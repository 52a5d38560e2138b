package store

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// ErrNoFormat marks the remains of a store that lack the file that names their format.
var ErrNoFormat = fmt.Errorf("%w: its file %s is missing", ErrCorrupt, formatFile)

// ErrBadFormat marks a store whose file that names its format says something else.
var ErrBadFormat = fmt.Errorf("%w: its file %s does not name a format", ErrCorrupt, formatFile)

// Exists reports whether dir holds a store. It is an error that wraps [ErrNoFormat] if
// there are remains of one: a new store there would replace them.
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

// headless returns ErrNoFormat if dir holds more than a creation that was cut off can
// have left: tables, a seal, or a log without the marker that is made before it.
func headless(dir string, fs FS) error {
	names, err := fs.List(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	marker, log := false, false
	for _, n := range names {
		if !own.MatchString(n) {
			continue // other programs write logs and tables too
		}
		marker = marker || strings.HasPrefix(n, "marker.manifest.")
		switch {
		case n == sealFile, strings.HasSuffix(n, ".sst"):
			return ErrNoFormat
		case strings.HasSuffix(n, ".log"):
			info, err := fs.Stat(fs.PathJoin(dir, n))
			log = log || err == nil && info.Size() > 0
		}
	}
	if log && !marker {
		return ErrNoFormat
	}
	return nil
}
