package cli

import (
	"path/filepath"

	"github.com/adrg/xdg"
)

// archiveDir is the archive folder: the flag, else HANSARD_ARCHIVE, else the
// user's data folder.
func (a *app) archiveDir() (string, error) {
	dir := a.flags.archive
	if dir == "" {
		dir = a.Getenv("HANSARD_ARCHIVE")
	}
	if dir == "" {
		dir = filepath.Join(xdg.DataHome, "hansard")
	}
	return filepath.Abs(dir)
}
