package faultfs

import (
	"sync"
	"syscall"
)

// A Budget is the room on a disk. A write takes its bytes, the part that still fits if
// not all does; a removal gives them back.
type Budget struct {
	mu   sync.Mutex
	room int64
	used map[string]int64
	full bool // a write was refused
}

// Limit gives the file system room for so many more bytes. A later call makes the
// disk larger or smaller.
func (f *FS) Limit(room int64) *Budget {
	b := f.budget.Load()
	if b == nil {
		b = &Budget{used: map[string]int64{}}
	}
	b.mu.Lock()
	b.room = room
	b.mu.Unlock()
	f.budget.Store(b)
	return b
}

// Full reports whether a write was refused.
func (b *Budget) Full() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.full
}

func (b *Budget) take(op Op) error {
	if op.Kind != Write {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	n := int64(op.Bytes)
	if n <= b.room {
		b.room -= n
		b.used[op.Path] += n
		return nil
	}
	keep := max(0, b.room)
	b.room -= keep
	b.used[op.Path] += keep
	b.full = true
	return &Short{Keep: int(keep), Err: syscall.ENOSPC}
}

func (b *Budget) free(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.room += b.used[name]
	delete(b.used, name)
}

func (b *Budget) move(from, to string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.room += b.used[to]
	b.used[to] = b.used[from]
	delete(b.used, from)
}
