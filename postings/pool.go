package postings

import "sync"

var bitsPool = sync.Pool{New: func() any { return new(Bits) }}

// GetBits returns an empty bitset over n rows whose memory may have served before.
// Hand it back with [PutBits]; forgetting to costs memory, nothing else.
func GetBits(n int) *Bits {
	b := bitsPool.Get().(*Bits)
	b.Reset(n)
	return b
}

// PutBits takes a bitset back, which the caller must no longer use. Nil is ignored.
func PutBits(b *Bits) {
	if b != nil {
		bitsPool.Put(b)
	}
}
