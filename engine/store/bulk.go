package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// The chunks of a large file, but for its ends, do not go through the log and the
// memtable: each is written as a table of its own, whose only key no other table spans, so that it goes
// straight to the last level. They are written once and not once more for the log and for
// each compaction, and of a file of any size one chunk is in memory.
const (
	bulkAfter = 2 // chunks of a file that are written as everything is
	bulkGroup = 8 // tables that become part of the database at once
	bulkFile  = "ingest-"
	lastLevel = 6
)

// A bulk is tables on their way into the database.
type bulk struct {
	sums  [][32]byte
	paths []string
}

// has reports whether the chunk is on its way.
func (k *bulk) has(sum [32]byte) bool {
	for _, s := range k.sums {
		if s == sum {
			return true
		}
	}
	return false
}

// bulkChunk writes a chunk, compressed, as a table, and puts a full group into the
// database. On the writer.
func (u *upload) bulkChunk(sum [32]byte, value []byte) error {
	if u.bulk.has(sum) {
		return nil
	}
	fs := u.s.fs
	path := fs.PathJoin(u.s.dir, fmt.Sprintf("%s%d-%d", bulkFile, u.m.Blob, len(u.bulk.paths)))
	u.bulk.paths = append(u.bulk.paths, path)
	u.bulk.sums = append(u.bulk.sums, sum)
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	w := sstable.NewWriter(objstorageprovider.NewFileWritable(f), u.s.tables)
	if err := errors.Join(w.Set(keyHash(prefixChunk, sum), value), w.Close()); err != nil { // Close syncs
		return err
	}
	if len(u.bulk.paths) < bulkGroup {
		return nil
	}
	return u.ingest()
}

// ingest puts the tables that are written into the database. Their uses are durable
// first, so that no chunk is ever there that nothing uses. On the writer.
func (u *upload) ingest() error {
	if len(u.bulk.paths) == 0 {
		return nil
	}
	b := u.s.db.NewBatch()
	defer b.Close()
	if err := u.begin(b); err != nil {
		return err
	}
	for _, sum := range u.bulk.sums {
		if err := b.Set(keyUse(sum, u.m.Blob), nil, nil); err != nil {
			return err
		}
	}
	if err := u.s.apply(b, pebble.Sync); err != nil {
		return err
	}
	// Taking tables in reads them through the cache, which would keep chunks that
	// nobody asks for.
	defer u.s.cache.Reserve(int(u.s.cache.MaxSize()))()
	if err := u.s.db.Ingest(context.Background(), u.bulk.paths); err != nil {
		return err
	}
	u.bulk = bulk{}
	return nil
}

// dropBulk removes the tables of an upload that ends.
func (u *upload) dropBulk() error {
	var err error
	for _, path := range u.bulk.paths {
		if e := u.s.fs.Remove(path); !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	u.bulk = bulk{}
	return err
}

// bulkName are the names of tables outside of the database.
var bulkName = regexp.MustCompile(`^` + bulkFile + `\d+-\d+$`)

// removeBulk removes tables that a crash has left outside of the database.
func (s *Store) removeBulk() error {
	names, err := s.fs.List(s.dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		if !bulkName.MatchString(n) {
			continue
		}
		path := s.fs.PathJoin(s.dir, n)
		if info, err := s.fs.Stat(path); err != nil || info.IsDir() {
			continue // not ours
		}
		if err := s.fs.Remove(path); err != nil {
			return err
		}
	}
	return nil
}
