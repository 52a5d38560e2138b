package store

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// markFile is the name of the high-water mark.
const markFile = "MARK"

// A mark is the high-water mark: the last acknowledged batch, and the generation that
// it made, in a file of its own. It is written after each synced batch and is not
// synced, so it is never ahead of what is durable; a store behind it has lost
// acknowledged writes. A torn mark says nothing. The guard knows that there is one.
type mark struct {
	f    vfs.File
	warn func(error)
}

const (
	markMagic  = "HMRK"
	markLen    = 4 + 8 + 8 + 4
	oldMarkLen = 4 + 8 + 4 // a generation only
)

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

func encodeMark(generation, batch uint64) []byte {
	b := binary.LittleEndian.AppendUint64([]byte(markMagic), generation)
	b = binary.LittleEndian.AppendUint64(b, batch)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli()))
}

// readMark reads the mark. A torn one is zero; there is false if there is none.
func (s *Store) readMark() (generation, batch uint64, there bool, err error) {
	b, err := readFile(s.opts.FS, s.opts.FS.PathJoin(s.dir, markFile))
	if errors.Is(err, os.ErrNotExist) {
		return 0, 0, false, nil
	}
	n := len(b)
	if err != nil || n != markLen && n != oldMarkLen || string(b[:4]) != markMagic ||
		crc32.Checksum(b[:n-4], castagnoli()) != binary.LittleEndian.Uint32(b[n-4:]) {
		return 0, 0, true, err
	}
	if n == markLen {
		batch = binary.LittleEndian.Uint64(b[12:])
	}
	return binary.LittleEndian.Uint64(b[4:]), batch, true, nil
}

// openMark opens the mark for writing, and makes it and its place durable if it is new.
func (s *Store) openMark() error {
	fs := s.opts.FS
	name := fs.PathJoin(s.dir, markFile)
	s.mark.warn = func(err error) { s.opts.Logger.Warn("store: no high-water mark", "err", err) }
	_, err := fs.Stat(name)
	if err == nil {
		s.mark.f, err = fs.OpenReadWrite(name, vfs.WriteCategoryUnspecified)
		return err
	}
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(encodeMark(s.state.Load().Generation, s.chain.last))
	if err = errors.Join(err, f.Sync(), syncDir(fs, s.dir)); err != nil {
		return errors.Join(err, f.Close())
	}
	s.mark.f = f
	return nil
}

// write notes an acknowledged batch. It must not fail the commit, which is durable.
func (m *mark) write(generation, batch uint64) {
	if m.f == nil {
		return
	}
	if _, err := m.f.WriteAt(encodeMark(generation, batch), 0); err != nil {
		m.warn(errors.Join(err, m.f.Close()))
		m.f = nil
	}
}

func (m *mark) close() error {
	if m.f == nil {
		return nil
	}
	err := errors.Join(m.f.Sync(), m.f.Close())
	m.f = nil
	return err
}
