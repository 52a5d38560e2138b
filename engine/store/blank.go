package store

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// A blank stands in for a damaged block of a table: Pebble reads it in the block's place
// and finds nothing in it but the deletion of a key that no record has. So a compaction
// gets through the table, and what it writes has the block no more.

// blockTrailer is the number of bytes after a block: how it is compressed, and a
// checksum of both.
const blockTrailer = 5

// A blockAt names a block.
type blockAt struct {
	path string
	off  int64
}

// blanks are those that stand in now. Reading goes by them only if there are any.
type blanks struct {
	mu  sync.Mutex // held by who changes them
	now atomic.Pointer[map[blockAt][]byte]
}

func (b *blanks) at(path string, off int64) []byte {
	if m := b.now.Load(); m != nil {
		return (*m)[blockAt{path, off}]
	}
	return nil
}

func (b *blanks) put(more map[blockAt][]byte) {
	b.change(func(m map[blockAt][]byte) { maps.Copy(m, more) })
}

// forget drops the blanks of a table.
func (b *blanks) forget(path string) {
	b.change(func(m map[blockAt][]byte) {
		maps.DeleteFunc(m, func(at blockAt, _ []byte) bool { return at.path == path })
	})
}

func (b *blanks) change(f func(map[blockAt][]byte)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := map[blockAt][]byte{}
	if old := b.now.Load(); old != nil {
		maps.Copy(m, *old)
	}
	if f(m); len(m) == 0 {
		b.now.Store(nil)
		return
	}
	b.now.Store(&m)
}

// makeBlank makes a blank for a block of size bytes, with its trailer: that length is in
// the table's index. Blocks grow by steps of eight with the length of the key, which begins
// with from, as no record does; the value fills the rest. The deletion is older than any
// record, and hides none.
func (s *Store) makeBlank(from []byte, size int, alive func() error) (key, b []byte, err error) {
	for rest := range 11 { // no number takes more
		key, tried := slices.Clone(from), map[int]bool{}
		for !tried[len(key)] {
			if err := alive(); err != nil {
				return nil, nil, err
			}
			tried[len(key)] = true
			b, err := s.soleBlock(key, rest, size)
			if err != nil || len(b) == size {
				return key, b, err
			}
			n := max(len(key)+size-len(b), len(from))
			key = append(key, make([]byte, max(0, n-len(key)))...)[:n]
		}
	}
	return nil, nil, fmt.Errorf("a block of %d bytes is too short for a blank", size)
}

// soleBlock is the block of a table in which one key is deleted, with its trailer. The
// value, which says of how many bytes the deletion is one, is 0 in so many bytes.
func (s *Store) soleBlock(key []byte, rest, size int) ([]byte, error) {
	kind, value := pebble.InternalKeyKindDelete, []byte(nil)
	if rest > 0 {
		kind, value = pebble.InternalKeyKindDeleteSized, append(bytes.Repeat([]byte{0x80}, rest-1), 0)
	}
	o := s.tables
	o.Compression, o.FilterPolicy, o.BlockSize = block.NoCompression, nil, 4*size+1<<10
	mem := vfs.NewMem()
	f, err := mem.Create("blank"+tableSuffix, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	w := sstable.NewWriter(objstorageprovider.NewFileWritable(f), o)
	err = w.Raw().Add(pebble.MakeInternalKey(key, 0, kind), value, false)
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	t, err := s.openTable(mem, "blank"+tableSuffix)
	if err != nil {
		return nil, err
	}
	defer t.close()
	if len(t.blocks) != 1 {
		return nil, fmt.Errorf("a table of one key has %d blocks", len(t.blocks))
	}
	return t.read(t.blocks[0])
}
