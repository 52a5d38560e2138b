package segments

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// WriteFile makes a small file beside segments, and syncs it.
func WriteFile(fs vfs.FS, path string, content []byte) error {
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// SyncDir makes what was created, moved and removed in a folder durable.
func SyncDir(fs vfs.FS, dir string) error { return (&Folder{fs, dir}).sync() }
