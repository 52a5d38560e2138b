package owner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
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
	if err := p.bind(); readOnlyFolder(err) {
		return nil, err
	} else if err != nil {
		if err := p.apart(o.TempDir, err); err != nil {
			return nil, err
		}
	}
	// Callers find a socket in the archive's folder without owner.json, too: on a full
	// disk there is none.
	if err := p.name(); err != nil && p.temp != "" {
		return nil, errors.Join(err, p.leave())
	}
	return p, nil
}

// apart makes the socket in a folder of its own below temp, or below /tmp where that is
// no use either. Its error wraps none of theirs: they say nothing of the archive's folder.
func (p *place) apart(temp string, first error) error {
	reasons := first.Error()
	for _, parent := range slices.Compact([]string{filepath.Clean(temp), "/tmp"}) {
		dir, err := os.MkdirTemp(parent, "hansard-") // 0700
		if err == nil {
			p.socket = filepath.Join(dir, socketFile)
			if err = p.bind(); err == nil {
				p.temp = dir
				return nil
			}
			err = errors.Join(err, os.Remove(dir))
		}
		reasons += "; " + err.Error()
	}
	return errors.New("no place for a socket: " + reasons)
}

// bind makes the socket, for this user alone, in the place of whatever is there.
func (p *place) bind() error {
	if len(p.socket) > maxSocketPath {
		return &fs.PathError{Op: "listen", Path: p.socket, Err: errors.New("the path is too long for a socket")}
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

// sockets are the paths where whoever owns the archive, or did, may listen.
func sockets(dir string, owner identity) []string {
	paths := []string{filepath.Join(dir, socketFile)}
	if owner.Socket != "" && owner.Socket != paths[0] && checkFolder(filepath.Dir(owner.Socket)) == nil {
		paths = append(paths, owner.Socket)
	}
	return slices.DeleteFunc(paths, func(p string) bool { return len(p) > maxSocketPath })
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
