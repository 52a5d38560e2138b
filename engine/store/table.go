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

// walk gives the keys of a table in order, up to damage.
func (t *table) walk(f func(key []byte)) error {
	it, err := t.reader.NewIter(block.NoTransforms, nil, nil, sstable.AssertNoBlobHandles)
	if err != nil {
		return err
	}
	for kv := it.First(); kv != nil; kv = it.Next() {
		f(kv.K.UserKey)
	}
	return errors.Join(it.Error(), it.Close())
}

// blank makes blanks for the damaged blocks of a table. around are the keys of the records
// before and behind each, or those that the live table begins and ends with.
func (s *Store) blank(t *table, bad []*blockError, live liveTable, alive func() error) (made map[blockAt][]byte, around [][2][]byte, err error) {
	made = map[blockAt][]byte{}
	ours := map[string]int{} // by the key of the blank
	for i, one := range bad {
		n := 0 // blanks since the last record
		last := slices.Clone(live.smallest)
		_ = t.walk(func(k []byte) { // ends at the first that is not blank yet
			if _, blank := ours[string(k)]; blank {
				n++
				return
			}
			last, n = append(last[:0], k...), 0
		})
		if n > 0xff {
			return nil, nil, fmt.Errorf("%s: too many damaged blocks", t.path)
		}
		key, b, err := s.makeBlank(append(last, byte(n)), one.length, alive)
		if err != nil {
			return nil, nil, err
		}
		ours[string(key)] = i
		made[blockAt{t.path, one.off}] = b
		t.blanks.put(made)
	}
	around = make([][2][]byte, len(bad))
	last, open := slices.Clone(live.smallest), []int{}
	err = t.walk(func(k []byte) {
		if i, blank := ours[string(k)]; blank {
			around[i] = [2][]byte{slices.Clone(last), live.largest}
			open = append(open, i)
			return
		}
		last = append(last[:0], k...)
		for _, i := range open {
			around[i][1] = slices.Clone(k)
		}
		open = open[:0]
	})
	return made, around, err
}
