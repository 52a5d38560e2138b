package segments

// occur appends an occurrence to a record.
func (v *inverter) occur(r *termRecord, row, pos uint32) {
	x := uint64(pos-r.pos) << 1
	if r.row != row {
		x = uint64(row-r.row)<<1 | 1
		r.row = row
		if x < 0x80 && pos < 0x80 && r.left >= 2 { // most often
			b := v.pool.chunks[r.at/poolChunk][r.at%poolChunk:]
			b[0], b[1] = byte(x), byte(pos)
			r.at, r.left, r.pos = r.at+2, r.left-2, pos
			return
		}
		v.put(r, x)
		x = uint64(pos)
	}
	v.put(r, x)
	r.pos = pos
}

// put appends a uvarint to the occurrences of a record.
func (v *inverter) put(r *termRecord, x uint64) {
	if r.left >= 4 && x < 1<<28 {
		b := v.pool.chunks[r.at/poolChunk][r.at%poolChunk:]
		n := uint16(0)
		for ; x >= 0x80; x >>= 7 {
			b[n] = byte(x) | 0x80
			n++
		}
		b[n] = byte(x)
		r.at, r.left = r.at+uint32(n)+1, r.left-n-1
		return
	}
	for ; x >= 0x80; x >>= 7 {
		v.putByte(r, byte(x)|0x80)
	}
	v.putByte(r, byte(x))
}

func (v *inverter) putByte(r *termRecord, b byte) {
	if r.left == 0 {
		if r.inline < recordInline {
			r.first[r.inline] = b
			r.inline++
			return
		}
		v.pool.extend(r)
	}
	v.pool.chunks[r.at/poolChunk][r.at%poolChunk] = b
	r.at++
	r.left--
}

// appendTerm appends the bytes of a term.
func (v *inverter) appendTerm(dst []byte, r *termRecord) []byte {
	var b [keyBytes]byte
	le.PutUint64(b[:], r.key[0])
	le.PutUint64(b[8:], r.key[1])
	dst = append(dst, b[:min(r.size, keyBytes)]...)
	if r.size > keyBytes {
		dst = append(dst, v.rest[r.rest:][:r.size-keyBytes]...)
	}
	return dst
}

// appendOccurrences appends the uvarints of a record.
func (v *inverter) appendOccurrences(dst []byte, r *termRecord) []byte {
	dst = append(dst, r.first[:r.inline]...)
	if r.class == 0 {
		return dst
	}
	at := r.head
	for class := uint8(0); ; class = min(class+1, sliceClasses-1) {
		s := v.pool.slice(at, class)
		data := len(s) - linkBytes
		if n := r.at - at; int(n) <= data { // slices do not overlap: the last one
			return append(dst, s[:n]...)
		}
		dst = append(dst, s[:data]...)
		at = le.Uint32(s[data:])
	}
}

// A slicePool hands out slices of bytes. A list has slices of growing classes; the
// last bytes of each say where the next one is. A slice lies within
// one chunk of memory.
type slicePool struct {
	chunks [][]byte
	end    int // of what is handed out
}

const (
	poolChunk    = 1 << 16
	linkBytes    = 4
	sliceClasses = 8 // 32 bytes to 4 KiB
)

func sliceShift(class uint8) uint8 { return 5 + class }

func (p *slicePool) reset()     { p.end = 0 }
func (p *slicePool) bytes() int { return p.end }

func (p *slicePool) slice(at uint32, class uint8) []byte {
	return p.chunks[at/poolChunk][at%poolChunk:][:1<<sliceShift(class)]
}

// extend gives the list of r another slice.
func (p *slicePool) extend(r *termRecord) {
	class := min(r.class, sliceClasses-1)
	size := 1 << sliceShift(class)
	if p.end%poolChunk+size > poolChunk {
		p.end += poolChunk - p.end%poolChunk
	}
	for p.end >= len(p.chunks)*poolChunk {
		p.chunks = append(p.chunks, make([]byte, poolChunk))
	}
	at := uint32(p.end)
	p.end += size
	if r.class == 0 {
		r.head = at
	} else {
		le.PutUint32(p.chunks[r.at/poolChunk][r.at%poolChunk:], at)
	}
	r.at, r.left = at, uint16(size-linkBytes)
	r.class = min(r.class+1, sliceClasses)
}
