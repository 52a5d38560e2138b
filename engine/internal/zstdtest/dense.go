// Package zstdtest makes compressed bytes that no honest encoder makes, for tests.
package zstdtest

import "encoding/binary"

// Dense is a zstd frame of so many blocks of 128 KiB of one byte, four bytes of the
// frame each: the densest that the format allows. A size above zero is claimed in its
// header; it need not be true.
func Dense(blocks int, fill byte, windowLog uint, size uint64) []byte {
	b := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, byte(windowLog-10) << 3}
	if size > 0 {
		b[4] = 3 << 6
		b = binary.LittleEndian.AppendUint64(b, size)
	}
	for i := range blocks {
		head := uint32(128<<10)<<3 | 1<<1
		if i == blocks-1 {
			head |= 1
		}
		b = append(b, byte(head), byte(head>>8), byte(head>>16), fill)
	}
	return b
}
