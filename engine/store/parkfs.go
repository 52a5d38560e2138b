package store

import (
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// parkFS stands between Pebble and the file system. Once armed, an operation that
// writes and fails is recorded and never returns: Pebble answers some such errors
// with a fatal error that nothing can catch, and retries others for ever. The
// goroutine is lost, at most one per file being written; callers of the store do
// not wait for it. Reads, and the removal of old files, return their errors.
//
// What makes, opens or removes a file by name first looks whether the folder is in its
// place: see site.
//
// A store that is given up while goroutines of Pebble are left is cut off: from then
// on nothing of them reaches the disk, so that the folder can be opened again.
type parkFS struct {
	vfs.FS
	fail    *failure
	armed   atomic.Bool // not until Pebble has goroutines of its own: until then errors are safe
	opening atomic.Bool // Pebble opens and has goroutines: it cannot end well any more, so reads park too
	told    bool        // errors are recorded and returned, nobody is parked
	site    *site       // of the store, once it is locked
	parked  atomic.Int32
	blanks  blanks // read in the place of damaged blocks

	gate sync.RWMutex // held for reading by what may change the disk
	cut  bool         // guarded by gate

	mu   sync.Mutex // guards lock
	lock io.Closer  // what Pebble locked through us
}

// Files is the file system for what lies beside the store in its folder. A write that
// fails there ends the store's writing as one of its own does, so that an archive
// fails as a whole, but its error is returned.
func (s *Store) Files() FS {
	p := &parkFS{FS: s.opts.FS, fail: &s.fail, told: true, site: s.fs.site}
	p.armed.Store(true)
	return p
}

// Unwrap implements vfs.FS.
func (p *parkFS) Unwrap() vfs.FS { return p.FS }

func (p *parkFS) park() {
	p.parked.Add(1)
	select {}
}

// change runs what may change the disk.
func (p *parkFS) change(op, path string, run func() error) error {
	p.gate.RLock()
	if p.cut {
		p.gate.RUnlock()
		p.park()
	}
	err := p.inPlace(op)
	if err == nil {
		err = run()
	}
	p.gate.RUnlock()
	if err == nil || !p.armed.Load() {
		return err
	}
	p.fail.set(op, path, err)
	if p.told {
		return p.fail.error()
	}
	p.park()
	return err
}

// inPlace looks at the place before an operation by name; what is done to an open file
// ends once somebody has found that it has gone.
func (p *parkFS) inPlace(op string) error {
	switch op {
	case "close":
		return nil
	case "write", "sync":
		return p.site.seen()
	}
	return p.site.check()
}

// look takes the error of what only reads.
func (p *parkFS) look(op, path string, err error) error {
	if err != nil && p.opening.Load() && !errors.Is(err, os.ErrNotExist) {
		p.fail.set(op, path, err)
		p.park()
	}
	return err
}

// cutOff lets nothing more of Pebble reach the disk and gives its lock back. It
// reports false, and leaves the lock, when an operation that is under way does not
// end within the wait.
func (p *parkFS) cutOff(wait time.Duration) (bool, error) {
	for end := time.Now().Add(wait); !p.gate.TryLock(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false, nil
		}
	}
	p.cut = true
	p.gate.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lock == nil {
		return true, nil
	}
	return true, p.lock.Close()
}

// Lock implements vfs.FS.
func (p *parkFS) Lock(name string) (io.Closer, error) {
	l, err := p.FS.Lock(name)
	if err != nil {
		return nil, err
	}
	once := &onceCloser{Closer: l}
	p.mu.Lock()
	p.lock = once
	p.mu.Unlock()
	return once, nil
}

// A onceCloser closes the first time only.
type onceCloser struct {
	io.Closer
	once sync.Once
}

func (c *onceCloser) Close() (err error) {
	c.once.Do(func() { err = c.Closer.Close() })
	return err
}

// open runs what opens a file for writing.
func (p *parkFS) open(op, name string, run func() (vfs.File, error)) (f vfs.File, err error) {
	err = p.change(op, name, func() error {
		f, err = run()
		return err
	})
	if err != nil {
		return nil, err
	}
	return &parkFile{f, p, name}, nil
}

// orderMarkers syncs the folder before a marker comes or goes. Pebble makes a MANIFEST,
// then the marker that names it, removes the marker before, and syncs the folder once:
// after a power cut the new marker could be there without its MANIFEST, or neither
// marker.
func (p *parkFS) orderMarkers(name string) error {
	if !strings.HasPrefix(p.PathBase(name), "marker.") {
		return nil
	}
	dir := p.PathDir(name)
	return p.change("sync", dir, func() error { return syncDir(p.FS, dir) })
}

// Create implements vfs.FS.
func (p *parkFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := p.orderMarkers(name); err != nil {
		return nil, err
	}
	return p.open("create", name, func() (vfs.File, error) { return p.FS.Create(name, c) })
}

// OpenReadWrite implements vfs.FS.
func (p *parkFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return p.open("open", name, func() (vfs.File, error) { return p.FS.OpenReadWrite(name, c, opts...) })
}

// OpenDir implements vfs.FS.
func (p *parkFS) OpenDir(name string) (vfs.File, error) {
	return p.open("open", name, func() (vfs.File, error) { return p.FS.OpenDir(name) })
}

// ReuseForWrite implements vfs.FS.
func (p *parkFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return p.open("reuse", newname, func() (vfs.File, error) { return p.FS.ReuseForWrite(oldname, newname, c) })
}

// Link implements vfs.FS.
func (p *parkFS) Link(oldname, newname string) error {
	return p.change("link", newname, func() error { return p.FS.Link(oldname, newname) })
}

// Rename implements vfs.FS.
func (p *parkFS) Rename(oldname, newname string) error {
	return p.change("rename", newname, func() error { return p.FS.Rename(oldname, newname) })
}

// MkdirAll implements vfs.FS.
func (p *parkFS) MkdirAll(dir string, perm os.FileMode) error {
	return p.change("make", dir, func() error { return p.FS.MkdirAll(dir, perm) })
}

// Remove implements vfs.FS.
func (p *parkFS) Remove(name string) error {
	if err := p.orderMarkers(name); err != nil {
		return err
	}
	p.gate.RLock()
	if p.cut {
		p.gate.RUnlock()
		p.park()
	}
	defer p.gate.RUnlock()
	if err := p.site.check(); err != nil {
		p.fail.set("remove", name, err)
		return err
	}
	return p.FS.Remove(name)
}

// Open implements vfs.FS.
func (p *parkFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	if err := p.site.check(); err != nil {
		p.fail.set("open", name, err)
		return nil, err
	}
	f, err := p.FS.Open(name, opts...)
	if err != nil || !strings.HasSuffix(name, tableSuffix) {
		return f, err
	}
	return &tableFile{f, name, &p.blanks}, nil
}

// List implements vfs.FS.
func (p *parkFS) List(dir string) ([]string, error) {
	names, err := p.FS.List(dir)
	return names, p.look("list", dir, err)
}

// Stat implements vfs.FS.
func (p *parkFS) Stat(name string) (vfs.FileInfo, error) {
	i, err := p.FS.Stat(name)
	return i, p.look("stat", name, err)
}
