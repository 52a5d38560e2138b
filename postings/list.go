package postings

import (
	"encoding/binary"
	"fmt"
	"math"
)

// A List is the posting list of one term in one segment: the rows that hold it,
// with frequency and positions per row. It is a view over checked bytes, which
// must stay as they are while it is in use; the zero value is the empty list.
//
// Reading never allocates. The directory is checked when a list is opened, the
// payloads are not (their sections carry checksums): over damaged payloads every
// method still ends and stays inside its slices, and what it yields is garbage of
// the promised length. [List.Validate] reads everything.
type List struct {
	body
	doc   []byte           // heads, starts and payloads; or the lows of a tiny list
	count uint32           // containers
	shape uint8            // index into shapes of a tiny list, else 0
	keys  [TinyRows]uint16 // of a tiny list
	total uint64
}

// Sizes of the directory. A head is the key and the number of rows less one, a
// start the rank and the offset of the payload of each container but the first.
const (
	headSize  = 4
	startSize = 8
)

// OpenList opens the stored parts of a list that is not tiny. freq may be nil if
// frequencies will not be asked for, pos if positions will not. Positions need
// frequencies: without them a damaged doc, whose total no longer says that every row
// has one occurrence, could not be told from a caller's mistake, so that it is
// ErrCorrupt as everything else that does not fit.
func OpenList(doc, freq, pos []byte) (List, error) {
	count, w1 := binary.Uvarint(doc)
	if w1 <= 0 || count == 0 || count > ContainerRows {
		return List{}, fmt.Errorf("%w: list with a bad number of containers", ErrCorrupt)
	}
	extra, w2 := binary.Uvarint(doc[w1:])
	if w2 <= 0 {
		return List{}, fmt.Errorf("%w: list without a number of occurrences", ErrCorrupt)
	}
	l := List{doc: doc[w1+w2:], count: uint32(count)}
	if len(l.doc) < l.payloads() {
		return List{}, fmt.Errorf("%w: list of %d containers in %d bytes", ErrCorrupt, count, len(doc))
	}
	if err := l.checkDirectory(); err != nil {
		return List{}, err
	}
	l.total = extra + uint64(l.rows)
	if l.total < extra {
		return List{}, fmt.Errorf("%w: list of %d more occurrences than rows", ErrCorrupt, extra)
	}
	l.ones = extra == 0
	if err := l.checkParts(freq, pos); err != nil {
		return List{}, err
	}
	l.freq, l.pos = freq, pos
	return l, nil
}

// checkDirectory checks that keys and ranks ascend, that the payloads fill the
// rest of the bytes, and that the size of each fits its number of rows; it counts
// the rows.
func (l *List) checkDirectory() error {
	last := -1
	for i := range int(l.count) {
		key, card := l.head(i)
		rank, lo, hi := l.span(i)
		if int(key) <= last || uint32(rank) != l.rows || lo > hi || hi > len(l.doc)-l.payloads() || kindOf(card, hi-lo) == badKind {
			return fmt.Errorf("%w: container %d of %d of a list", ErrCorrupt, i, l.count)
		}
		last = int(key)
		l.rows += uint32(card)
		if l.rows > math.MaxInt32 {
			return fmt.Errorf("%w: list of too many rows", ErrCorrupt)
		}
	}
	return nil
}

func (l *List) checkParts(freq, pos []byte) error {
	rows := int(l.rows)
	switch {
	case l.ones && len(freq) > 0:
		return fmt.Errorf("%w: list with needless frequencies", ErrCorrupt)
	case freq != nil && !l.ones && (len(freq) < FreqBytes(rows) || (len(freq)-FreqBytes(rows))%escapeSize != 0):
		return fmt.Errorf("%w: %d rows with %d bytes of frequencies", ErrCorrupt, rows, len(freq))
	case pos != nil && freq == nil && !l.ones:
		return fmt.Errorf("%w: positions without frequencies in a list of more occurrences than rows", ErrCorrupt)
	case pos != nil && len(pos) < indexSize(l.rows):
		return fmt.Errorf("%w: %d rows with %d bytes of positions", ErrCorrupt, rows, len(pos))
	}
	return nil
}

// Len is the number of rows.
func (l List) Len() int { return int(l.rows) }

// Total is the number of occurrences: the sum of the frequencies.
func (l List) Total() uint64 { return l.total }

// Containers is the number of containers.
func (l List) Containers() int { return int(l.count) }

// Container returns the i-th container; they ascend by key.
func (l List) Container(i int) Container { return l.container(i) }

func (l *List) container(i int) Container {
	if l.shape != 0 {
		return l.tinyContainer(i)
	}
	key, card := l.head(i)
	rank, lo, hi := l.span(i)
	return Container{
		body: l.body,
		data: l.doc[l.payloads():][lo:hi],
		base: uint32(rank),
		card: int32(card),
		key:  key,
		kind: kindOf(card, hi-lo),
	}
}

// Key is the key of the i-th container, cheaper than making the container.
func (l List) Key(i int) uint16 { return l.keyAt(i) }

func (l *List) keyAt(i int) uint16 {
	if l.shape != 0 {
		return l.keys[i]
	}
	return binary.LittleEndian.Uint16(l.doc[headSize*i:])
}

// Seek returns the first container whose key is at or after key, or Containers.
func (l List) Seek(key uint16) int { return l.seek(key) }

func (l *List) seek(key uint16) int {
	lo, hi := 0, int(l.count)
	for lo < hi {
		if m := int(uint(lo+hi) >> 1); l.keyAt(m) < key {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// Find returns the container of the given key, if there is one.
func (l List) Find(key uint16) (Container, bool) {
	i := l.seek(key)
	if i == int(l.count) || l.keyAt(i) != key {
		return Container{}, false
	}
	return l.container(i), true
}

// AddTo adds the rows to b. Rows beyond its length are left out.
func (l List) AddTo(b *Bits) {
	for i := range int(l.count) {
		w := b.Window(l.keyAt(i))
		if len(w) == 0 {
			break
		}
		c := l.container(i)
		c.or(w)
	}
	b.trim()
}

// All yields the rows in ascending order with their frequencies (zero if the list
// was opened without) until yield returns false.
func (l List) All(yield func(row Ord, freq uint32) bool) {
	for c := l.Cursor(); c.Next(); {
		if !yield(c.Row(), c.Freq()) {
			return
		}
	}
}

// payloads is where the payloads begin in doc.
func (l *List) payloads() int { return headSize*int(l.count) + startSize*(int(l.count)-1) }

// head returns the key and the number of rows of the i-th container.
func (l *List) head(i int) (key uint16, card int) {
	h := l.doc[headSize*i:][:headSize]
	return binary.LittleEndian.Uint16(h), int(binary.LittleEndian.Uint16(h[2:])) + 1
}

// span returns the rank of the first row of the i-th container and the part of
// the payloads that is its own.
func (l *List) span(i int) (rank, lo, hi int) {
	starts := l.doc[headSize*int(l.count) : l.payloads()]
	if i > 0 {
		s := starts[startSize*(i-1):][:startSize]
		rank, lo = int(binary.LittleEndian.Uint32(s)), int(binary.LittleEndian.Uint32(s[4:]))
	}
	if i == int(l.count)-1 {
		return rank, lo, len(l.doc) - l.payloads()
	}
	return rank, lo, int(binary.LittleEndian.Uint32(starts[startSize*i+4:]))
}
