package segments

import (
	"errors"
	"fmt"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TempSuffix ends the names of all temporary files. A process that finds such a
// file at its start may remove it.
const TempSuffix = ".segment.tmp"

// spoolBytes is how much a spool holds in memory before it takes a file, spoolChunk
// how far one piece of that memory grows: beyond it, growing would copy too much.
const (
	spoolBytes = 4 << 20
	spoolChunk = 256 << 10
)

// A scratch makes temporary files. Without a directory there are none, and
// everything stays in memory.
type scratch struct {
	fs  vfs.FS
	dir string
	id  ID // keeps the names of two writers apart
	n   int
}

func newScratch(fs vfs.FS, dir string) (*scratch, error) {
	if fs == nil {
		fs = vfs.Default
	}
	id, err := randomID()
	return &scratch{fs: fs, dir: dir, id: id}, err
}

func (s *scratch) create() (vfs.File, string, error) {
	s.n++
	name := s.fs.PathJoin(s.dir, fmt.Sprintf("%s-%d%s", s.id, s.n, TempSuffix))
	f, err := s.fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, "", fmt.Errorf("segments: temporary file %s: %w", name, err)
	}
	return f, name, nil
}

// A spool gathers the bytes of a section that is written while others are: in
// memory, then in a temporary file. Its first error sticks.
type spool struct {
	scratch *scratch
	full    [][]byte // in memory, before buf
	buf     []byte
	size    int64 // of everything
	written int64 // of what is in the file
	file    vfs.File
	name    string
	err     error
}

// Write appends p.
func (s *spool) Write(p []byte) (int, error) {
	s.put(p)
	return len(p), s.err
}

func (s *spool) put(p []byte) {
	s.size += int64(len(p))
	if len(s.buf)+len(p) > spoolChunk && len(s.buf) > 0 {
		s.full = append(s.full, s.buf)
		s.buf = make([]byte, 0, spoolChunk)
	}
	s.buf = append(s.buf, p...)
	if s.size-s.written >= spoolBytes && s.scratch.dir != "" && s.err == nil {
		s.flush()
	}
}

func (s *spool) flush() {
	if s.file == nil {
		if s.file, s.name, s.err = s.scratch.create(); s.err != nil {
			return
		}
	}
	for _, b := range append(s.full, s.buf) {
		if _, err := s.file.Write(b); err != nil {
			s.err = fmt.Errorf("segments: temporary file %s: %w", s.name, err)
			return
		}
	}
	s.full, s.buf, s.written = nil, s.buf[:0], s.size
}

// section writes everything as a section and empties the spool.
func (s *spool) section(dst *sink, tag, name string) error {
	dst.begin(tag, name)
	err := s.copyTo(dst)
	dst.end()
	return err
}

// copyTo appends everything to the open section and empties the spool.
func (s *spool) copyTo(dst *sink) error {
	if s.err == nil && s.file != nil {
		r := io.NewSectionReader(s.file, 0, s.written)
		n, err := io.CopyBuffer(dst, r, make([]byte, pageBytes))
		if err == nil && n != r.Size() {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			s.err = fmt.Errorf("segments: temporary file %s: %w", s.name, err)
		}
	}
	for _, b := range s.full {
		dst.put(b)
	}
	dst.put(s.buf)
	return errors.Join(s.err, s.close())
}

// close removes the temporary file and empties the spool for further use.
func (s *spool) close() error {
	s.full, s.buf, s.size, s.written = nil, s.buf[:0], 0, 0
	if s.file == nil {
		return nil
	}
	err := errors.Join(s.file.Close(), s.scratch.fs.Remove(s.name))
	s.file = nil
	return err
}
