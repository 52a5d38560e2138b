package store

import (
	"errors"
	"math"

	"github.com/hansard-search/hansard/engine/archive"
)

// The coding of values. Numbers are uvarints, signed ones folded so that small ones
// stay short; strings and lists begin with their length. Every value has one
// spelling, and the decoder refuses all others: what decodes encodes to the same
// bytes.

var (
	errShort   = errors.New("ends too early")
	errLength  = errors.New("length is more than what is left")
	errSpell   = errors.New("number or flag is not in its one spelling")
	errExcess  = errors.New("has bytes after its end")
	errVersion = errors.New("has an unknown version")
)

// An encoder appends values.
type encoder struct{ b []byte }

func (e *encoder) byte(v byte) { e.b = append(e.b, v) }

func (e *encoder) uint(v uint64) {
	for v >= 0x80 {
		e.b = append(e.b, byte(v)|0x80)
		v >>= 7
	}
	e.b = append(e.b, byte(v))
}

func fold(v int64) uint64   { return uint64(v)<<1 ^ uint64(v>>63) }
func unfold(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

func (e *encoder) int(v int64) { e.uint(fold(v)) }

// time writes an unknown time as one byte: NoTime folds to the largest number.
func (e *encoder) time(v int64) { e.uint(fold(v) + 1) }

func (e *encoder) str(s string) {
	e.uint(uint64(len(s)))
	e.b = append(e.b, s...)
}

func (e *encoder) strs(list []string) {
	e.uint(uint64(len(list)))
	for _, s := range list {
		e.str(s)
	}
}

func (e *encoder) bool(v bool) {
	if v {
		e.b = append(e.b, 1)
	} else {
		e.b = append(e.b, 0)
	}
}

func (e *encoder) float(v float64) {
	e.b = be64(e.b, math.Float64bits(v))
}

func (e *encoder) maybe(v archive.Int) {
	e.bool(v.Known)
	if v.Known {
		e.int(v.Value)
	}
}

func (e *encoder) tri(v archive.Tri) { e.byte(byte(v)) }

func (e *encoder) raw(b []byte) { e.b = append(e.b, b...) }

// A decoder reads values from a string, so that the strings it gives are parts of
// it. The first error sticks; what is read after it is zero.
type decoder struct {
	s   string
	err error
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
		d.s = ""
	}
}

// end is the error of the whole; bytes that are left are one.
func (d *decoder) end() error {
	if d.err == nil && d.s != "" {
		d.fail(errExcess)
	}
	return d.err
}

func (d *decoder) byte() byte {
	if d.s == "" {
		d.fail(errShort)
		return 0
	}
	b := d.s[0]
	d.s = d.s[1:]
	return b
}

func (d *decoder) uint() uint64 {
	v, n := uvarint(d.s)
	if n <= 0 {
		if n == 0 {
			d.fail(errShort)
		} else {
			d.fail(errSpell)
		}
		return 0
	}
	d.s = d.s[n:]
	return v
}

// uvarint reads a number: n is its length, 0 if s ends too early, -1 if it is longer
// than needed or than 64 bits.
func uvarint[S ~string | ~[]byte](s S) (v uint64, n int) {
	for i := 0; i < len(s); i++ {
		b := s[i]
		if i == 9 && b > 1 {
			return 0, -1
		}
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			if b == 0 && i > 0 {
				return 0, -1
			}
			return v, i + 1
		}
	}
	return 0, 0
}

func (d *decoder) int() int64  { return unfold(d.uint()) }
func (d *decoder) time() int64 { return unfold(d.uint() - 1) }

// intn reads a number that must fit an int.
func (d *decoder) intn() int {
	v := d.int()
	if int64(int(v)) != v {
		d.fail(errLength)
		return 0
	}
	return int(v)
}

func (d *decoder) str() string {
	n := d.uint()
	if n > uint64(len(d.s)) {
		d.fail(errLength)
		return ""
	}
	s := d.s[:n]
	d.s = d.s[n:]
	return s
}

// count reads the length of a list whose elements take at least size bytes each.
func (d *decoder) count(size int) int {
	n := d.uint()
	if n > uint64(len(d.s)/size) {
		d.fail(errLength)
		return 0
	}
	return int(n)
}

func (d *decoder) strs() []string {
	n := d.count(1)
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = d.str()
	}
	return list
}

func (d *decoder) bool() bool {
	b := d.byte()
	if b > 1 {
		d.fail(errSpell)
	}
	return b == 1
}

func (d *decoder) float() float64 {
	return math.Float64frombits(get64([]byte(d.take(8))))
}

// take reads n bytes; it gives n zero bytes after an error.
func (d *decoder) take(n int) string {
	if len(d.s) < n {
		d.fail(errShort)
		return string(make([]byte, n))
	}
	s := d.s[:n]
	d.s = d.s[n:]
	return s
}

func (d *decoder) maybe() archive.Int {
	if !d.bool() {
		return archive.Int{}
	}
	return archive.IntOf(d.int())
}

func (d *decoder) tri() archive.Tri {
	b := d.byte()
	if b > byte(archive.True) {
		d.fail(errSpell)
		return 0
	}
	return archive.Tri(b)
}

func (d *decoder) hash() [32]byte { return [32]byte([]byte(d.take(32))) }
