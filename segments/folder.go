package segments

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Suffix ends the name of every segment file.
const Suffix = ".seg"

// A Folder holds the segment files of one archive.
type Folder struct {
	fs  vfs.FS
	dir string
}

// OpenFolder opens the folder dir for writing, creating it if it is not there. The
// folder itself is durable then: segments in it are as durable as its name.
func OpenFolder(fs vfs.FS, dir string) (*Folder, error) {
	if err := fs.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("segment folder: %w", err)
	}
	// Also if it was there: who made it may have died before it was synced.
	if err := (&Folder{fs, fs.PathDir(dir)}).sync(); err != nil {
		return nil, fmt.Errorf("segment folder: %w", err)
	}
	return &Folder{fs, dir}, nil
}

// ReadFolder opens the folder dir for reading only; it need not be there.
func ReadFolder(fs vfs.FS, dir string) *Folder { return &Folder{fs, dir} }

// Name is the file name of segment number n.
func Name(n uint64) string { return fmt.Sprintf("%016x%s", n, Suffix) }

// Write makes the file name durable: filled, closed, file and folder synced. It is
// not live until the store's list names it. A failed write leaves no file behind
// unless removing it fails too.
func (f *Folder) Write(name string, fill func(io.Writer) (Info, error)) (info Info, err error) {
	p := f.fs.PathJoin(f.dir, name)
	file, err := f.fs.Create(p, vfs.WriteCategoryUnspecified)
	if err != nil {
		return Info{}, fmt.Errorf("segment %s: %w", name, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("segment %s: %w", name, err), f.fs.Remove(p))
		}
	}()
	buf := bufio.NewWriterSize(file, 1<<20)
	if info, err = fill(buf); err == nil {
		err = buf.Flush()
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return Info{}, err
	}
	return info, f.sync()
}

// Open opens the segment file name.
func (f *Folder) Open(name string) (*Segment, error) {
	return OpenFile(f.fs, f.fs.PathJoin(f.dir, name))
}

// Remove deletes the file name.
func (f *Folder) Remove(name string) error { return f.fs.Remove(f.fs.PathJoin(f.dir, name)) }

// Names lists the segment files, sorted.
func (f *Folder) Names() ([]string, error) {
	all, err := f.fs.List(f.dir)
	if err != nil {
		return nil, fmt.Errorf("segment folder: %w", err)
	}
	names := slices.DeleteFunc(all, func(n string) bool { return !strings.HasSuffix(n, Suffix) })
	slices.Sort(names)
	return names, nil
}

// RemoveTemporary deletes what writers that were cut off have left. No writer may be
// at work in the folder.
func (f *Folder) RemoveTemporary() error {
	all, err := f.fs.List(f.dir)
	if err != nil {
		return fmt.Errorf("segment folder: %w", err)
	}
	for _, n := range all {
		if strings.HasSuffix(n, TempSuffix) {
			if err := f.Remove(n); err != nil {
				return fmt.Errorf("segment folder: %w", err)
			}
		}
	}
	return nil
}

// Dir is the path of the folder.
func (f *Folder) Dir() string { return f.dir }

func (f *Folder) sync() error {
	d, err := f.fs.OpenDir(f.dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
