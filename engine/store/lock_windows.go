package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// errSharing is ERROR_SHARING_VIOLATION.
const errSharing = syscall.Errno(32)

// openLocked opens the file path so that nobody else can, or, shared, so that nobody
// can write. The lock ends with the process.
func openLocked(path string, shared bool) (io.Closer, error) {
	p, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	access, share, mode := uint32(syscall.GENERIC_READ|syscall.GENERIC_WRITE), uint32(0), uint32(syscall.OPEN_ALWAYS)
	if shared {
		access, share, mode = syscall.GENERIC_READ, syscall.FILE_SHARE_READ, syscall.OPEN_EXISTING
	}
	h, err := syscall.CreateFile(p, access, share, nil, mode, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, errSharing) {
		err = fmt.Errorf("%w: %w", ErrLocked, err)
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return os.NewFile(uintptr(h), path), nil
}

// fileID is empty: the system keeps the folder of an open file where it is.
func fileID(os.FileInfo) string { return "" }
