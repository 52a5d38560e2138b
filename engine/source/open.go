package source

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/zstdx"
)

var (
	// ErrNotRegular is what opening a folder, device, pipe or socket answers.
	ErrNotRegular = errors.New("not a regular file")
	// ErrChanged is what reading answers when the file has become shorter than it
	// was when it was opened.
	ErrChanged = errors.New("file was cut while it was read")
)

// PrefixBytes is how much of a file's start is hashed to know it again.
const PrefixBytes = 4 << 10

// A Stat is what identifies a file and its state without reading it whole.
type Stat struct {
	Size       int64 // bytes on disk
	ModTime    int64 // Unix milliseconds
	Device     uint64
	Inode      uint64   // zero where the system has none
	Prefix     [32]byte // SHA-256 of the first PrefixLen bytes on disk
	PrefixLen  int64    // at most PrefixBytes
	Compressed bool     // a zstd frame
}

// Opened is a file held open: reads see it as it was, up to the length it had then,
// whatever is appended, renamed or put in its place.
type Opened struct {
	File
	Stat Stat
	f    *os.File
	cut  int64 // where the content of a compressed file was found to end early, or -1
}

// OpenFile opens a file that the caller named; a symbolic link is followed. It
// never waits for a pipe and never opens a device: see ErrNotRegular.
func OpenFile(name string) (*Opened, error) {
	fi, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	}
	f, err := os.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	dir, base := filepath.Split(name)
	if dir == "" {
		dir = "."
	}
	// An agent's file may need what lies beside the folders of its session.
	rel := base
	for range 3 {
		up := filepath.Base(dir)
		if up != "subagents" && !strings.HasPrefix(rel, "subagents/") {
			break
		}
		rel = up + "/" + rel
		dir = filepath.Dir(filepath.Clean(dir))
	}
	return open(name, dir, rel, f)
}

// Open opens a discovered file without leaving the folder it was found in.
func (c Candidate) Open() (*Opened, error) {
	if c.Root == "" {
		return OpenFile(c.Path)
	}
	root, err := os.OpenRoot(c.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	fi, err := root.Lstat(c.Rel)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: c.Path, Err: ErrNotRegular}
	}
	f, err := root.OpenFile(c.Rel, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	return open(c.Path, c.Root, c.Rel, f)
}

// nonblock keeps a pipe that took the file's place between the look and the open
// from blocking us; on regular files it means nothing.
const nonblock = syscall.O_NONBLOCK

func open(name, dir, rel string, f *os.File) (o *Opened, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("open %s: %w", name, errors.Join(err, f.Close()))
		}
	}()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	o = &Opened{f: f, cut: -1}
	o.Stat = Stat{Size: fi.Size(), ModTime: milliseconds(fi.ModTime())}
	o.Stat.Device, o.Stat.Inode = identity(fi)
	prefix := make([]byte, min(PrefixBytes, fi.Size()))
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, fi.Size()), prefix); err != nil {
		return nil, changed(err)
	}
	o.Stat.Prefix, o.Stat.PrefixLen = sha256.Sum256(prefix), int64(len(prefix))
	o.Stat.Compressed = zstdx.IsFrame(prefix)
	o.File = File{Path: name, Size: fi.Size(), ModTime: o.Stat.ModTime, Open: o.view}
	o.File.Sidecar = func(side string, limit int64) ([]byte, error) { return readSidecar(dir, rel, side, limit) }
	if enc := utf16Of(prefix); o.Stat.Compressed || enc != nil {
		o.File.Size = -1
	}
	return o, nil
}

func milliseconds(t time.Time) int64 {
	if t.IsZero() {
		return archive.NoTime
	}
	return t.UnixMilli()
}

func changed(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return ErrChanged
	}
	return err
}

// Close lets the file go; views that are still open fail afterwards.
func (o *Opened) Close() error { return o.f.Close() }

// SameStart reports whether the file begins with the bytes that an earlier Stat of
// it hashed: then it has grown, or is unchanged, and was not rewritten.
func (o *Opened) SameStart(old Stat) (bool, error) {
	if old.PrefixLen > o.Stat.Size || old.PrefixLen > PrefixBytes {
		return false, nil
	}
	prefix := make([]byte, old.PrefixLen)
	if _, err := io.ReadFull(io.NewSectionReader(o.f, 0, o.Stat.Size), prefix); err != nil && err != io.EOF {
		return false, changed(err)
	}
	return sha256.Sum256(prefix) == old.Prefix, nil
}

// Head gives the first HeadBytes of the content, for sniffing, without a byte
// order mark.
func (o *Opened) Head() ([]byte, error) {
	r, err := o.view()
	if err != nil {
		return nil, err
	}
	head, err := io.ReadAll(io.LimitReader(r, HeadBytes))
	if e := r.Close(); err == nil {
		err = e
	}
	if err != nil && len(head) == 0 {
		return nil, err
	}
	return bytes.TrimPrefix(head, []byte("\ufeff")), nil
}

// view opens the content: decompressed, and in UTF-8 where a mark says UTF-16. A
// UTF-8 mark stays, so that offsets are those of the file.
func (o *Opened) view() (io.ReadCloser, error) {
	raw := &section{r: io.NewSectionReader(o.f, 0, o.Stat.Size), size: o.Stat.Size}
	if o.Stat.Compressed {
		return o.decompress(raw)
	}
	var mark [2]byte
	if n, err := o.f.ReadAt(mark[:], 0); err == nil {
		if order := utf16Of(mark[:n]); order != nil {
			return io.NopCloser(newUTF16Reader(raw, order)), nil
		}
	}
	return raw, nil
}

// A section reads a fixed length and says so when the file has fewer bytes left.
type section struct {
	r    *io.SectionReader
	size int64
	read int64
}

func (s *section) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.read += int64(n)
	if err == io.EOF && s.read < s.size {
		err = ErrChanged
	}
	return n, err
}

// ReadAt implements io.ReaderAt, so that who reads can look ahead.
func (s *section) ReadAt(p []byte, off int64) (int, error) {
	n, err := s.r.ReadAt(p, off)
	if err == io.EOF && off+int64(n) < s.size {
		err = ErrChanged
	}
	return n, err
}

// Close does nothing: the file is the Opened's.
func (s *section) Close() error { return nil }
