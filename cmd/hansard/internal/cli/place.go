package cli

import (
	"path/filepath"

	"github.com/adrg/xdg"

	"github.com/hansard-search/hansard/engine"
)

// archiveDir is the archive folder: the flag, else HANSARD_ARCHIVE, else the
// user's data folder.
func (a *app) archiveDir() (string, error) {
	dir := a.flags.archive
	if dir == "" {
		dir = a.Getenv("HANSARD_ARCHIVE")
	}
	if dir == "" && a.Getenv("XDG_DATA_HOME") == "" {
		if _, err := a.home("archive", "name the archive with --archive DIR or HANSARD_ARCHIVE"); err != nil {
			return "", err
		}
	}
	if dir == "" {
		dir = filepath.Join(xdg.DataHome, "hansard")
	}
	return filepath.Abs(dir)
}

// home is the user's home folder, which is asked for where flag is not given; instead
// says what else helps.
func (a *app) home(flag, instead string) (string, error) {
	dir, err := a.Home()
	if err != nil {
		return "", &engine.Error{Code: codeUsage, Field: flag, Message: "your home folder is not known: " + err.Error(),
			Hint: "set HOME, or " + instead, Err: err}
	}
	return dir, nil
}
