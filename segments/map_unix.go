//go:build linux || darwin

package segments

import "golang.org/x/sys/unix"

// mapFile maps size bytes of an open file for reading. It reports false where
// that does not work, and the caller reads instead.
func mapFile(fd uintptr, size int64) (m mapping, ok bool) {
	if size != int64(int(size)) {
		return mapping{}, false
	}
	b, err := unix.Mmap(int(fd), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return mapping{}, false
	}
	return mapping{
		b:     b,
		unmap: func() error { return unix.Munmap(b) },
		drop:  func() error { return unix.Madvise(b, unix.MADV_DONTNEED) },
	}, true
}
