package store

import "syscall"

// prefetch asks the system to read ahead. That it does is not important.
func prefetch(fd uintptr, offset, length int64) error {
	_, _, errno := syscall.Syscall(syscall.SYS_READAHEAD, fd, uintptr(offset), uintptr(length))
	if errno != 0 {
		return errno
	}
	return nil
}
