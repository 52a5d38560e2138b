//go:build unix

package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// openLocked opens the file path with a record lock on all of it: the lock ends with
// the process, however that ends. A shared lock changes nothing on disk.
func openLocked(path string, shared bool) (io.Closer, error) {
	flag, kind := os.O_RDWR|os.O_CREATE, int16(syscall.F_WRLCK)
	if shared {
		flag, kind = os.O_RDONLY, syscall.F_RDLCK
	}
	f, err := openKind(path, KindFile, flag)
	if err != nil {
		return nil, err
	}
	// All of the file: start 0, length 0.
	err = syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: kind, Whence: io.SeekStart})
	if err == nil && !shared {
		err = f.Chmod(0o600)
	}
	if err == nil {
		return f, nil
	}
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
		err = fmt.Errorf("%w: %w", ErrLocked, err)
	}
	return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
}

// fileID is the device and the number of a file.
func fileID(info os.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d", st.Dev, st.Ino)
}
