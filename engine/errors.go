package engine

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
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
	CodeDiskFull          = "DISK_FULL"         // no room to write; reads go on
	CodeTooManyFiles      = "TOO_MANY_FILES"    // the process may not open another file
	CodeArchiveReplaced   = "ARCHIVE_REPLACED"  // its folder was moved or replaced while it was open
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
	var other *store.KindError
	var replaced *store.ReplacedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return err
	case errors.As(err, &replaced):
		return &Error{Code: CodeArchiveReplaced, Retryable: true,
			Message: "the archive was moved or replaced while it was open: " + replaced.Error(),
			Hint:    "open it again to use what is there now; what was stored before is in the old folder, wherever that is", Err: err}
	case errors.As(err, &other) && !errors.Is(err, store.ErrFailed):
		e := &Error{Code: CodeArchiveUnreadable, Message: other.Error(),
			Hint: "move it out of the archive, then run `hansard doctor`: it says whether anything is missing", Err: err}
		if other.Want == store.KindFolder {
			e.Hint = "move it away, or name another archive with --archive"
		}
		return e
	case errors.Is(err, store.ErrCorrupt):
		return &Error{Code: CodeArchiveDamaged, Message: "the archive is damaged: " + detail(err),
			Hint: "run `hansard doctor`: it says what is affected and what to do", Err: err}
	case errors.Is(err, store.ErrVersion):
		return &Error{Code: CodeArchiveNewer, Message: err.Error(),
			Hint: "open it with the version that wrote it, or a newer one; it was left untouched", Err: err}
	case errors.Is(err, store.ErrForeign):
		return &Error{Code: CodeInvalidArgument, Message: detail(err),
			Hint: "an archive is made in an empty folder or a new one; nothing was written", Err: err}
	case errors.Is(err, store.ErrClosed):
		return &Error{Code: CodeClosed, Message: "the archive is closed", Err: err}
	case errors.Is(err, store.ErrFailed), store.IsFull(err), tooManyFiles(err):
		return failedError(err)
	case errors.Is(err, store.ErrLocked):
		return &Error{Code: CodeArchiveBusy, Message: "this process or another has the archive open",
			Hint: "try again when it is closed there; Go programs share an archive through package owner", Retryable: true, Err: err}
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EROFS):
		return &Error{Code: CodeArchiveUnreadable, Message: "the archive cannot be opened: " + detail(err),
			Hint: "check the folder and its permissions; --archive names another", Err: err}
	case errors.Is(err, fs.ErrNotExist):
		return &Error{Code: CodeArchiveDamaged, Message: "a file of the archive is missing: " + detail(err),
			Hint: "run `hansard doctor`: it says what is affected and what to do", Err: err}
	case errors.Is(err, syscall.EIO):
		return &Error{Code: CodeArchiveUnreadable, Message: "the disk fails: " + detail(err), Hint: "see what the system says about the disk", Err: err}
	}
	return err
}

// failedError is the error of a write after which the archive only reads.
func failedError(err error) error {
	e := &Error{Code: CodeArchiveReadOnly, Message: "the archive is read-only after a failed write: " + detail(err),
		Hint: "see to the disk, then open the archive again", Err: err}
	switch {
	case store.IsFull(err):
		e.Code, e.Message, e.Hint = CodeDiskFull, "the disk is full: "+detail(err), "free space on the disk of the archive, then open it again; `hansard doctor` says how much it needs"
	case tooManyFiles(err):
		e.Code, e.Message = CodeTooManyFiles, "too many files are open: "+detail(err)
		e.Hint = "allow more (ulimit -n 4096), or end other programs, then open the archive again"
	}
	if errors.Is(err, store.ErrInTheWay) {
		e.Message = "the archive is read-only: " + detail(err)
		e.Hint = "run `hansard doctor --fix`, then import again"
	}
	if errors.As(err, new(*store.KindError)) {
		e.Hint = "move it out of the archive, then open the archive again"
	}
	if errors.Is(err, store.ErrRestart) {
		e.Hint += ", in a new process"
	}
	return e
}

// detail is what err adds to the sentence that its code makes: which file, and what was
// wrong with it, once.
func detail(err error) string {
	var failed *store.FailedError
	if errors.As(err, &failed) {
		return strings.TrimPrefix(failed.Error(), store.ErrFailed.Error()+": ")
	}
	var path *fs.PathError
	if errors.As(err, &path) && !errors.Is(err, store.ErrCorrupt) {
		return path.Error() // it has the folder in it, too
	}
	text := strings.ReplaceAll(err.Error(), store.ErrCorrupt.Error()+": ", "")
	if _, rest, ok := strings.Cut(text, ": "); ok {
		dir := strings.TrimPrefix(strings.TrimPrefix(text[:len(text)-len(rest)-2], "store "), "archive ")
		if strings.Contains(rest, dir+string(filepath.Separator)) {
			return rest // it has the folder in it, too
		}
	}
	return text
}

// tooManyFiles reports whether the process, or the machine, is at its limit of open
// files.
func tooManyFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
