package postings

import (
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/RoaringBitmap/roaring/v2"
)

// A Set is an immutable set of rows: the rows of a keyword value, the dead rows,
// the inherited rows. The zero value is empty. Sets share memory freely.
type Set struct{ bitmap *roaring.Bitmap }

// smallSet is the greatest number of rows that a stored set spells as a list of
// gaps. A roaring bitmap costs at least 18 bytes, a gap one to three, and most
// keyword values are held by a handful of rows.
const smallSet = 16

// roaringSet is the first byte of a stored set that is a roaring bitmap; a lower
// first byte is the number of rows of a small one.
const roaringSet = smallSet + 1

// NewSet returns the set of the given rows, in any order; ascending is fastest.
// It keeps no reference to them.
func NewSet(sorted []uint32) Set {
	if len(sorted) == 0 {
		return Set{}
	}
	b := roaring.New()
	b.AddMany(sorted)
	b.RunOptimize()
	return Set{b}
}

// SetOf returns the rows of b as a set. It keeps no reference to b.
func SetOf(b *Bits) Set {
	if !b.Any() {
		return Set{}
	}
	m := roaring.FromDense(b.words, true)
	m.RunOptimize()
	return Set{m}
}

// Len is the number of rows in the set.
func (s Set) Len() int {
	if s.bitmap == nil {
		return 0
	}
	return int(s.bitmap.GetCardinality())
}

// IsEmpty reports whether the set has no rows.
func (s Set) IsEmpty() bool { return s.bitmap == nil || s.bitmap.IsEmpty() }

// Contains reports whether row o is in the set.
func (s Set) Contains(o Ord) bool { return s.bitmap != nil && s.bitmap.Contains(uint32(o)) }

// Equal reports whether both sets hold the same rows.
func (s Set) Equal(t Set) bool {
	if s.IsEmpty() || t.IsEmpty() {
		return s.IsEmpty() == t.IsEmpty()
	}
	return s.bitmap.Equals(t.bitmap)
}

// All yields the rows in ascending order.
func (s Set) All() iter.Seq[Ord] {
	return func(yield func(Ord) bool) {
		if s.bitmap == nil {
			return
		}
		s.bitmap.Iterate(func(x uint32) bool { return yield(Ord(x)) })
	}
}

// AddTo adds the rows to b. Rows beyond its length are left out.
func (s Set) AddTo(b *Bits) {
	if s.bitmap == nil {
		return
	}
	var buf [256]uint32
	it := s.bitmap.ManyIterator()
	for n := it.NextMany(buf[:]); n > 0; n = it.NextMany(buf[:]) {
		for _, x := range buf[:n] {
			if uint(x) >= uint(b.n) {
				return
			}
			b.Add(Ord(x))
		}
	}
}

// And returns the rows that are in both sets.
func (s Set) And(t Set) Set {
	if s.IsEmpty() || t.IsEmpty() {
		return Set{}
	}
	return Set{roaring.And(s.bitmap, t.bitmap)}
}

// Or returns the rows that are in either set.
func (s Set) Or(t Set) Set {
	if s.IsEmpty() {
		return t
	}
	if t.IsEmpty() {
		return s
	}
	return Set{roaring.Or(s.bitmap, t.bitmap)}
}

// AndNot returns the rows of s that are not in t.
func (s Set) AndNot(t Set) Set {
	if s.IsEmpty() || t.IsEmpty() {
		return s
	}
	return Set{roaring.AndNot(s.bitmap, t.bitmap)}
}

// AppendBinary appends the stored form of the set: for at most 16 rows their
// number and the gaps between them as uvarints, else the byte 17 and the roaring
// portable format.
func (s Set) AppendBinary(dst []byte) ([]byte, error) {
	n := s.Len()
	if n > smallSet {
		dst = append(dst, roaringSet)
		m := s.bitmap
		if !m.HasRunCompression() {
			m = m.Clone()
			m.RunOptimize()
		}
		b, err := m.MarshalBinary()
		if err != nil {
			return nil, fmt.Errorf("set: %w", err)
		}
		return append(dst, b...), nil
	}
	dst = append(dst, byte(n))
	next := Ord(0)
	for o := range s.All() {
		dst = binary.AppendUvarint(dst, uint64(o-next))
		next = o + 1
	}
	return dst, nil
}

// ReadSet reads what [Set.AppendBinary] wrote, which is all of b. The set is a
// view: b must stay as it is while the set is in use.
func ReadSet(b []byte) (Set, error) {
	if len(b) == 0 {
		return Set{}, fmt.Errorf("%w: set without bytes", ErrCorrupt)
	}
	if b[0] <= smallSet {
		return readSmallSet(int(b[0]), b[1:])
	}
	if b[0] != roaringSet {
		return Set{}, fmt.Errorf("%w: set of unknown form %d", ErrCorrupt, b[0])
	}
	return readRoaringSet(b[1:])
}

// AddSet adds the rows of a stored set to dst, as [ReadSet] and [Set.AddTo] do,
// and makes no set of a small one: a query over a keyword column reads hundreds.
func AddSet(dst *Bits, b []byte) error {
	if len(b) == 0 || b[0] > smallSet {
		s, err := ReadSet(b)
		if err != nil {
			return err
		}
		s.AddTo(dst)
		return nil
	}
	var rows [smallSet]uint32
	n := int(b[0])
	if err := readGaps(rows[:n], b[1:]); err != nil {
		return err
	}
	for _, x := range rows[:n] {
		if uint(x) < uint(dst.n) {
			dst.Add(Ord(x))
		}
	}
	return nil
}

func readSmallSet(n int, b []byte) (Set, error) {
	var rows [smallSet]uint32
	if err := readGaps(rows[:n], b); err != nil {
		return Set{}, err
	}
	return NewSet(rows[:n]), nil
}

// readGaps reads the rows of a small set, which is all of b.
func readGaps(rows []uint32, b []byte) error {
	next := uint64(0)
	for i := range rows {
		gap, w := binary.Uvarint(b)
		if w <= 0 || gap > 1<<32 || next+gap >= 1<<32 {
			return fmt.Errorf("%w: row %d of %d of a set", ErrCorrupt, i, len(rows))
		}
		rows[i] = uint32(next + gap)
		next += gap + 1
		b = b[w:]
	}
	if len(b) > 0 {
		return fmt.Errorf("%w: %d bytes after a set", ErrCorrupt, len(b))
	}
	return nil
}

func readRoaringSet(b []byte) (Set, error) {
	m := roaring.New()
	n, err := m.FromBuffer(b)
	if err != nil {
		return Set{}, fmt.Errorf("%w: set: %w", ErrCorrupt, err)
	}
	if n != int64(len(b)) {
		return Set{}, fmt.Errorf("%w: %d bytes after a set", ErrCorrupt, int64(len(b))-n)
	}
	if err := m.Validate(); err != nil {
		return Set{}, fmt.Errorf("%w: set: %w", ErrCorrupt, err)
	}
	return Set{m}, nil
}
