package segments

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
)

// sorted returns the numbers of the records in the byte order of their terms.
func (v *inverter) sorted() []uint32 {
	type key struct {
		prefix uint64
		id     uint32
	}
	keys := make([]key, v.n)
	for i := range keys {
		keys[i] = key{bits.ReverseBytes64(v.record(uint32(i)).key[0]), uint32(i)}
	}
	slices.SortFunc(keys, func(a, b key) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		return v.compareRest(v.record(a.id), v.record(b.id))
	})
	ids := make([]uint32, len(keys))
	for i, k := range keys {
		ids[i] = k.id
	}
	return ids
}

// compareRest compares two terms with equal first eight bytes.
func (v *inverter) compareRest(a, b *termRecord) int {
	if a.key[1] != b.key[1] {
		return cmp.Compare(bits.ReverseBytes64(a.key[1]), bits.ReverseBytes64(b.key[1]))
	}
	if a.size <= keyBytes || b.size <= keyBytes {
		return cmp.Compare(a.size, b.size)
	}
	return bytes.Compare(v.rest[a.rest:][:a.size-keyBytes], v.rest[b.rest:][:b.size-keyBytes])
}
