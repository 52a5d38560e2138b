package segments

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"testing"

	"github.com/hansard-search/hansard/postings"
)

// A hostile file is a sound one with some numbers replaced by dangerous ones, and with
// all checksums right: the decoders meet what no checksum guards.
type hostile struct {
	base     []byte
	f        *file
	sections []section
	table    int // where the section table begins
	terms    [][]byte
}

func newHostile(t testing.TB, model []mSession) *hostile {
	t.Helper()
	b := build(t, Options{Schema: testSchema, ID: testID}, model)
	s := open(t, b)
	tail, err := parseTrailer("base", b)
	if err != nil {
		t.Fatal(err)
	}
	return &hostile{base: b, f: s.file, sections: s.sections, table: int(tail.table), terms: sampleTerms(t, s)}
}

// dangers are numbers that decoders trip over.
var dangers = []uint64{0, 1, 1 << 7, 1<<15 - 1, 1 << 16, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1 << 62, 1<<63 - 1, 1 << 63, 1<<64 - 1}

// mutate writes one to three dangerous numbers into b, which is a copy of the base.
func (h *hostile) mutate(r *rand.Rand, b []byte) (what string) {
	for range 1 + r.IntN(3) {
		lo, hi := h.table, len(b)-trailerBytes // the table
		name := "table"
		if n := r.IntN(len(h.sections) + 2); n < len(h.sections) {
			s := &h.sections[n]
			lo, hi, name = int(s.off), int(s.off+s.size), s.String()
		} else if n == len(h.sections) {
			lo, hi, name = len(b)-trailerBytes, len(b)-trailerBytes+40, "footer"
		}
		if lo >= hi {
			continue
		}
		at := lo + r.IntN(hi-lo)
		if r.IntN(3) == 0 {
			at = lo + min(hi-lo-1, r.IntN(24)) // heads are where lengths are
		}
		v := dangers[r.IntN(len(dangers))] + uint64(r.IntN(3)) - 1
		var buf [10]byte
		n := 0
		switch r.IntN(5) {
		case 0:
			n = copy(buf[:], le.AppendUint32(nil, uint32(v)))
		case 1:
			n = copy(buf[:], le.AppendUint64(nil, v))
		case 2:
			n = binary.PutUvarint(buf[:], v)
		case 3:
			buf[0], n = byte(r.Uint32()), 1
		default:
			n = copy(buf[:], le.AppendUint16(nil, uint16(v)))
		}
		copy(b[at:hi], buf[:n])
		what += fmt.Sprintf("%s at %d: %x; ", name, at-lo, buf[:n])
	}
	h.seal(b)
	return what
}

// seal makes all checksums of b right, for sections that are where they were.
func (h *hostile) seal(b []byte) {
	pages := h.f.find(tagPage, "")
	for p := int64(0); p*pageBytes < pages.off; p++ {
		le.PutUint32(b[pages.off+4*p:], checksum(b[p*pageBytes:min((p+1)*pageBytes, pages.off)]))
	}
	// The checksum of a section is the last four bytes of its entry in the table.
	if analyzer, list, err := parseTable("x", b[h.table:len(b)-trailerBytes], int64(h.table)); err == nil {
		for i := range list {
			s := &list[i]
			s.crc = checksum(b[s.off : s.off+s.size])
		}
		if t := appendTable(nil, analyzer, list); len(t) == len(b)-trailerBytes-h.table {
			copy(b[h.table:], t)
		}
	}
	e := b[len(b)-trailerBytes:]
	le.PutUint32(e[40:], checksum(b[h.table:len(b)-trailerBytes]))
	le.PutUint32(e[52:], checksum(e[:52]))
}

// exercise opens the file and asks it everything. The error is of the corrupt kind or
// says that the file is newer.
func (h *hostile) exercise(b []byte) error {
	s, err := OpenBytes("hostile", b)
	if err == nil {
		_, err = brief(s, h.terms)
		v := NewView(s, postings.NewSet([]uint32{0, 1 << 30}))
		for u := range postings.Unit(postings.Units) {
			if _, err2 := v.Live(u); err == nil {
				err = err2
			}
		}
		for _, c := range s.schema {
			if c.Kind == Number {
				_, _ = numberAnswers(s, Column{Name: c.Name, Unit: c.Unit, Kind: c.Kind})
			}
		}
		Check(s)
	}
	if err == nil || errors.Is(err, ErrCorrupt) || errors.Is(err, ErrVersion) || errors.Is(err, postings.ErrCorrupt) {
		return nil
	}
	return fmt.Errorf("%w is not of the corrupt kind", err)
}

// allocated is how many bytes the process has allocated.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// TestHostileLengths mutates numbers of segments whose checksums are right: errors, no
// panic, and no more memory than four times the file and a megabyte.
func TestHostileLengths(t *testing.T) {
	r := newRand(t)
	hs := []*hostile{newHostile(t, plantModel()[:2]), newHostile(t, randomModel(r, 3, 4)), newHostile(t, randomModel(r, 1, 2))}
	runs := 3000
	if *long {
		runs = 10_000_000
	}
	opened, most := 0, uint64(0)
	var buf []byte
	for i := range runs {
		h := hs[i%len(hs)]
		buf = append(buf[:0], h.base...)
		what := h.mutate(r, buf)
		if s, err := OpenBytes("hostile", buf); err == nil && s != nil {
			opened++
		}
		before := allocated()
		err := func() (err error) {
			defer func() {
				if p := recover(); p != nil {
					stack := make([]byte, 4096)
					err = fmt.Errorf("panic: %v\n%s", p, stack[:runtime.Stack(stack, false)])
				}
			}()
			return h.exercise(buf)
		}()
		n := allocated() - before
		most = max(most, n)
		if err != nil {
			t.Fatalf("run %d: %s: %v", i, what, err)
		}
		if n > 4*uint64(len(buf))+1<<20 {
			t.Fatalf("run %d: %s: %d bytes allocated for a file of %d", i, what, n, len(buf))
		}
	}
	t.Logf("%d files, %d opened, at most %d bytes allocated", runs, opened, most)
	if opened < runs/10 {
		t.Error("hardly any file gets past opening")
	}
}

// FuzzHostile is TestHostileLengths with the numbers chosen by the fuzzer.
func FuzzHostile(f *testing.F) {
	h := newHostile(f, plantModel()[:2])
	for i := range uint8(len(h.sections)) {
		f.Add(i, uint16(0), uint64(1<<63), uint8(1))
		f.Add(i, uint16(4), uint64(1<<31), uint8(0))
		f.Add(i, uint16(1), uint64(1<<64-1), uint8(2))
	}
	f.Fuzz(func(t *testing.T, section uint8, at uint16, v uint64, kind uint8) {
		b := append([]byte(nil), h.base...)
		s := h.sections[int(section)%len(h.sections)]
		if s.size == 0 {
			return
		}
		num := [][]byte{le.AppendUint32(nil, uint32(v)), le.AppendUint64(nil, v), binary.AppendUvarint(nil, v)}[kind%3]
		copy(b[s.off+int64(at)%s.size:s.off+s.size], num)
		h.seal(b)
		if err := h.exercise(b); err != nil {
			t.Error(err)
		}
	})
}
