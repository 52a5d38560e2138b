package faultfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// FS is the file system with faults. It is safe for concurrent use.
type FS struct {
	base     vfs.FS
	count    atomic.Int64
	rules    atomic.Pointer[[]Rule]
	observer atomic.Pointer[func(Op)]
	budget   atomic.Pointer[Budget]
	still    sync.RWMutex // held for reading by what runs

	mu      sync.Mutex         // guards those below
	open    map[*file]struct{} // handles that are not closed
	dirty   map[string]extent  // last write of each file that is not synced since
	removed map[string]bool    // files whose removal is not synced
	syncs   map[string]int     // syncs that failed, by path
	again   map[string]int     // syncs of a path after one that failed
}

// An extent is where in a file a write went.
type extent struct {
	off int64
	n   int
}

// New wraps base; without rules nothing fails.
func New(base vfs.FS) *FS {
	return &FS{base: base, open: map[*file]struct{}{}, dirty: map[string]extent{}, removed: map[string]bool{}, syncs: map[string]int{}, again: map[string]int{}}
}

// Unwrap implements vfs.FS.
func (f *FS) Unwrap() vfs.FS { return f.base }

// Set replaces the rules.
func (f *FS) Set(rules ...Rule) { f.rules.Store(&rules) }

// Observe sets who is told of operations that may have changed the disk; nil ends it.
func (f *FS) Observe(o func(Op)) {
	if o == nil {
		f.observer.Store(nil)
		return
	}
	f.observer.Store(&o)
}

// Count is how many operations were begun.
func (f *FS) Count() int64 { return f.count.Load() }

// do runs one operation unless a rule lets it fail.
func (f *FS) do(kind Kind, file FileKind, path string, run func() error) error {
	return f.transfer(Op{Kind: kind, File: file, Path: path}, func(int) error { return run() })
}

// transfer is do for reads and writes: run gets the bytes to move.
func (f *FS) transfer(op Op, run func(n int) error) error {
	op.N = f.count.Add(1)
	err := f.ask(op)
	if short := (*Short)(nil); errors.As(err, &short) && op.Kind == Write {
		err = errors.Join(f.run(min(short.Keep, op.Bytes), run), named(op, short.Err))
	} else if err != nil {
		return named(op, err)
	} else {
		err = f.run(op.Bytes, run)
	}
	if o := f.observer.Load(); o != nil && op.Kind.Writes() {
		(*o)(op)
	}
	return err
}

func (f *FS) run(n int, run func(n int) error) error {
	f.still.RLock()
	defer f.still.RUnlock()
	return run(n)
}

func named(op Op, err error) error {
	return &fs.PathError{Op: op.Kind.String(), Path: op.Path, Err: err}
}

func (f *FS) ask(op Op) error {
	if rules := f.rules.Load(); rules != nil {
		for _, r := range *rules {
			if err := r(op); err != nil {
				return err
			}
		}
	}
	if b := f.budget.Load(); b != nil {
		return b.take(op)
	}
	return nil
}

// handle opens a file through an operation.
func (f *FS) handle(kind Kind, name string, open func() (vfs.File, error)) (vfs.File, error) {
	h := &file{fs: f, path: name, kind: KindOf(name), writes: kind.Writes()}
	if kind == OpenDir {
		h.kind, h.writes = Dir, true
	}
	err := f.do(kind, h.kind, name, func() error {
		var err error
		h.File, err = open()
		return err
	})
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.open[h] = struct{}{}
	f.mu.Unlock()
	return h, nil
}

// Create implements vfs.FS.
func (f *FS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.handle(Create, name, func() (vfs.File, error) {
		h, err := f.base.Create(name, c)
		if err == nil {
			f.gone(name, false)
		}
		return h, err
	})
}

// ReuseForWrite implements vfs.FS.
func (f *FS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.handle(Reuse, newname, func() (vfs.File, error) {
		h, err := f.base.ReuseForWrite(oldname, newname, c)
		if err == nil {
			f.moved(oldname, newname)
		}
		return h, err
	})
}

// OpenReadWrite implements vfs.FS.
func (f *FS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return f.handle(Append, name, func() (vfs.File, error) { return f.base.OpenReadWrite(name, c, opts...) })
}

// Open implements vfs.FS.
func (f *FS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	return f.handle(Open, name, func() (vfs.File, error) { return f.base.Open(name, opts...) })
}

// OpenDir implements vfs.FS.
func (f *FS) OpenDir(name string) (vfs.File, error) {
	return f.handle(OpenDir, name, func() (vfs.File, error) { return f.base.OpenDir(name) })
}

// Link implements vfs.FS.
func (f *FS) Link(oldname, newname string) error {
	return f.do(Link, KindOf(newname), newname, func() error {
		err := f.base.Link(oldname, newname)
		if b := f.budget.Load(); err == nil && b != nil {
			b.move(oldname, newname) // the bytes are the new name's: a link is made to take the old one away
		}
		return err
	})
}

// Rename implements vfs.FS.
func (f *FS) Rename(oldname, newname string) error {
	return f.do(Rename, KindOf(newname), newname, func() error {
		err := f.base.Rename(oldname, newname)
		if err == nil {
			f.moved(oldname, newname)
		}
		return err
	})
}

// Remove implements vfs.FS.
func (f *FS) Remove(name string) error {
	return f.do(Remove, KindOf(name), name, func() error {
		err := f.base.Remove(name)
		if err == nil {
			f.gone(name, true)
		}
		return err
	})
}

// RemoveAll implements vfs.FS.
func (f *FS) RemoveAll(name string) error {
	return f.do(Remove, Dir, name, func() error { return f.base.RemoveAll(name) })
}

// MkdirAll implements vfs.FS.
func (f *FS) MkdirAll(dir string, perm os.FileMode) error {
	return f.do(Mkdir, Dir, dir, func() error { return f.base.MkdirAll(dir, perm) })
}

// Lock implements vfs.FS.
func (f *FS) Lock(name string) (l io.Closer, err error) {
	err = f.do(Lock, Other, name, func() error {
		l, err = f.base.Lock(name)
		return err
	})
	return l, err
}

// List implements vfs.FS.
func (f *FS) List(dir string) (names []string, err error) {
	err = f.do(List, Dir, dir, func() error {
		names, err = f.base.List(dir)
		return err
	})
	return names, err
}

// Stat implements vfs.FS.
func (f *FS) Stat(name string) (i vfs.FileInfo, err error) {
	err = f.do(Stat, KindOf(name), name, func() error {
		i, err = f.base.Stat(name)
		return err
	})
	return i, err
}

// GetDiskUsage implements vfs.FS.
func (f *FS) GetDiskUsage(path string) (vfs.DiskUsage, error) { return f.base.GetDiskUsage(path) }

// PathBase implements vfs.FS.
func (f *FS) PathBase(path string) string { return f.base.PathBase(path) }

// PathJoin implements vfs.FS.
func (f *FS) PathJoin(elem ...string) string { return f.base.PathJoin(elem...) }

// PathDir implements vfs.FS.
func (f *FS) PathDir(path string) string { return f.base.PathDir(path) }
