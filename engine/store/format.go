package store

import (
	"errors"
	"fmt"
)

// FormatOf opens the database in dir to be read, whose file FORMAT is missing
// or garbled, and returns the format that it names itself. No byte of it changes.
func FormatOf(dir string, opts Options) (int, error) {
	opts.ReadOnly = true
	s := unopened(dir, opts)
	s.headless = true
	if err := s.open(); err != nil {
		return 0, fmt.Errorf("store %s: %w", dir, err)
	}
	return Format, s.Close() // an older one would be in the database's record, too
}

// RestoreFormat writes the file FORMAT of a store again that has lost or garbled it, once the
// database has said that it has that format.
func RestoreFormat(dir string, opts Options) (err error) {
	opts = opts.withDefaults()
	lock, err := TakeLock(dir, opts.FS)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	opts.Lock = lock
	if _, err := FormatOf(dir, opts); err != nil {
		return err
	}
	return unopened(dir, opts).writeFormatFile()
}
