package store

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
)

// ErrForeign marks a folder that holds something else than an archive.
var ErrForeign = errors.New("the folder holds other files")

// own are the names that an archive's folder may hold before its format is written:
// what a creation that was cut off has left.
var own = regexp.MustCompile(`^(LOCK|FORMAT(\.new)?|MARK(\.new)?|SEAL(\.new)?|CURRENT|MANIFEST-\d+|OPTIONS-\d+|marker\..*|temporary\..*|\d+\.(log|sst|blob|dbtmp)|segments|quarantine|socket.*|owner\.json.*|lost\+found)$`)

// Vacant returns an error that wraps [ErrForeign] if a new store may not be made in
// dir, because something else is there.
func Vacant(dir string, fs FS) error {
	if fs == nil {
		fs = Disk
	}
	names, err := fs.List(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, n := range names {
		if !own.MatchString(n) {
			return fmt.Errorf("%w: %s", ErrForeign, fs.PathJoin(dir, n))
		}
	}
	return nil
}
