package segments

import (
	"math/bits"
	"math/rand/v2"

	"github.com/hansard-search/hansard/lexer"
)

// An inverter gathers the occurrences of terms as their blocks come. Each term has
// one record, of a cache line, that is found by open addressing; its occurrences
// are a string of uvarints as postings.ListBuilder.AddOccurrences takes it, its
// first bytes in the record, the rest in slices of a pool that grow with the list.
// So an occurrence costs two to four bytes, and writing the index needs no pass
// over all of them: the list of a term is there when its turn comes.
type inverter struct {
	seed    [2]uint64
	slots   []uint64 // hash above, number of the record plus one below; 0 is free
	chunks  [][]termRecord
	n       int    // records
	rest    []byte // what does not fit the keys of records
	pool    slicePool
	tmp     [keyBytes]byte
	tokens  [batchTokens]occurrence
	long    []byte // what does not fit the keys of tokens
	touched byte   // keeps the loads of touch from being left out
}

const (
	keyBytes     = 16
	recordBytes  = 64
	sortBytes    = 20 // of a term in sorted
	recordInline = 20
	maxLong      = 1 << 20 // bytes that inverter.long keeps
	chunkRecords = 1 << 10
	maxPool      = 1<<31 - 1
)

// A termRecord is a term and the occurrences so far.
type termRecord struct {
	key    [2]uint64 // the first sixteen bytes, padded with zeros
	size   uint32    // of the term
	rest   uint32    // where its bytes beyond sixteen are
	row    uint32    // last row, counted from 1
	pos    uint32    // last position in it
	head   uint32    // first slice in the pool
	at     uint32    // in the pool, for the next byte
	left   uint16    // bytes left there
	class  uint8     // of the last slice plus one; 0 if there is none
	inline uint8     // bytes in first
	first  [recordInline]byte
}

func newInverter() *inverter {
	return &inverter{seed: [2]uint64{rand.Uint64(), rand.Uint64()}, slots: make([]uint64, 1<<10)}
}

// reset forgets everything and keeps the memory.
func (v *inverter) reset() {
	clear(v.slots)
	v.n, v.rest = 0, v.rest[:0]
	v.pool.reset()
}

func (v *inverter) record(id uint32) *termRecord {
	return &v.chunks[id/chunkRecords][id%chunkRecords]
}

// key returns the first sixteen bytes of a term, padded with zeros.
func (v *inverter) key(term []byte) (k0, k1 uint64) {
	b := term
	if cap(b) < keyBytes {
		b = append(v.tmp[:0], term...)
	}
	b = b[:keyBytes]
	k0, k1 = le.Uint64(b), le.Uint64(b[8:])
	switch n := uint(len(term)); {
	case n < 8:
		return k0 & (1<<(8*n) - 1), 0
	case n < 16:
		return k0, k1 & (1<<(8*(n-8)) - 1)
	}
	return k0, k1
}

// hash mixes a term, of which k0 and k1 are the key. The seeds are random, so that
// no text can be made whose terms collide.
func (v *inverter) hash(term []byte, k0, k1 uint64) uint32 {
	h := mix(k0^v.seed[0], k1^v.seed[1])
	for rest := term; len(rest) > keyBytes; {
		rest = rest[keyBytes:]
		var b [keyBytes]byte
		copy(b[:], rest)
		h = mix(le.Uint64(b[:])^h, le.Uint64(b[8:])^v.seed[1])
	}
	return uint32(mix(h^uint64(len(term)), v.seed[0]|1) >> 32)
}

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// An occurrence is a token of a block with all that finding its record needs.
type occurrence struct {
	key  [2]uint64
	hash uint32
	size uint32
	rest uint32 // where its bytes beyond sixteen are in inverter.long
}

// batchTokens is how many tokens are looked up at once: a first loop asks for the slots of all,
// a second one for their records, a third one for the ends of their lists. These
// loads do not depend on one another, so that the processor waits for many at a
// time and not for each.
const batchTokens = 64

// addBlock adds the terms of a row, in order, and returns their number. Rows ascend.
func (v *inverter) addBlock(scan *lexer.Scanner, row uint32) (length uint32) {
	n := 0
	for more := scan.Next(); more; {
		v.take(&v.tokens[n], scan.Term())
		n++
		if more = scan.Next(); n == batchTokens || !more {
			v.addTokens(v.tokens[:n], row+1, length)
			length += uint32(n)
			n = 0
		}
	}
	return length
}

func (v *inverter) take(t *occurrence, term []byte) {
	t.key[0], t.key[1] = v.key(term)
	t.hash = v.hash(term, t.key[0], t.key[1])
	t.size = uint32(len(term))
	if len(term) > keyBytes {
		t.rest = uint32(len(v.long))
		v.long = append(v.long, term[keyBytes:]...)
	}
}

// addTokens adds terms that stand one after the other from pos on.
func (v *inverter) addTokens(tokens []occurrence, row, pos uint32) {
	v.touch(tokens)
	for i := range tokens {
		t := &tokens[i]
		v.occur(v.find(t), row, pos)
		pos++
	}
	if v.long = v.long[:0]; cap(v.long) > maxLong {
		v.long = nil
	}
}

// touch loads what addTokens will need.
func (v *inverter) touch(tokens []occurrence) {
	var ids [batchTokens]uint32
	mask := uint64(len(v.slots) - 1)
	for i := range tokens {
		ids[i] = uint32(v.slots[uint64(tokens[i].hash)&mask])
	}
	var at [batchTokens]uint32
	for i := range tokens {
		if id := ids[i]; id > 0 {
			at[i] = v.record(id - 1).at
		}
	}
	x := byte(0)
	for i := range tokens {
		if a := at[i]; a > 0 {
			x ^= v.pool.chunks[a/poolChunk][a%poolChunk]
		}
	}
	v.touched = x
}

// touchRecords loads records and the first slices of their lists.
func (v *inverter) touchRecords(ids []uint32) {
	var heads [batchTokens]uint32
	for i, id := range ids {
		heads[i] = v.record(id).head
	}
	x := byte(0)
	for _, a := range heads[:len(ids)] {
		if a > 0 {
			x ^= v.pool.chunks[a/poolChunk][a%poolChunk]
		}
	}
	v.touched = x
}

// find returns the record of a term, a new one if it is new.
func (v *inverter) find(t *occurrence) *termRecord {
	mask := uint64(len(v.slots) - 1)
	i := uint64(t.hash) & mask
	for ; ; i = (i + 1) & mask {
		slot := v.slots[i]
		if slot == 0 {
			break
		}
		if uint32(slot>>32) != t.hash {
			continue
		}
		if r := v.record(uint32(slot) - 1); r.key == t.key && r.size == t.size && (t.size <= keyBytes || v.sameRest(r, t)) {
			return r
		}
	}
	v.slots[i] = uint64(t.hash)<<32 | uint64(v.n+1)
	if r := v.newRecord(t); 2*v.n <= len(v.slots) {
		return r
	}
	v.grow()
	return v.record(uint32(v.n) - 1)
}

func (v *inverter) restOf(t *occurrence) []byte { return v.long[t.rest:][:t.size-keyBytes] }

func (v *inverter) sameRest(r *termRecord, t *occurrence) bool {
	return string(v.rest[r.rest:][:r.size-keyBytes]) == string(v.restOf(t))
}

func (v *inverter) newRecord(t *occurrence) *termRecord {
	if v.n == len(v.chunks)*chunkRecords {
		v.chunks = append(v.chunks, make([]termRecord, chunkRecords))
	}
	r := v.record(uint32(v.n))
	v.n++
	*r = termRecord{key: t.key, size: t.size, rest: uint32(len(v.rest))}
	if t.size > keyBytes {
		v.rest = append(v.rest, v.restOf(t)...)
	}
	return r
}

func (v *inverter) grow() {
	old := v.slots
	v.slots = make([]uint64, 2*len(old))
	mask := uint64(len(v.slots) - 1)
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		i := slot >> 32 & mask
		for v.slots[i] != 0 {
			i = (i + 1) & mask
		}
		v.slots[i] = slot
	}
}

// full reports whether another block could be more than the places in records, of
// 32 bits, can say.
func (v *inverter) full() bool {
	return len(v.rest) > maxArena || v.pool.end > maxPool || v.n > maxRows
}

// bytes is about the memory that the terms hold and will take to be sorted. It
// counts what is in use, not what a reset has kept.
func (v *inverter) bytes() int {
	slots := 8 << bits.Len(uint(2*v.n))
	return (recordBytes+sortBytes)*v.n + slots + len(v.rest) + v.pool.bytes()
}
