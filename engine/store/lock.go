package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
)

// ErrLocked means that another process, or another Store of this one, has the
// folder open.
var ErrLocked = errors.New("store is open elsewhere")

// lockFile is Pebble's name for the file whose lock is the right to open the folder.
const lockFile = "LOCK"

// A Lock is the right to open the store of one folder.
type Lock struct {
	lock *pebble.Lock
}

// TakeLock takes the lock of the folder dir before the store is opened, and makes
// the folder if there is none; hand it to Open in Options.Lock. ErrLocked means that
// somebody else has it. Close the lock after the store.
func TakeLock(dir string, fs FS) (*Lock, error) {
	if fs == nil {
		fs = Disk
	}
	if err := fs.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return takeLock(dir, fs)
}

func takeLock(dir string, fs FS) (*Lock, error) {
	l, err := pebble.LockDirectory(dir, fs)
	if err != nil {
		return nil, lockError(err)
	}
	return &Lock{l}, nil
}

// Close lets others take the lock.
func (l *Lock) Close() error { return l.lock.Close() }

// lockError tells the error of a held lock, for which the file systems have no type
// of their own.
func lockError(err error) error {
	if isLocked(err) && !errors.Is(err, ErrLocked) {
		return fmt.Errorf("%w: %w", ErrLocked, err)
	}
	return err
}

func isLocked(err error) bool {
	return errors.Is(err, ErrLocked) || errors.Is(err, syscall.EAGAIN) || strings.Contains(err.Error(), "lock held by current process")
}

// held are the locks of this process by the true path of their file. They are kept
// for the whole process because the system's are: a process that opens and closes a
// file that it has locked loses the lock, and asking again for one it has succeeds.
var held = struct {
	sync.Mutex
	files map[string]*heldLock
}{files: map[string]*heldLock{}}

type heldLock struct {
	file   io.Closer
	shared bool
	users  int
}

// Lock implements vfs.FS.
func (diskFS) Lock(name string) (io.Closer, error) { return lockPath(name, false) }

// A sharedLockFS takes the lock as readers do: together, without writing a byte, and
// never beside one who writes.
type sharedLockFS struct{ FS }

func (sharedLockFS) Lock(name string) (io.Closer, error) {
	c, err := lockPath(name, true)
	if errors.Is(err, os.ErrNotExist) {
		return noLock{}, nil // nobody has ever written here with a lock
	}
	return c, err
}

type noLock struct{}

func (noLock) Close() error { return nil }

// lockPath locks the file name, for this process and against others.
func lockPath(name string, shared bool) (io.Closer, error) {
	dir, err := filepath.EvalSymlinks(filepath.Dir(name))
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, filepath.Base(name))
	held.Lock()
	defer held.Unlock()
	if h := held.files[path]; h != nil {
		if !shared || !h.shared {
			return nil, fmt.Errorf("%s: %w, in this process", path, ErrLocked)
		}
		h.users++
		return &heldFile{path: path}, nil
	}
	f, err := openLocked(path, shared)
	if err != nil {
		return nil, err
	}
	held.files[path] = &heldLock{file: f, shared: shared, users: 1}
	return &heldFile{path: path}, nil
}

// A heldFile is one user's part of a lock.
type heldFile struct {
	path string
	once sync.Once
}

func (f *heldFile) Close() (err error) {
	f.once.Do(func() {
		held.Lock()
		defer held.Unlock()
		h := held.files[f.path]
		if h.users--; h.users == 0 {
			delete(held.files, f.path)
			err = h.file.Close()
		}
	})
	return err
}

// onDisk reports whether fs keeps its files in folders of the disk.
func onDisk(fs FS) bool {
	for {
		if _, ok := fs.(diskFS); ok {
			return true
		}
		u, ok := fs.(interface{ Unwrap() FS })
		if !ok || u.Unwrap() == nil {
			return false
		}
		fs = u.Unwrap()
	}
}

// lock takes the lock that Open needs, unless the caller has it: the writer's, or on
// a disk the readers'.
func (s *Store) lock() (*pebble.Lock, error) {
	if s.opts.Lock != nil {
		return s.opts.Lock.lock, nil
	}
	if !s.opts.ReadOnly || !onDisk(s.opts.FS) {
		return nil, nil // Pebble takes it
	}
	l, err := takeLock(s.dir, sharedLockFS{s.opts.FS})
	if err != nil {
		return nil, err
	}
	s.ownLock = l
	return l.lock, nil
}

// unlock gives back what lock took.
func (s *Store) unlock() error {
	if s.ownLock == nil {
		return nil
	}
	l := s.ownLock
	s.ownLock = nil
	return l.Close()
}
