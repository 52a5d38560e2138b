package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// A table is one of Pebble's files, looked at without Pebble's cache, and without its
// search for the bit that was turned over.
type table struct {
	path   string
	f      vfs.File
	reader *sstable.Reader
	blocks []block.Handle // that hold records, in order
	blanks blanks         // that only this reader sees
}

func (s *Store) openTable(fs FS, path string) (*table, error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	t := &table{path: path, f: f}
	readable, err := sstable.NewSimpleReadable(&tableFile{f, path, &t.blanks})
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if t.reader, err = sstable.NewReader(context.Background(), readable, s.readers); err != nil {
		return nil, mapErr(err) // the reader has closed the file
	}
	layout, err := t.reader.Layout()
	if err != nil {
		return nil, mapErr(errors.Join(err, t.reader.Close()))
	}
	for _, h := range layout.Data {
		t.blocks = append(t.blocks, h.Handle)
	}
	return t, nil
}

func (t *table) close() { _ = t.reader.Close() } // it was only read

// read reads a block with its trailer as it is in the file.
func (t *table) read(h block.Handle) ([]byte, error) {
	b := make([]byte, h.Length+blockTrailer)
	if _, err := t.f.ReadAt(b, int64(h.Offset)); err != nil {
		return nil, err
	}
	return b, checkBlock(t.path, int64(h.Offset), b)
}

// damaged lists the blocks that are not what was written.
func (t *table) damaged(alive func() error) (bad []*blockError, err error) {
	for _, h := range t.blocks {
		if err := alive(); err != nil {
			return nil, err
		}
		var one *blockError
		if _, err := t.read(h); errors.As(err, &one) {
			bad = append(bad, one)
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", t.path, err)
		}
	}
	return bad, nil
}

// walk gives the keys of a table in order, or against it, up to damage.
func (t *table) walk(backward bool, f func(key []byte)) error {
	it, err := t.reader.NewIter(block.NoTransforms, nil, nil, sstable.AssertNoBlobHandles)
	if err != nil {
		return err
	}
	first, next := it.First, it.Next
	if backward {
		first, next = it.Last, it.Prev
	}
	for kv := first(); kv != nil; kv = next() {
		f(kv.K.UserKey)
	}
	return errors.Join(it.Error(), it.Close())
}

// blank makes blanks for the damaged blocks of a table, which begins at smallest. between
// are the keys around all of them, where there are any.
func (s *Store) blank(t *table, bad []*blockError, smallest []byte) (made map[blockAt][]byte, between [2][]byte, err error) {
	last := slices.Clone(smallest)
	// The first walk ends at the first of them, and the other at the last.
	_ = t.walk(false, func(k []byte) { last = append(last[:0], k...) })
	between[0] = slices.Clone(last)
	_ = t.walk(true, func(k []byte) { between[1] = append(between[1][:0], k...) })
	made = map[blockAt][]byte{}
	ours := map[string]bool{}
	for _, one := range bad {
		n := 0 // blanks since the last record
		last = append(last[:0], smallest...)
		_ = t.walk(false, func(k []byte) {
			if ours[string(k)] {
				n++
				return
			}
			last, n = append(last[:0], k...), 0
		})
		if n > 0xff {
			return nil, between, fmt.Errorf("%s: too many damaged blocks", t.path)
		}
		key, b, err := s.makeBlank(append(last, byte(n)), one.length)
		if err != nil {
			return nil, between, err
		}
		ours[string(key)] = true
		made[blockAt{t.path, one.off}] = b
		t.blanks.put(made)
	}
	return made, between, t.walk(false, func([]byte) {})
}
