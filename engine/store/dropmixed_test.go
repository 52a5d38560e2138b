package store

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestDropDamageOfTwoKinds damages a block of frames and one of source bytes in one table:
// each is judged by itself, both go, and what they held comes back with its source.
func TestDropDamageOfTwoKinds(t *testing.T) {
	disk := vfs.NewMem()
	s := openMem(t, disk)
	var list []session
	for i := range 6 {
		list = append(list, say(fmt.Sprint("s", i), noise(uint64(i), 100_000)))
	}
	commit(t, s, list...)
	put := func(s *Store) {
		for i := range 6 {
			id := putRaw(t, s, randomBytes(rng(t, uint64(40+i)), chunkBytes/2))
			commitAs(t, s, Commit{Cursors: []Cursor{{Path: fmt.Sprint("file", i), Raw: id}}})
		}
	}
	put(s)
	must(t, s.Compact(t.Context()))
	must(t, s.Close())
	tried := 0
	for _, path := range tablesOf(t, disk, s.Dir()) {
		opened, err := s.openTable(disk, path)
		must(t, err)
		blocks := opened.blocks
		opened.close()
		if len(blocks) < 8 {
			continue
		}
		fs := cloneDisk(t, disk)
		for _, i := range []int{len(blocks) / 4, len(blocks) * 7 / 8} {
			flipAt(t, fs, path, int64(blocks[i].Offset+blocks[i].Length/2))
		}
		if kinds := damagedKinds(t, s, fs, path); kinds != string([]byte{prefixFrame, prefixChunk}) {
			t.Logf("%s: %q", path, kinds)
			continue
		}
		tried++
		s := openMem(t, fs)
		gone, err := s.DropDamage(t.Context())
		must(t, err)
		if len(gone) != 2 {
			t.Errorf("%s: dropped %v", path, gone)
		}
		faults, err := s.Check(t.Context())
		must(t, err)
		for _, f := range faults {
			if f.Kind == FaultRawOrphan || f.Kind == FaultOrphan || strings.Contains(f.Detail, "checksum") {
				t.Errorf("%s: %v", path, f)
			}
		}
		for _, z := range list {
			commit(t, s, say(z.head.Native, "something else"))
			commit(t, s, z)
		}
		put(s)
		wantClean(t, s)
		must(t, s.Close())
	}
	if tried == 0 {
		t.Error("no table holds both kinds")
	}
}

// damagedKinds are the kinds of records in the damaged blocks of a table.
func damagedKinds(t *testing.T, s *Store, fs FS, path string) string {
	t.Helper()
	opened, err := s.openTable(fs, path)
	must(t, err)
	defer opened.close()
	bad, err := opened.damaged(func() error { return nil })
	must(t, err)
	_, around, err := s.blank(opened, bad, liveTable{path, []byte{0}, []byte{0xff}}, t.Context().Err)
	must(t, err)
	var kinds []byte
	for _, keys := range around {
		if keys[0][0] == keys[1][0] {
			kinds = append(kinds, keys[0][0])
		}
	}
	return string(kinds)
}
