//go:build unix

package source

import (
	"io/fs"
	"syscall"
)

// identity gives the device and inode of a file.
func identity(fi fs.FileInfo) (device, inode uint64) {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev), uint64(st.Ino)
	}
	return 0, 0
}
