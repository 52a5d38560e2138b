package store

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"syscall"

	"github.com/cockroachdb/pebble/v2"

	"github.com/hansard-search/hansard/engine/internal/zstdx"
)

var (
	// ErrClosed is what everything answers after Close.
	ErrClosed = errors.New("store is closed")
	// ErrReadOnly is what writes answer on a store that was opened read-only.
	ErrReadOnly = errors.New("store is read-only")
	// ErrVersion means a store of a newer format.
	ErrVersion = errors.New("store has a newer format")
	// ErrCorrupt means stored bytes that are not what was written.
	ErrCorrupt = errors.New("store is damaged")
	// ErrNotFound means that the named thing is not in the store.
	ErrNotFound = errors.New("not found")
	// ErrFailed means that a disk write failed earlier: the store only reads until
	// it is opened again. The error is a *FailedError.
	ErrFailed = errors.New("store writes have failed")
	// ErrDiskFull is also matched by an ErrFailed that a full disk caused.
	ErrDiskFull = errors.New("disk is full")
	// ErrInTheWay is also matched by an ErrFailed that no write caused: no table can be
	// written any more for damage in those that there are.
	ErrInTheWay = errors.New("damage is in the way of all writing")
	// ErrUsed means a revision that was sealed, aborted or committed before.
	ErrUsed = errors.New("revision was used before")

	// ErrRestart is also matched by an error of Close after which the process must end
	// before the store can be opened again: something below still holds it.
	ErrRestart = errors.New("restart required")

	errCloseTimeout = errors.New("the disk does not answer")
)

// A FailedError says which write ended the store's writing.
type FailedError struct {
	Op   string // what was done: "sync", "write", "create", …
	Path string // to which file
	Err  error  // what the file system or Pebble said
}

func (e *FailedError) Error() string {
	if named := (*fs.PathError)(nil); errors.As(e.Err, &named) && named.Path == e.Path {
		return fmt.Sprintf("%v: %v", ErrFailed, e.Err)
	}
	return fmt.Sprintf("%v: %s %s: %v", ErrFailed, e.Op, e.Path, e.Err)
}

// Unwrap gives the cause.
func (e *FailedError) Unwrap() error { return e.Err }

// Is matches ErrFailed, and ErrDiskFull when the disk was full.
func (e *FailedError) Is(target error) bool {
	return target == ErrFailed || target == ErrDiskFull && IsFull(e.Err)
}

// IsFull reports whether err says that a disk, or the user's part of it, has no room.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// failure remembers the first failed write.
type failure struct {
	ch   chan struct{} // closed on the first failure
	once sync.Once
	err  *FailedError // read only after ch is closed
}

func (f *failure) set(op, path string, err error) {
	f.once.Do(func() {
		f.err = &FailedError{Op: op, Path: path, Err: err}
		close(f.ch)
	})
}

func (f *failure) error() error {
	select {
	case <-f.ch:
		return f.err
	default:
		return nil
	}
}

// mapErr turns an error of Pebble or zstd into one of ours: it is the only place
// that knows how Pebble reports damage, which errors.Is does not see.
func mapErr(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrCorrupt):
		return err
	case errors.Is(err, pebble.ErrClosed):
		return ErrClosed
	case errors.Is(err, pebble.ErrNotFound):
		return ErrNotFound
	case errors.Is(err, pebble.ErrReadOnly):
		return ErrReadOnly
	case pebble.IsCorruptionError(err), errors.Is(err, zstdx.ErrCorrupt), errors.Is(err, zstdx.ErrLimit):
		return fmt.Errorf("%w: %w", ErrCorrupt, damage{err})
	}
	return err
}

// damage is an error of Pebble without the text of the one that Pebble joins to it only
// to hand data to its caller.
type damage struct{ error }

func (d damage) Error() string {
	return strings.ReplaceAll(d.error.Error(), "\n<corruption detail carrier>", "")
}

func (d damage) Unwrap() error { return d.error }

func corruptf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...)
}
