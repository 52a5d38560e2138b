package store

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
)

// A ReplacedError says that the folder of a store was moved or replaced, or its lock
// file was, while the store was open: somebody else may own what its path leads to.
// What was acknowledged before is in the folder that was opened, wherever that is now.
type ReplacedError struct {
	Dir string
	Err error // why the path leads nowhere, or nobody can tell; nil if it leads to something else
}

func (e *ReplacedError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s cannot be reached any more: %v", e.Dir, e.Err)
	}
	return e.Dir + " is not the folder that was opened"
}

// Unwrap gives the cause.
func (e *ReplacedError) Unwrap() error { return e.Err }

// A site is the place of a store on the disk: the path that it was opened with, and the
// lock file that was there then. Files are made, removed and opened by name, so before
// each of these the path must still lead to that file; and what is acknowledged must be
// in the folder that the path leads to.
//
// Caveat: between a look and what follows it there are microseconds.
type site struct {
	name string      // of the lock file
	info fs.FileInfo // nil if it was replaced before it was looked at
	gone atomic.Pointer[ReplacedError]
}

// siteOf is the place of the store in dir, whose lock this process holds; nil if it is
// not on a disk, or has no lock file.
func siteOf(dir string, fs FS) *site {
	if !onDisk(fs) {
		return nil
	}
	name := filepath.Join(dir, lockFile)
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil
	}
	info, _ := os.Stat(name)
	held.Lock()
	defer held.Unlock()
	h := heldAt(abs, info)
	switch {
	case h != nil && h.info == nil:
		return nil // files have no identity here
	case h != nil:
		return &site{name: name, info: h.info}
	case info != nil:
		return &site{name: name} // another's: replaced already
	}
	return nil
}

// check returns a *ReplacedError if the path does not lead to the lock any more. It
// stays so: what was missed meanwhile nobody knows.
func (s *site) check() error {
	if err := s.seen(); s == nil || err != nil {
		return err
	}
	now, err := os.Stat(s.name)
	if err == nil && s.info != nil && os.SameFile(s.info, now) {
		return nil
	}
	s.gone.CompareAndSwap(nil, &ReplacedError{filepath.Dir(s.name), err})
	return s.seen()
}

// seen returns what a check has found.
func (s *site) seen() error {
	if s == nil {
		return nil
	}
	if err := s.gone.Load(); err != nil {
		return err
	}
	return nil
}
