package source

import (
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// readSidecar reads up to limit bytes of the regular file side, which is relative
// to the folder of rel below dir. It stays within dir and, where rel has folders,
// within the first of them: a session reaches its own project and no other.
func readSidecar(dir, rel, side string, limit int64) ([]byte, error) {
	full := path.Join(path.Dir(rel), side)
	project, _, nested := strings.Cut(rel, "/")
	if path.IsAbs(side) || !fs.ValidPath(full) || nested && !strings.HasPrefix(full, project+"/") {
		return nil, &fs.PathError{Op: "open", Path: side, Err: fs.ErrInvalid}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	fi, err := root.Lstat(full)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: side, Err: ErrNotRegular}
	}
	f, err := root.OpenFile(full, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}
