package segments

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/hansard-search/hansard/postings"
)

// A keywordEncoder lays out a keyword column: first its values in byte order with
// their rows, then the rows with their values.
type keywordEncoder struct {
	name    string
	rows    int
	offsets []uint32
	values  spool
	heads   spool
	sets    spool
	seen    *postings.Bits // rows with a value
	multi   bool           // a row has two values
	buf     []byte
	err     error
}

func newKeywordEncoder(s *scratch, name string, rows int) *keywordEncoder {
	return &keywordEncoder{
		name: name, rows: rows, offsets: []uint32{0}, seen: postings.NewBits(rows),
		values: spool{scratch: s}, heads: spool{scratch: s}, sets: spool{scratch: s},
	}
}

// add appends a value with its rows, ascending and at least one.
func (e *keywordEncoder) add(value []byte, rows []uint32) {
	e.values.put(value)
	if e.values.size > math.MaxUint32 {
		e.err = fmt.Errorf("%w: column %s: %d bytes of values", ErrLimit, e.name, e.values.size)
	}
	e.offsets = append(e.offsets, uint32(e.values.size))
	where := rows[0]
	if len(rows) > 1 {
		if e.sets.size > math.MaxUint32 {
			e.err = fmt.Errorf("segments: column %s: too many rows", e.name)
		}
		where = uint32(e.sets.size)
		b, err := postings.NewSet(rows).AppendBinary(e.buf[:0])
		if err != nil {
			e.err = fmt.Errorf("segments: column %s: %w", e.name, err)
		}
		e.buf = b
		e.sets.put(binary.AppendUvarint(nil, uint64(len(b))))
		e.sets.put(b)
	}
	var head [8]byte
	le.PutUint32(head[:], uint32(len(rows)))
	le.PutUint32(head[4:], where)
	e.heads.put(head[:])
	for _, r := range rows {
		e.multi = e.multi || e.seen.Has(postings.Ord(r))
		e.seen.Add(postings.Ord(r))
	}
}

// finish writes the sections. of appends the indexes of a row's values, ascending
// and distinct; it is called for every row once, in order.
func (e *keywordEncoder) finish(dst *sink, of func(dst []uint32, row uint32) ([]uint32, error)) error {
	dst.begin(tagValues, e.name)
	dst.putU64s([]uint64{uint64(len(e.offsets) - 1)})
	dst.putU32s(e.offsets)
	errs := []error{e.err, e.values.copyTo(dst)}
	dst.end()
	dst.begin(tagSets, e.name)
	errs = append(errs, e.heads.copyTo(dst), e.sets.copyTo(dst))
	dst.end()
	dst.begin(tagForward, e.name)
	if e.multi {
		errs = append(errs, e.forwardMulti(dst, of))
	} else {
		errs = append(errs, e.forwardSingle(dst, of))
	}
	dst.end()
	return errors.Join(errs...)
}

func (e *keywordEncoder) forwardSingle(dst *sink, of func([]uint32, uint32) ([]uint32, error)) error {
	w := width(uint64(len(e.offsets) - 1))
	dst.put([]byte{forwardSingle, byte(w), 0, 0, 0, 0, 0, 0})
	var ids []uint32
	var err error
	for row := range e.rows {
		if ids, err = of(ids[:0], uint32(row)); err != nil {
			return err
		}
		v := uint64(0)
		if len(ids) > 0 {
			v = uint64(ids[0]) + 1
		}
		e.buf = appendPacked(e.buf[:0], v, w)
		dst.put(e.buf)
	}
	return nil
}

func (e *keywordEncoder) forwardMulti(dst *sink, of func([]uint32, uint32) ([]uint32, error)) error {
	w := width(uint64(len(e.offsets) - 2))
	dst.put([]byte{forwardMulti, byte(w), 0, 0, 0, 0, 0, 0})
	var ids []uint32
	var err error
	total := uint64(0)
	offsets := []uint32{0}
	for row := range e.rows {
		if ids, err = of(ids[:0], uint32(row)); err != nil {
			return err
		}
		total += uint64(len(ids))
		if offsets = append(offsets, uint32(total)); len(offsets) == 1024 {
			dst.putU32s(offsets)
			offsets = offsets[:0]
		}
		e.buf = e.buf[:0]
		for _, id := range ids {
			e.buf = appendPacked(e.buf, uint64(id), w)
		}
		e.sets.put(e.buf) // free since the sets were written
	}
	dst.putU32s(offsets)
	if total > math.MaxUint32 {
		return fmt.Errorf("segments: column %s: too many values", e.name)
	}
	return e.sets.copyTo(dst)
}

func (e *keywordEncoder) close() error {
	return errors.Join(e.values.close(), e.heads.close(), e.sets.close())
}

// A numberSource yields the rows that have a number, ascending. It is called
// several times and yields the same.
type numberSource func(yield func(row uint32, v int64) bool)

// encodeNumbers writes a number column of the given rows.
func encodeNumbers(dst *sink, name string, rows int, src numberSource) {
	lo, hi, count := int64(math.MaxInt64), int64(math.MinInt64), uint64(0)
	present := postings.NewBits(rows)
	for row, v := range src {
		lo, hi = min(lo, v), max(hi, v)
		present.Add(postings.Ord(row))
		count++
	}
	if count == 0 {
		lo, hi = 0, 0
	}
	w := width(uint64(hi) - uint64(lo))
	var head [numberHead]byte
	head[0] = byte(w)
	if count < uint64(rows) {
		head[1] = flagSparse
	}
	le.PutUint64(head[8:], uint64(lo))
	le.PutUint64(head[16:], uint64(hi))
	le.PutUint64(head[24:], count)
	dst.begin(tagNumbers, name)
	defer dst.end()
	dst.put(head[:])
	if head[1] != 0 {
		dst.putU64s(present.Words())
	}
	var buf []byte
	next := uint32(0)
	for row, v := range src {
		for ; next < row; next++ {
			buf = appendPacked(buf, 0, w)
		}
		next++
		buf = appendPacked(buf, uint64(v)-uint64(lo), w)
		if len(buf) >= pageBytes {
			dst.put(buf)
			buf = buf[:0]
		}
	}
	for ; int(next) < rows; next++ {
		buf = appendPacked(buf, 0, w)
	}
	dst.put(buf)
}
