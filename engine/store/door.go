package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Disk is the disk, with files that only their owner reads. It opens regular files and
// nothing else: see [KindError].
var Disk FS = diskFS{vfs.Default}

// A KindError says that something else lies where a file, or a folder, is to be opened.
// Opening a pipe could wait for ever, and reading a device need not end.
type KindError struct {
	Path string
	Kind string // what it is, with its article: "a pipe"
	Want string // KindFile or KindFolder
	Err  error  // what the system said; nil if it would have opened it
}

func (e *KindError) Error() string {
	return fmt.Sprintf("%s is %s, where %s is expected", e.Path, e.Kind, e.Want)
}

// Unwrap gives the error of the system as an error of the path.
func (e *KindError) Unwrap() error { return &fs.PathError{Op: "open", Path: e.Path, Err: e.Err} }

// What is wanted, of a KindError.
const (
	KindFile   = "a file"
	KindFolder = "a folder"
)

// diskFS is the disk behind one door: whatever opens a file that is there passes
// openRegular. What makes a file cannot wait: it makes a new one in the place of
// whatever was there.
type diskFS struct{ vfs.FS }

// Unwrap implements vfs.FS.
func (d diskFS) Unwrap() vfs.FS { return d.FS }

// Create implements vfs.FS.
func (d diskFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.Create(name, c)
	if err != nil {
		return nil, otherKind(name, KindFile, err)
	}
	if err := os.Chmod(name, 0o600); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Open implements vfs.FS.
func (d diskFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	return openFile(name, os.O_RDONLY, opts)
}

// OpenReadWrite implements vfs.FS.
func (d diskFS) OpenReadWrite(name string, _ vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return openFile(name, os.O_RDWR|os.O_CREATE, opts)
}

// ReuseForWrite implements vfs.FS. Only a file that this process has made is reused.
func (d diskFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	info, err := os.Lstat(oldname)
	if err == nil && !info.Mode().IsRegular() {
		err = &KindError{oldname, kindOf(info.Mode()), KindFile, nil}
	}
	if err != nil {
		return nil, err
	}
	return d.FS.ReuseForWrite(oldname, newname, c)
}

// Stat implements vfs.FS.
func (d diskFS) Stat(name string) (vfs.FileInfo, error) {
	info, err := d.FS.Stat(name)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return info, err
	}
	if err = otherKind(name, KindFile, err); !errors.As(err, new(*KindError)) {
		err = otherKind(filepath.Dir(name), KindFolder, err)
	}
	return nil, err
}

// Rename implements vfs.FS. It is of files.
func (d diskFS) Rename(oldname, newname string) error {
	err := d.FS.Rename(oldname, newname)
	if err != nil {
		err = otherKind(newname, KindFile, err)
	}
	return err
}

// MkdirAll implements vfs.FS.
func (d diskFS) MkdirAll(dir string, perm os.FileMode) error {
	err := d.FS.MkdirAll(dir, perm)
	if err != nil {
		err = otherKind(dir, KindFolder, err)
	}
	return err
}

// OpenDir implements vfs.FS.
func (d diskFS) OpenDir(name string) (vfs.File, error) {
	f, err := openKind(name, KindFolder, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return diskFile{f}, nil
}

// List implements vfs.FS.
func (d diskFS) List(dir string) ([]string, error) {
	f, err := openKind(dir, KindFolder, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	return names, errors.Join(err, f.Close())
}

func openFile(name string, flag int, opts []vfs.OpenOption) (vfs.File, error) {
	f, err := openKind(name, KindFile, flag)
	if err != nil {
		return nil, err
	}
	file := diskFile{f}
	for _, o := range opts {
		o.Apply(file)
	}
	return file, nil
}

// openKind opens the file or folder name, or returns a *KindError. It never waits.
func openKind(name, want string, flag int) (*os.File, error) {
	f, err := os.OpenFile(name, flag|nonblock, 0o600)
	if err != nil {
		return nil, otherKind(name, want, err)
	}
	info, err := f.Stat()
	if err == nil && !isKind(info.Mode(), want) {
		other := &KindError{name, kindOf(info.Mode()), want, nil}
		if at, e := os.Lstat(name); e == nil && at.Mode()&fs.ModeSymlink != 0 {
			other.Kind = "a link to " + other.Kind
		}
		err = other
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func isKind(m fs.FileMode, want string) bool {
	return want == KindFile && m.IsRegular() || want == KindFolder && m.IsDir()
}

// otherKind is err, of using name, or the *KindError that explains it.
func otherKind(name, want string, err error) error {
	info, e := os.Lstat(name)
	if e != nil || isKind(info.Mode(), want) {
		return err
	}
	kind := kindOf(info.Mode())
	if info.Mode()&fs.ModeSymlink != 0 {
		target, e := os.Stat(name)
		switch {
		case e == nil && isKind(target.Mode(), want):
			return err
		case e == nil:
			kind = "a link to " + kindOf(target.Mode())
		default:
			kind = "a link that leads nowhere"
		}
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return &KindError{name, kind, want, err}
}

// ReadFile reads the file name on the disk, at most limit bytes of it.
func ReadFile(name string, limit int64) ([]byte, error) {
	f, err := openKind(name, KindFile, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, limit))
	return b, errors.Join(err, f.Close())
}

// ReplaceFile makes b the content of the file name on the disk: readers see the whole
// of it, or what was there before. It is not synced. The file name+".new" is used up.
func ReplaceFile(name string, b []byte) error {
	return replaceFile(Disk, name, b, false)
}

// replaceFile makes b the content of a small file: the whole of it is there, or what was
// there before. If it is to be durable, it is when this returns.
func replaceFile(fs FS, name string, b []byte, durable bool) error {
	tmp := name + ".new"
	f, err := fs.Create(tmp, vfs.WriteCategoryUnspecified)
	if errors.Is(err, os.ErrExist) {
		if err := fs.Remove(tmp); err != nil {
			return err
		}
		f, err = fs.Create(tmp, vfs.WriteCategoryUnspecified)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if durable {
		err = errors.Join(err, f.Sync())
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = fs.Rename(tmp, name)
	}
	if err != nil { // a full disk, mostly, where the file would stay with nothing in it
		_ = fs.Remove(tmp) // or else the next replacement uses it up
		return err
	}
	if !durable {
		return nil
	}
	return syncDir(fs, fs.PathDir(name))
}

// otherKindIn is err, of opening the store in dir, or the *KindError that explains it:
// what Pebble says of such a file is about its size.
func otherKindIn(fs FS, dir string, err error) error {
	if !onDisk(fs) {
		return err
	}
	names, e := fs.List(dir)
	if e != nil {
		return err
	}
	slices.Sort(names)
	for _, n := range names {
		if !pebbleFile.MatchString(n) {
			continue
		}
		var other *KindError
		if e := otherKind(filepath.Join(dir, n), KindFile, err); errors.As(e, &other) {
			return e
		}
	}
	return err
}

// pebbleFile are the names of Pebble's files.
var pebbleFile = regexp.MustCompile(`^(MANIFEST-\d+|OPTIONS-\d+|marker\..*|\d+\.(log|sst|blob))$`)

func kindOf(m fs.FileMode) string {
	switch m.Type() {
	case 0:
		return KindFile
	case fs.ModeDir:
		return KindFolder
	case fs.ModeNamedPipe:
		return "a pipe"
	case fs.ModeSocket:
		return "a socket"
	case fs.ModeSymlink:
		return "a link"
	}
	return "a device"
}

// A diskFile is a file that was there, opened. Those that Pebble writes come from
// Create, with all that vfs does for them.
type diskFile struct{ *os.File }

func (f diskFile) Stat() (vfs.FileInfo, error) {
	info, err := f.File.Stat()
	return diskInfo{info}, err
}

// Preallocate implements vfs.File: it may do nothing.
func (diskFile) Preallocate(int64, int64) error { return nil }

// SyncData implements vfs.File.
func (f diskFile) SyncData() error { return f.Sync() }

// SyncTo implements vfs.File.
func (f diskFile) SyncTo(int64) (bool, error) { return true, f.Sync() }

// Prefetch implements vfs.File.
func (f diskFile) Prefetch(offset, length int64) error { return prefetch(f.Fd(), offset, length) }

// A diskInfo tells nothing of the device, which only Pebble's change of disks under a
// failing one would want to know.
type diskInfo struct{ fs.FileInfo }

// DeviceID implements vfs.FileInfo.
func (diskInfo) DeviceID() vfs.DeviceID { return vfs.DeviceID{} }
