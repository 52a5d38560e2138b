package engine

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/hansard-search/hansard/engine/store"
)

// Codes of the errors that the engine returns. Query faults carry the codes of
// package query.
const (
	CodeArchiveMissing    = "ARCHIVE_MISSING"   // no archive in the folder
	CodeArchiveBusy       = "ARCHIVE_BUSY"      // another process has it open
	CodeArchiveDamaged    = "ARCHIVE_DAMAGED"   // bytes on disk are not what was written
	CodeArchiveNewer      = "ARCHIVE_NEWER"     // written by a newer version
	CodeArchiveReadOnly   = "ARCHIVE_READ_ONLY" // a write failed earlier; reads go on
	CodeDiskFull          = "DISK_FULL"         // the same, because the disk was full
	CodeClosed            = "ARCHIVE_CLOSED"
	CodeArchiveUnreadable = "ARCHIVE_UNREADABLE" // the folder cannot be opened or written: permission, kind, read-only disk
	CodeInvalidArgument   = "INVALID_ARGUMENT"
	CodeInvalidCursor     = "INVALID_CURSOR"
	CodeInvalidRef        = "INVALID_REF"
	CodeNotFound          = "NOT_FOUND"
	CodeAmbiguous         = "AMBIGUOUS_REF"
	CodeLaneUnavailable   = "LANE_UNAVAILABLE"
	CodeSourceMissing     = "SOURCE_UNREADABLE"
	CodeInternal          = "INTERNAL"
)

// An Error is a fault that a caller can branch on by its Code.
type Error struct {
	Code        string
	Message     string
	Field       string // the argument at fault, if one is
	Hint        string // what to do about it
	Retryable   bool
	Suggestions []string
	Err         error // the cause, may be nil
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.Err }

// storeError gives a fault of the store its code.
func storeError(err error) error {
	var known *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return err
	case errors.Is(err, store.ErrCorrupt):
		return &Error{Code: CodeArchiveDamaged, Message: "the archive is damaged: " + err.Error(),
			Hint: "run `hansard doctor`: it says what is affected and what to do", Err: err}
	case errors.Is(err, store.ErrVersion):
		return &Error{Code: CodeArchiveNewer, Message: err.Error(),
			Hint: "open it with the version that wrote it, or a newer one; it was left untouched", Err: err}
	case errors.Is(err, store.ErrForeign):
		return &Error{Code: CodeInvalidArgument, Message: err.Error(),
			Hint: "an archive is made in an empty folder or a new one; nothing was written", Err: err}
	case errors.Is(err, store.ErrClosed):
		return &Error{Code: CodeClosed, Message: "the archive is closed", Err: err}
	case errors.Is(err, store.ErrFailed), errors.Is(err, syscall.ENOSPC):
		return failedError(err)
	case errors.Is(err, store.ErrLocked):
		return &Error{Code: CodeArchiveBusy, Message: "another process has the archive open",
			Hint: "try again when it has ended; Go programs share an archive through package owner", Retryable: true, Err: err}
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EROFS):
		return &Error{Code: CodeArchiveUnreadable, Message: "the archive cannot be opened: " + err.Error(),
			Hint: "check the folder and its permissions; --archive names another", Err: err}
	case errors.Is(err, fs.ErrNotExist):
		return &Error{Code: CodeArchiveDamaged, Message: "a file of the archive is missing: " + err.Error(),
			Hint: "run `hansard doctor`: it says what is affected and what to do", Err: err}
	case errors.Is(err, syscall.EIO):
		return &Error{Code: CodeArchiveUnreadable, Message: "the disk fails: " + err.Error(), Hint: "see what the system says about the disk", Err: err}
	}
	return err
}

// failedError is the error of a write after which the archive only reads.
func failedError(err error) error {
	e := &Error{Code: CodeArchiveReadOnly, Message: "the archive is read-only after a failed write: " + err.Error(),
		Hint: "see to the disk, then open the archive again", Err: err}
	if errors.Is(err, syscall.ENOSPC) {
		e.Code, e.Message, e.Hint = CodeDiskFull, "the disk is full: "+err.Error(), "free space, then open the archive again"
	}
	if errors.Is(err, store.ErrRestart) {
		e.Hint += ", in a new process"
	}
	return e
}
