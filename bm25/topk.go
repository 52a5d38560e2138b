package bm25

// A TopK keeps the k best of the items offered to it under a strict total order.
// It belongs to one goroutine and allocates only when it is made.
type TopK[T any] struct {
	k      int
	better func(a, b T) bool
	items  []T // a heap with the worst item at the root until it is sorted
}

// NewTopK returns a keeper of the k best items. better is a strict total order:
// for two different items exactly one is better than the other.
func NewTopK[T any](k int, better func(a, b T) bool) *TopK[T] {
	k = max(k, 0)
	return &TopK[T]{k: k, better: better, items: make([]T, 0, k)}
}

// Offer keeps x if it is among the k best so far, and reports whether it did.
func (t *TopK[T]) Offer(x T) bool {
	if len(t.items) < t.k {
		t.items = append(t.items, x)
		t.up(len(t.items) - 1)
		return true
	}
	if t.k == 0 || !t.better(x, t.items[0]) {
		return false
	}
	t.items[0] = x
	t.down(0)
	return true
}

// Worst returns the worst of the kept items, the one to beat, and false while
// fewer than k are kept.
func (t *TopK[T]) Worst() (T, bool) {
	if t.k == 0 || len(t.items) < t.k {
		var zero T
		return zero, false
	}
	return t.items[0], true
}

// Len is the number of kept items.
func (t *TopK[T]) Len() int { return len(t.items) }

// Reset forgets the items and keeps the memory.
func (t *TopK[T]) Reset() {
	clear(t.items)
	t.items = t.items[:0]
}

// AppendSorted appends the kept items to dst, best first, and resets t.
func (t *TopK[T]) AppendSorted(dst []T) []T {
	all := t.items
	for n := len(all) - 1; n > 0; n-- {
		all[0], all[n] = all[n], all[0]
		t.items = all[:n]
		t.down(0)
	}
	dst = append(dst, all...)
	t.items = all
	t.Reset()
	return dst
}

func (t *TopK[T]) up(i int) {
	for i > 0 {
		p := (i - 1) / 2
		if !t.better(t.items[p], t.items[i]) {
			return
		}
		t.items[p], t.items[i] = t.items[i], t.items[p]
		i = p
	}
}

func (t *TopK[T]) down(i int) {
	for {
		c := 2*i + 1
		if c >= len(t.items) {
			return
		}
		if c+1 < len(t.items) && t.better(t.items[c], t.items[c+1]) {
			c++
		}
		if !t.better(t.items[i], t.items[c]) {
			return
		}
		t.items[i], t.items[c] = t.items[c], t.items[i]
		i = c
	}
}
