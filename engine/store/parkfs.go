package store

import (
	"os"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// parkFS stands between Pebble and the file system. Once armed, an operation that
// writes and fails is recorded and never returns: Pebble answers some such errors
// with a fatal error that nothing can catch, and retries others for ever. The
// goroutine is lost, at most one per file being written; callers of the store do
// not wait for it. Reads, and the removal of old files, return their errors.
type parkFS struct {
	vfs.FS
	fail   *failure
	armed  atomic.Bool // not while opening: Open reports the error and lets go
	parked atomic.Int32
}

// Unwrap implements vfs.FS.
func (p *parkFS) Unwrap() vfs.FS { return p.FS }

func (p *parkFS) check(op, path string, err error) error {
	if err == nil || !p.armed.Load() {
		return err
	}
	p.fail.set(op, path, err)
	p.parked.Add(1)
	select {}
}

func (p *parkFS) file(path string, f vfs.File) vfs.File { return &parkFile{f, p, path} }

func (p *parkFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := p.FS.Create(name, c)
	if err := p.check("create", name, err); err != nil {
		return nil, err
	}
	return p.file(name, f), nil
}

func (p *parkFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := p.FS.OpenReadWrite(name, c, opts...)
	if err := p.check("open", name, err); err != nil {
		return nil, err
	}
	return p.file(name, f), nil
}

func (p *parkFS) OpenDir(name string) (vfs.File, error) {
	f, err := p.FS.OpenDir(name)
	if err := p.check("open", name, err); err != nil {
		return nil, err
	}
	return p.file(name, f), nil
}

func (p *parkFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := p.FS.ReuseForWrite(oldname, newname, c)
	if err := p.check("reuse", newname, err); err != nil {
		return nil, err
	}
	return p.file(newname, f), nil
}

func (p *parkFS) Link(oldname, newname string) error {
	return p.check("link", newname, p.FS.Link(oldname, newname))
}

func (p *parkFS) Rename(oldname, newname string) error {
	return p.check("rename", newname, p.FS.Rename(oldname, newname))
}

func (p *parkFS) MkdirAll(dir string, perm os.FileMode) error {
	return p.check("make", dir, p.FS.MkdirAll(dir, perm))
}

// parkFile is a file open for writing.
type parkFile struct {
	vfs.File
	fs   *parkFS
	path string
}

func (f *parkFile) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	return n, f.fs.check("write", f.path, err)
}

func (f *parkFile) WriteAt(b []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(b, off)
	return n, f.fs.check("write", f.path, err)
}

func (f *parkFile) Sync() error {
	return f.fs.check("sync", f.path, f.File.Sync())
}

func (f *parkFile) SyncData() error {
	return f.fs.check("sync", f.path, f.File.SyncData())
}

func (f *parkFile) SyncTo(length int64) (bool, error) {
	full, err := f.File.SyncTo(length)
	return full, f.fs.check("sync", f.path, err)
}

func (f *parkFile) Close() error {
	return f.fs.check("close", f.path, f.File.Close())
}
