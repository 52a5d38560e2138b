package postings

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// MaxOccurrences is the most occurrences that a list can hold: with five bytes
// for each position, offsets into the positions still fit 32 bits. Whoever makes
// segments keeps them below it.
const MaxOccurrences = math.MaxUint32 / 5

// Encoded is the stored form of a list: one string of bytes if it is tiny, else
// four parts, which go to sections of their own. It is valid until the builder is
// reset.
type Encoded struct {
	Rows  int
	Total uint64 // occurrences, the sum of the frequencies

	Tiny []byte // the whole list, for OpenTiny; then the parts are nil

	Doc    []byte // rows, for OpenList
	Freq   []byte // frequencies; empty if all are 1
	Pos    []byte // positions
	Bounds []byte // score bounds, for OpenBounds; empty for a short list
}

// A ListBuilder makes the posting list of one term, row by row. The zero value is
// ready; [ListBuilder.Reset] begins the next list and reuses the memory.
type ListBuilder struct {
	rows  uint32
	total uint64

	keys     []byte // heads of the finished containers
	starts   []byte // starts of all containers
	payloads []byte
	lows     []uint16 // rows of the current container
	key      uint16

	freqs   []byte
	escapes []byte
	index   []byte
	gaps    []byte
	bounds  boundsBuilder

	doc []byte // the joined parts of Finish
}

// Reset forgets the list and keeps the memory.
func (b *ListBuilder) Reset() {
	b.rows, b.total, b.key = 0, 0, 0
	b.keys, b.starts, b.payloads, b.lows = b.keys[:0], b.starts[:0], b.payloads[:0], b.lows[:0]
	b.freqs, b.escapes, b.index, b.gaps = b.freqs[:0], b.escapes[:0], b.index[:0], b.gaps[:0]
	b.bounds.reset()
}

// Add appends a row of length tokens that holds the term at the given positions.
// Rows ascend strictly, positions ascend; there is at least one position.
func (b *ListBuilder) Add(row Ord, length uint32, positions []uint32) {
	b.add(row, length, uint32(len(positions)))
	b.gaps = AppendGaps(b.gaps, positions)
}

// AddEncoded is Add with freq positions in their stored form, as they come from
// [Cursor.Encoded] or [AppendGaps].
func (b *ListBuilder) AddEncoded(row Ord, length, freq uint32, gaps []byte) {
	b.add(row, length, freq)
	if len(gaps) == 1 { // most often
		b.gaps = append(b.gaps, gaps[0])
		return
	}
	b.gaps = append(b.gaps, gaps...)
}

func (b *ListBuilder) add(row Ord, length, freq uint32) {
	if key := uint16(row >> 16); key != b.key {
		b.flush()
		b.key = key
	}
	b.lows = append(b.lows, uint16(row))
	if b.rows > 0 && b.rows%indexStride == 0 {
		b.index = binary.LittleEndian.AppendUint32(b.index, uint32(len(b.gaps)))
	}
	f := byte(min(freq, escapeFreq))
	if b.rows&1 == 0 {
		b.freqs = append(b.freqs, f)
	} else {
		b.freqs[len(b.freqs)-1] |= f << 4
	}
	if f == escapeFreq {
		b.escapes = binary.LittleEndian.AppendUint32(b.escapes, b.rows)
		b.escapes = binary.LittleEndian.AppendUint32(b.escapes, freq)
	}
	b.bounds.add(row, length, freq)
	b.rows++
	b.total += uint64(freq)
}

// flush ends the current container.
func (b *ListBuilder) flush() {
	n := len(b.lows)
	if n == 0 {
		return
	}
	if len(b.keys) > 0 {
		b.starts = binary.LittleEndian.AppendUint32(b.starts, b.rows-uint32(n))
		b.starts = binary.LittleEndian.AppendUint32(b.starts, uint32(len(b.payloads)))
	}
	b.keys = binary.LittleEndian.AppendUint16(b.keys, b.key)
	b.keys = binary.LittleEndian.AppendUint16(b.keys, uint16(n-1))
	b.payloads = appendContainer(b.payloads, b.lows)
	b.lows = b.lows[:0]
}

// Finish returns the stored form of the rows added since Reset, which must come
// before the next list. A list without rows has no stored form: Rows is zero and
// all parts are nil.
func (b *ListBuilder) Finish() Encoded {
	if b.total > MaxOccurrences {
		panic("postings: more occurrences in a list than a segment may hold")
	}
	b.flush()
	e := Encoded{Rows: int(b.rows), Total: b.total}
	if b.rows == 0 {
		return e
	}
	if e.Tiny = b.tiny(); e.Tiny != nil {
		return e
	}
	b.doc = binary.AppendUvarint(b.doc[:0], uint64(len(b.keys)/headSize))
	b.doc = binary.AppendUvarint(b.doc, b.total-uint64(b.rows))
	b.doc = append(b.doc, b.keys...)
	b.doc = append(b.doc, b.starts...)
	b.doc = append(b.doc, b.payloads...)
	d := len(b.doc)
	b.index = append(b.index, b.gaps...)
	e.Doc, e.Pos = b.doc, b.index
	if b.total != uint64(b.rows) {
		b.freqs = append(b.freqs, b.escapes...)
		e.Freq = b.freqs
	}
	if b.rows >= BoundsRows {
		b.doc = b.bounds.appendTo(b.doc)
		e.Doc, e.Bounds = b.doc[:d], b.doc[d:]
	}
	return e
}

// tiny returns the list as a tiny one, or nil if it is not.
func (b *ListBuilder) tiny() []byte {
	n := int(b.rows)
	if n > TinyRows || len(b.gaps) > TinySize || len(b.escapes) > 0 {
		return nil
	}
	var shape [TinyRows]uint8
	for i := 0; i < len(b.keys); i += headSize {
		shape[i/headSize] = b.keys[i+2] + 1
	}
	head := byte(0)
	for i, s := range shapes {
		if s == shape {
			head = byte(i)
		}
	}
	ones := b.total == uint64(b.rows)
	if !ones {
		head |= tinyFreqs
	}
	width := 1
	switch last := b.keys[len(b.keys)-headSize:]; {
	case last[1] != 0:
		width = 2
	case last[0] == 0:
		width = 0
	}
	t := append(b.doc[:0], head|byte(width<<tinyWidth))
	for i := 0; i < len(b.keys); i += headSize {
		t = append(t, b.keys[i:i+width]...)
	}
	t = append(t, b.payloads...)
	if !ones {
		t = append(t, b.freqs...)
	}
	t = append(t, b.gaps...)
	b.doc = t
	if len(t) > TinySize {
		return nil
	}
	return t
}

// appendContainer appends the smallest payload for the ascending lows.
func appendContainer(dst []byte, lows []uint16) []byte {
	runs := 1
	for i := 1; i < len(lows); i++ {
		if lows[i] != lows[i-1]+1 {
			runs++
		}
	}
	plain := 2 * len(lows)
	if len(lows) > arrayMax {
		plain = bitmapSize + ranksSize
	}
	switch {
	case 2+4*runs < plain:
		return appendRunPayload(dst, lows, runs)
	case len(lows) > arrayMax:
		return appendBitmapPayload(dst, lows)
	}
	for _, x := range lows {
		dst = binary.LittleEndian.AppendUint16(dst, x)
	}
	return dst
}

func appendRunPayload(dst []byte, lows []uint16, runs int) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, uint16(runs))
	for i := 0; i < len(lows); {
		j := i + 1
		for j < len(lows) && lows[j] == lows[j-1]+1 {
			j++
		}
		dst = binary.LittleEndian.AppendUint16(dst, lows[i])
		dst = binary.LittleEndian.AppendUint16(dst, uint16(j-i-1))
		i = j
	}
	return dst
}

func appendBitmapPayload(dst []byte, lows []uint16) []byte {
	var words [windowWords]uint64
	for _, x := range lows {
		words[x>>6] |= 1 << (x & 63)
	}
	for _, w := range words {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return appendRanks(dst, &words)
}

// appendRanks appends the rank directory of a bitmap. The number of rows before
// the last 512 bits is at most 65,024, so that it fits.
func appendRanks(dst []byte, words *[windowWords]uint64) []byte {
	n := 0
	for i, w := range words {
		if i%rankWords == 0 {
			dst = binary.LittleEndian.AppendUint16(dst, uint16(n))
		}
		n += bits.OnesCount64(w)
	}
	return dst
}
