package segments

import (
	"encoding/binary"
	"unsafe"
)

// nativeLittle reports whether memory has the byte order of the file.
var nativeLittle = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// u32s views b, whose length is a multiple of four, as numbers. Where the byte
// order or the alignment forbids a view it decodes a copy: a segment of four
// million blocks has 16 MB of lengths alone, which a view neither reads nor
// holds until a query needs them.
func u32s(b []byte) []uint32 {
	if len(b) == 0 {
		return nil
	}
	if nativeLittle && uintptr(unsafe.Pointer(&b[0]))%4 == 0 {
		return unsafe.Slice((*uint32)(unsafe.Pointer(&b[0])), len(b)/4)
	}
	return decodeU32s(b)
}

// decodeU32s is the twin of u32s without a view.
func decodeU32s(b []byte) []uint32 {
	v := make([]uint32, len(b)/4)
	for i := range v {
		v[i] = le.Uint32(b[4*i:])
	}
	return v
}

// u64s views b, whose length is a multiple of eight, as numbers.
func u64s(b []byte) []uint64 {
	if len(b) == 0 {
		return nil
	}
	if nativeLittle && uintptr(unsafe.Pointer(&b[0]))%8 == 0 {
		return unsafe.Slice((*uint64)(unsafe.Pointer(&b[0])), len(b)/8)
	}
	return decodeU64s(b)
}

// decodeU64s is the twin of u64s without a view.
func decodeU64s(b []byte) []uint64 {
	v := make([]uint64, len(b)/8)
	for i := range v {
		v[i] = le.Uint64(b[8*i:])
	}
	return v
}

// width is the least of 0, 1, 2, 4 and 8 bytes that holds v.
func width(v uint64) int {
	switch {
	case v == 0:
		return 0
	case v < 1<<8:
		return 1
	case v < 1<<16:
		return 2
	case v < 1<<32:
		return 4
	}
	return 8
}

// appendPacked appends v in w bytes.
func appendPacked(dst []byte, v uint64, w int) []byte {
	switch w {
	case 0:
		return dst
	case 1:
		return append(dst, byte(v))
	case 2:
		return le.AppendUint16(dst, uint16(v))
	case 4:
		return le.AppendUint32(dst, uint32(v))
	}
	return le.AppendUint64(dst, v)
}

// packed returns the i-th number of w bytes each.
func packed(b []byte, i, w int) uint64 {
	switch w {
	case 0:
		return 0
	case 1:
		return uint64(b[i])
	case 2:
		return uint64(le.Uint16(b[2*i:]))
	case 4:
		return uint64(le.Uint32(b[4*i:]))
	}
	return le.Uint64(b[8*i:])
}
