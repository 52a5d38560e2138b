package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
)

// ErrLocked means that another process, or another Store of this one, has the
// folder open.
var ErrLocked = errors.New("store is open elsewhere")

// lockFile is Pebble's name for the file whose lock is the right to open the folder.
const lockFile = "LOCK"

// A Lock is the right to open the store of one folder, for one store at a time.
type Lock struct {
	lock *pebble.Lock
	site *site       // nil in memory
	lent atomic.Bool // to a store that is open
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
	return &Lock{lock: l, site: siteOf(dir, fs)}, nil
}

// LockID tells the lock file of the store in dir from all others on this machine, moved
// or copied ones too; empty where files have no such identity, or there is none.
func LockID(dir string) string {
	info, err := os.Stat(filepath.Join(dir, lockFile))
	if err != nil {
		return ""
	}
	return fileID(info)
}

// InPlace returns an error that wraps a [ReplacedError] if the folder's path does not
// lead to this lock any more.
func (l *Lock) InPlace() error { return l.site.check() }

// lend gives the lock to a store that opens. Pebble gets one of its own each time: an
// opening that failed may keep its for ever.
func (l *Lock) lend(dir string, fs FS) (*pebble.Lock, error) {
	if !l.lent.CompareAndSwap(false, true) {
		return nil, fmt.Errorf("%w, with the same lock", ErrLocked)
	}
	own, err := pebble.LockDirectory(dir, lentLockFS{fs})
	if err != nil {
		l.lent.Store(false)
	}
	return own, err
}

// A lentLockFS is one whose lock somebody else holds for us.
type lentLockFS struct{ FS }

func (lentLockFS) Lock(string) (io.Closer, error) { return noLock{}, nil }

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

// held are the locks of this process. They are kept for the whole process because the
// system's are: a process that opens and closes a file that it has locked loses the
// lock, and asking again for one it has succeeds.
var held struct {
	sync.Mutex
	locks []*heldLock
}

type heldLock struct {
	file   io.Closer
	also   []io.Closer // the same file, opened again
	info   fs.FileInfo // nil where files have no identity
	name   string      // by which it was first taken
	shared bool
	users  int
}

// heldAt finds the lock of the file that name leads to, nil if we have none. held is
// locked.
func heldAt(name string, info fs.FileInfo) *heldLock {
	for _, h := range held.locks {
		if h.info == nil && h.name == name || h.info != nil && info != nil && os.SameFile(h.info, info) {
			return h
		}
	}
	return nil
}

// Lock implements vfs.FS.
func (diskFS) Lock(name string) (io.Closer, error) { return lockPath(name, false) }

// A sharedLockFS takes the lock as readers do: together, without writing a byte, and
// never beside one who writes.
type sharedLockFS struct{ FS }

func (s sharedLockFS) Unwrap() FS { return s.FS }

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
	name, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	held.Lock()
	defer held.Unlock()
	for tries := 0; ; tries++ {
		info, err := os.Stat(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, otherKind(name, KindFile, err)
		}
		if h := heldAt(name, info); h != nil {
			if !shared || !h.shared {
				return nil, fmt.Errorf("%s: %w, in this process", name, ErrLocked)
			}
			h.users++
			return &heldFile{h: h}, nil
		}
		f, err := openLocked(name, shared)
		if err != nil {
			return nil, err
		}
		h := &heldLock{file: f, info: lockedInfo(f), name: name, shared: shared, users: 1}
		if ours := heldAt(name, h.info); ours != nil {
			ours.also = append(ours.also, f) // it came there since we looked; to close it is to lose it
			continue
		}
		now, err := os.Stat(name)
		if err == nil && h.info != nil && !os.SameFile(h.info, now) || errors.Is(err, fs.ErrNotExist) {
			// Another file has the name since we opened this one; its lock is worth nothing.
			if tries < lockTries {
				if err := f.Close(); err != nil {
					return nil, err
				}
				continue
			}
			h.info = nil // it never is the same
		}
		held.locks = append(held.locks, h)
		return &heldFile{h: h}, nil
	}
}

// lockTries is how often a lock file may be replaced while it is locked, before files
// are taken to have no identity.
const lockTries = 10

// lockedInfo is the identity of a locked file, nil if there is none.
func lockedInfo(f io.Closer) fs.FileInfo {
	if s, ok := f.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := s.Stat(); err == nil {
			return info
		}
	}
	return nil
}

// A heldFile is one user's part of a lock.
type heldFile struct {
	h    *heldLock
	once sync.Once
}

func (f *heldFile) Close() (err error) {
	f.once.Do(func() {
		held.Lock()
		defer held.Unlock()
		if f.h.users--; f.h.users == 0 {
			held.locks = slices.DeleteFunc(held.locks, func(h *heldLock) bool { return h == f.h })
			for _, c := range append(f.h.also, f.h.file) {
				err = errors.Join(err, c.Close())
			}
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
		l, err := s.opts.Lock.lend(s.dir, s.opts.FS)
		if err == nil {
			s.lent.Store(s.opts.Lock)
			s.fs.site = s.opts.Lock.site
		}
		return l, err
	}
	var fs FS = s.fs
	if s.opts.ReadOnly {
		if !onDisk(s.opts.FS) {
			return nil, nil // Pebble takes it
		}
		fs = sharedLockFS{s.opts.FS}
	}
	own, err := fs.Lock(fs.PathJoin(s.dir, lockFile))
	if err != nil {
		return nil, lockError(err)
	}
	// Pebble gives its lock back before what a close does last is done.
	l, err := pebble.LockDirectory(s.dir, lentLockFS{s.opts.FS})
	if err != nil {
		return nil, errors.Join(err, own.Close())
	}
	s.ownLock = own
	s.fs.site = siteOf(s.dir, s.opts.FS)
	return l, nil
}

// unlock gives back what lock took.
func (s *Store) unlock() error {
	s.giveBack()
	if s.ownLock == nil {
		return nil
	}
	l := s.ownLock
	s.ownLock = nil
	return l.Close()
}

// giveBack lets the caller's lock be used again.
func (s *Store) giveBack() {
	if l := s.lent.Swap(nil); l != nil {
		l.lent.Store(false)
	}
}
