package owner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/hansard-search/hansard/engine/store"
)

const (
	ownerFile  = "owner.json"
	socketFile = "socket"
	// maxSocketPath is what every system takes: macOS has 103 bytes, Linux 107.
	maxSocketPath = 100
	maxOwnerFile  = 64 << 10
)

// A place is where an owner can be found: its socket and the file that names it. Only
// who holds the lock makes one.
type place struct {
	dir    string
	socket string
	temp   string // folder of the socket, when it is not in dir
	self   identity
	listen net.Listener
	made   fs.FileInfo // of the socket
}

// occupy listens in the archive's folder, or, when its path is too long for a socket,
// in a folder of its own that owner.json names. What a dead owner left is removed.
func occupy(dir string, o Options) (*place, error) {
	p := &place{dir: dir, socket: filepath.Join(dir, socketFile), self: o.self()}
	p.self.Archive = store.LockID(dir)
	if old, ok := readOwner(dir); ok && old.Socket != p.socket {
		removeOldFolder(old.Socket)
	}
	err := p.bind()
	if len(p.socket) > maxSocketPath || err != nil {
		first := err
		if readOnlyFolder(err) {
			return nil, err
		}
		if p.temp, err = os.MkdirTemp(o.TempDir, "hansard-"); err != nil { // 0700
			return nil, errors.Join(first, err)
		}
		p.socket = filepath.Join(p.temp, socketFile)
		if err = p.bind(); err != nil {
			return nil, errors.Join(first, err, os.Remove(p.temp))
		}
	}
	// Callers find a socket in the archive's folder without owner.json, too: on a full
	// disk there is none.
	if err := p.name(); err != nil && p.temp != "" {
		return nil, errors.Join(err, p.leave())
	}
	return p, nil
}

// bind makes the socket, for this user alone, in the place of whatever is there.
func (p *place) bind() error {
	if len(p.socket) > maxSocketPath {
		return nil
	}
	if err := os.Remove(p.socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	l, err := (&net.ListenConfig{Control: private}).Listen(background, "unix", p.socket)
	if err != nil {
		return err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // vacate removes it, if it is still ours
	if err := os.Chmod(p.socket, 0o600); err != nil {
		return errors.Join(err, l.Close())
	}
	p.made, err = os.Lstat(p.socket)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	p.listen = l
	return nil
}

// name writes owner.json.
func (p *place) name() error {
	p.self.Socket = p.socket
	b, err := json.Marshal(p.self)
	if err != nil {
		return err
	}
	return store.ReplaceFile(filepath.Join(p.dir, ownerFile), append(b, '\n'))
}

// intact reports whether callers still find the socket.
func (p *place) intact() bool {
	now, err := os.Lstat(p.socket)
	return err == nil && os.SameFile(now, p.made)
}

// leave takes the socket away, so that nobody new comes.
func (p *place) leave() error {
	var err error
	if p.intact() {
		err = os.Remove(p.socket)
	}
	if p.temp != "" {
		err = errors.Join(err, os.RemoveAll(p.temp))
	}
	return errors.Join(err, p.listen.Close())
}

// forget removes owner.json: the archive is nobody's.
func (p *place) forget() error {
	path := filepath.Join(p.dir, ownerFile)
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil // not ours; it could not be replaced
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// removeOldFolder removes the socket folder that a dead owner had outside the archive.
func removeOldFolder(socket string) {
	dir := filepath.Dir(socket)
	if match, err := filepath.Match("hansard-*", filepath.Base(dir)); err != nil || !match || filepath.Base(socket) != socketFile || checkFolder(dir) != nil {
		return
	}
	if c, err := net.Dial("unix", socket); err == nil {
		_ = c.Close() // it was only a look
		return        // somebody lives there: this archive is a copy of theirs
	}
	// What stays is an empty folder of ours.
	_ = os.Remove(socket)
	_ = os.Remove(dir)
}

// readOwner reads who owns the archive, or did when it last was owned.
func readOwner(dir string) (identity, bool) {
	var id identity
	b, err := store.ReadFile(filepath.Join(dir, ownerFile), maxOwnerFile)
	if err != nil || json.Unmarshal(b, &id) != nil || id.PID == 0 {
		return identity{}, false
	}
	return id, true
}

// dial connects to the owner's socket: the one in the archive's folder, or if nobody
// listens there the one that owner.json names. Either may have come with a copy of the
// folder, or with the file system from another one: who answers must say that it owns
// this archive.
func dial(dir string, patience time.Duration) (net.Conn, identity, error) {
	owner, known := readOwner(dir)
	path := filepath.Join(dir, socketFile)
	conn, err := dialAt(path, patience)
	if err != nil && known && owner.Socket != "" && owner.Socket != path {
		if filepath.Dir(owner.Socket) != filepath.Clean(dir) && checkFolder(filepath.Dir(owner.Socket)) != nil {
			return nil, owner, fmt.Errorf("the folder of %s is not this user's alone", owner.Socket)
		}
		conn, err = dialAt(owner.Socket, patience)
	}
	return conn, owner, err
}

func dialAt(path string, patience time.Duration) (net.Conn, error) {
	if len(path) > maxSocketPath {
		return nil, fs.ErrNotExist
	}
	conn, err := net.DialTimeout("unix", path, patience)
	if err != nil {
		return nil, err
	}
	if err := samePeer(conn.(*net.UnixConn)); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}
