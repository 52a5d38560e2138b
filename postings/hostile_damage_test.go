package postings

import (
	"encoding/binary"
	"errors"
	"flag"
	"math/rand/v2"
	"runtime/metrics"
	"testing"
)

var long = flag.Bool("long", false, "ten million hostile lists instead of some thousands")

// dangers are numbers that decoders trip over.
var dangers = []uint64{0, 1, 1 << 7, 1<<15 - 1, 1 << 16, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1 << 62, 1<<63 - 1, 1 << 63, 1<<64 - 1}

// endanger writes one to three dangerous numbers into a copy of b, or cuts it.
func endanger(r *rand.Rand, b []byte) []byte {
	b = append([]byte(nil), b...)
	for range 1 + r.IntN(3) {
		if len(b) == 0 {
			return b
		}
		at := r.IntN(len(b))
		if r.IntN(2) == 0 {
			at = r.IntN(min(len(b), 16)) // heads are where lengths are
		}
		v := dangers[r.IntN(len(dangers))] + uint64(r.IntN(3)) - 1
		switch r.IntN(6) {
		case 0:
			copy(b[at:], binary.LittleEndian.AppendUint32(nil, uint32(v)))
		case 1:
			copy(b[at:], binary.LittleEndian.AppendUint64(nil, v))
		case 2:
			copy(b[at:], binary.AppendUvarint(nil, v))
		case 3:
			copy(b[at:], binary.LittleEndian.AppendUint16(nil, uint16(v)))
		case 4:
			b[at] = byte(r.Uint32())
		default:
			b = b[:at]
		}
	}
	return b
}

func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// TestHostileLists gives every decoder encodings with dangerous numbers in them: errors
// of the corrupt kind or lists that can be walked, no panic, and no more memory than
// four times the input and a megabyte.
func TestHostileLists(t *testing.T) {
	r := random(t)
	runs := 3000
	if *long {
		runs = 10_000_000
	}
	var lists []Encoded
	for _, name := range []string{"four", "four in four", "65 rows", "array bitmap run", "run over an edge", "bitmap at its least", "dense"} {
		e := build(new(ListBuilder), withRows(r, shapesOfRows(r)[name]))
		lists = append(lists, Encoded{Doc: append([]byte(nil), e.Doc...), Freq: append([]byte(nil), e.Freq...), Pos: append([]byte(nil), e.Pos...),
			Bounds: append([]byte(nil), e.Bounds...), Tiny: append([]byte(nil), e.Tiny...)})
	}
	for _, rows := range [][]Ord{{1}, {1, 65536}, {1, 2, 65536}, {1, 65536, 1 << 20}} {
		lists = append(lists, Encoded{Tiny: append([]byte(nil), build(new(ListBuilder), withRows(r, rows)).Tiny...)})
	}
	every := make([]uint32, 5000)
	for i := range every {
		every[i] = uint32(3 * i)
	}
	var sets [][]byte
	for _, n := range []int{0, 1, 16, 17, 5000} {
		b, err := NewSet(every[:n]).AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		sets = append(sets, b)
	}
	opened, most := 0, uint64(0)
	bits := NewBits(1 << 16)
	for i := range runs {
		e := lists[i%len(lists)]
		size, err := 0, error(nil)
		var before uint64
		var l List
		switch {
		case i%5 == 0:
			b := endanger(r, sets[r.IntN(len(sets))])
			size = len(b)
			before = allocated()
			if _, err = ReadSet(b); err == nil {
				opened++
			}
			if err2 := AddSet(bits, b); err == nil {
				err = err2
			}
		case e.Tiny != nil && len(e.Doc) == 0:
			b := endanger(r, e.Tiny)
			size = len(b)
			before = allocated()
			if l, err = OpenTiny(b); err == nil {
				opened++
			}
		default:
			doc, freq, pos, bounds := e.Doc, e.Freq, e.Pos, e.Bounds
			switch r.IntN(4) {
			case 0:
				doc = endanger(r, doc)
			case 1:
				freq = endanger(r, freq)
			case 2:
				pos = endanger(r, pos)
			default:
				bounds = endanger(r, bounds)
			}
			if len(freq) == 0 && len(e.Freq) > 0 {
				freq = e.Freq[:1] // none at all is how a caller says that he wants none
			}
			size = len(doc) + len(freq) + len(pos) + len(bounds)
			before = allocated()
			if l, err = OpenList(doc, freq, pos); err == nil {
				opened++
				if b, err := OpenBounds(bounds, l); err == nil {
					for c := range l.Containers() {
						b.At(c, r.IntN(64))
					}
				}
			}
		}
		n := allocated() - before
		if err == nil && l.Len() > 0 && (l.Len() < 1000 || i%64 == 0) {
			exercise(t, l) // takes memory of its own
		}
		most = max(most, n)
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatalf("run %d: %v is not of the corrupt kind", i, err)
		}
		if n > 4*uint64(size)+1<<20 {
			t.Fatalf("run %d: %d bytes allocated for %d", i, n, size)
		}
	}
	t.Logf("%d encodings, %d opened, at most %d bytes allocated", runs, opened, most)
}
