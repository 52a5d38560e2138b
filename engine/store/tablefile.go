package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// tableSuffix is that of Pebble's tables.
const tableSuffix = ".sst"

// largeBlock is the size of a read, in bytes, from which tableFile checks it.
const largeBlock = 8 << 10

// A tableFile is a table that Pebble reads, a block at a time. It checks large blocks
// itself: to one that does not match its checksum Pebble does what it takes to find the
// bit that was turned over, which is seconds for a chunk of source bytes, at each
// reading and in each compaction, and Close waits for it.
//
// Caveat: reads of largeBlock bytes and more are blocks with their trailers, and
// nothing else; Pebble's footers are far smaller.
type tableFile struct {
	vfs.File
	path   string
	blanks *blanks
}

// ReadAt implements vfs.File.
func (f *tableFile) ReadAt(p []byte, off int64) (int, error) {
	if b := f.blanks.at(f.path, off); b != nil && len(b) == len(p) {
		return copy(p, b), nil
	}
	n, err := f.File.ReadAt(p, off)
	if err != nil || n < largeBlock || n != len(p) {
		return n, err
	}
	if err := checkBlock(f.path, off, p); err != nil {
		return 0, err
	}
	return n, nil
}

// checkBlock checks a block with its trailer.
func checkBlock(path string, off int64, b []byte) error {
	if want, got := binary.LittleEndian.Uint32(b[len(b)-4:]), blockChecksum(b[:len(b)-4]); want != got {
		return &blockError{path, off, len(b), fmt.Sprintf("checksum mismatch %08x != %08x", want, got)}
	}
	return nil
}

// blockChecksum is what the trailer of a block holds for all that is before it: a
// CRC-32C as LevelDB masks it.
func blockChecksum(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli())
	return (c>>15 | c<<17) + 0xa282ead8
}

// A blockError is damage to a block of a table. It matches pebble.ErrCorruption.
type blockError struct {
	path   string
	off    int64
	length int // with the trailer
	reason string
}

func (e *blockError) Error() string {
	return fmt.Sprintf("%s: block at %d, %d bytes: %s", e.path, e.off, e.length, e.reason)
}

func (e *blockError) Is(target error) bool { return target == pebble.ErrCorruption }
