//go:build unix

package owner

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// errStranger says that the process at the other end is another user's.
var errStranger = errors.New("the process at the other end of the socket is another user's")

// samePeer holds that the process at the other end is this user's. The modes of
// folder and socket say the same; this holds where they were changed.
func samePeer(c *net.UnixConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var uid int
	var known bool
	if e := raw.Control(func(fd uintptr) { uid, known, err = peerUser(int(fd)) }); e != nil {
		return e
	}
	if err != nil {
		return fmt.Errorf("who is at the other end of the socket: %w", err)
	}
	if known && uid != os.Geteuid() {
		return fmt.Errorf("%w: user %d", errStranger, uid)
	}
	return nil
}

// checkFolder holds that a folder is a real one, this user's, and closed to others.
func checkFolder(dir string) error {
	fi, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !fi.IsDir() || fi.Mode().Perm()&0o077 != 0 || ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s: not a folder of this user alone", dir)
	}
	return nil
}

// readOnlyFolder reports whether err says that the folder cannot be written.
func readOnlyFolder(err error) bool {
	return errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EROFS)
}
