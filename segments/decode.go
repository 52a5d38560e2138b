package segments

import (
	"encoding/binary"
	"fmt"
)

// maxRows keeps ordinals and offsets of any unit in 32 bits with one to spare.
const maxRows = 1<<31 - 2

func versionError(file string, v uint32) error {
	return fmt.Errorf("segment %s: version %d, this program reads up to %d: %w", file, v, formatVersion, ErrVersion)
}

func appendString(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

// A decoder reads from the front of b. After the first fault bad is true and
// everything reads as zero.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) uvarint() uint64 {
	if len(d.b) > 0 && d.b[0] < 0x80 {
		v := d.b[0]
		d.b = d.b[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

// take returns the next n bytes, or n zero bytes of at most 16 after a fault.
func (d *decoder) take(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.bad, d.b = true, nil
		return make([]byte, min(max(n, 0), 16))
	}
	v := d.b[:n:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) u32() uint32 { return le.Uint32(d.take(4)) }

// str reads a name of at most maxName bytes.
func (d *decoder) str() string {
	n := d.uvarint()
	if n > maxName {
		d.bad, d.b = true, nil
		return ""
	}
	return string(d.take(int(n)))
}
