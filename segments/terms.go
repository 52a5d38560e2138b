package segments

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"
)

// A termTable numbers distinct byte strings in the order of their first
// appearance. Strings lie in one arena, each behind its number and its length,
// and are found by open addressing: a known string costs one hash and two places
// in memory, and takes none.
type termTable struct {
	seed   maphash.Seed
	slots  []uint64 // high half of the hash above, place in the arena plus one below; 0 is free
	starts []uint32 // where each record begins in the arena
	arena  []byte   // records: number u32, length u32, bytes
}

const recordHead = 8

// maxArena is how large an arena may be when a block comes, maxBlockText how long
// its text: with the longest spelling of the records, of many short terms, places
// still fit 32 bits.
const (
	maxArena     = 1 << 30
	maxBlockText = 1 << 29
)

func newTermTable() *termTable {
	return &termTable{seed: maphash.MakeSeed(), slots: make([]uint64, 1<<10)}
}

// reset forgets the strings and keeps the memory.
func (t *termTable) reset() {
	clear(t.slots)
	t.starts, t.arena = t.starts[:0], t.arena[:0]
}

func (t *termTable) len() int { return len(t.starts) }

// bytes is about the memory that the strings hold: the slots are two to eight
// times as many.
func (t *termTable) bytes() int { return 44*len(t.starts) + len(t.arena) }

// at returns the string of a number.
func (t *termTable) at(id uint32) []byte {
	_, s := t.record(t.starts[id])
	return s
}

func (t *termTable) record(at uint32) (id uint32, s []byte) {
	r := t.arena[at:]
	return le.Uint32(r), r[recordHead : recordHead+le.Uint32(r[4:])]
}

// id returns the number of a string, a new one if it is new.
func (t *termTable) id(s []byte) uint32 {
	h := maphash.Bytes(t.seed, s)
	mask := uint64(len(t.slots) - 1)
	i := h & mask
	for ; ; i = (i + 1) & mask {
		slot := t.slots[i]
		if slot == 0 {
			break
		}
		if slot>>32 == h>>32 {
			if id, known := t.record(uint32(slot) - 1); bytes.Equal(known, s) {
				return id
			}
		}
	}
	id, at := uint32(len(t.starts)), uint32(len(t.arena))
	t.starts = append(t.starts, at)
	t.arena = le.AppendUint32(t.arena, id)
	t.arena = le.AppendUint32(t.arena, uint32(len(s)))
	t.arena = append(t.arena, s...)
	t.slots[i] = h&^(1<<32-1) | uint64(at+1)
	if 2*len(t.starts) > len(t.slots) {
		t.grow()
	}
	return id
}

func (t *termTable) grow() {
	old := t.slots
	t.slots = make([]uint64, 4*len(old))
	mask := uint64(len(t.slots) - 1)
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		_, s := t.record(uint32(slot) - 1)
		i := maphash.Bytes(t.seed, s) & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = slot
	}
}

// sorted returns the numbers in the byte order of their strings. Comparing eight
// bytes at once decides most pairs without touching the arena.
func (t *termTable) sorted() []uint32 {
	type key struct {
		prefix uint64
		id     uint32
	}
	keys := make([]key, t.len())
	for i := range keys {
		keys[i] = key{prefix8(t.at(uint32(i))), uint32(i)}
	}
	slices.SortFunc(keys, func(a, b key) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		return bytes.Compare(t.at(a.id), t.at(b.id))
	})
	ids := make([]uint32, len(keys))
	for i, k := range keys {
		ids[i] = k.id
	}
	return ids
}
