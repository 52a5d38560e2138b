package segments

import (
	"bytes"
	"errors"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hansard-search/hansard/postings"
)

// honest fails the test unless damaged bytes give an error of the right kind or
// the answers of the sound file.
func honest(t *testing.T, what string, b []byte, sound answers) {
	t.Helper()
	s, err := OpenBytes("damaged", b)
	var a answers
	if err == nil {
		a, err = got(s)
	}
	if err != nil {
		var ce *CorruptError
		if !errors.Is(err, ErrCorrupt) || !errors.As(err, &ce) || ce.File == "" || ce.Section == "" {
			t.Fatalf("%s: error %v does not name file and section", what, err)
		}
		return
	}
	if diff := cmp.Diff(sound, a); diff != "" {
		t.Fatalf("%s: silent damage (-sound +damaged):\n%s", what, diff)
	}
}

func TestEveryBitOfASmallFile(t *testing.T) {
	r := newRand(t)
	model := randomModel(r, 3, 3)
	b := build(t, Options{Schema: testSchema}, model)
	step := 1
	if testing.Short() {
		step = 7
	}
	sound := want(model)
	for i := 0; i < 8*len(b); i += step {
		b[i/8] ^= 1 << (i % 8)
		honest(t, "flip", b, sound)
		b[i/8] ^= 1 << (i % 8)
	}
	compare(t, "restored", open(t, b), model)
}

func TestRandomBitsOfALargerFile(t *testing.T) {
	r := newRand(t)
	model := randomModel(r, 200, 20)
	b := build(t, Options{Schema: testSchema}, model)
	if len(b) < 3*pageBytes {
		t.Fatalf("%d bytes are too few for several pages", len(b))
	}
	sound := want(model)
	for range 50 {
		i := r.IntN(8 * len(b))
		b[i/8] ^= 1 << (i % 8)
		honest(t, "flip", b, sound)
		b[i/8] ^= 1 << (i % 8)
	}
}

func TestTruncatedZeroedSwapped(t *testing.T) {
	r := newRand(t)
	model := randomModel(r, 6, 8)
	b := build(t, Options{Schema: testSchema}, model)
	sound := want(model)
	s := open(t, b)
	edges := []int{0, 1, headerBytes, len(b) - trailerBytes, len(b) - 1}
	for _, sect := range s.sections {
		edges = append(edges, int(sect.off), int(sect.off+sect.size))
	}
	for _, edge := range edges {
		for _, at := range []int{edge - 1, edge, edge + 1} {
			if at < 0 || at >= len(b) {
				continue
			}
			honest(t, "truncated", b[:at:at], sound)
			zero := bytes.Clone(b)
			clear(zero[at:])
			honest(t, "zeroed to the end", zero, sound)
			zero = bytes.Clone(b)
			clear(zero[:at])
			honest(t, "zeroed from the start", zero, sound)
		}
	}
	honest(t, "longer", append(bytes.Clone(b), 0), sound)
	honest(t, "doubled", append(bytes.Clone(b), b...), sound)
	first, second := s.find(tagRefs, ""), s.find(tagTotals, "")
	swapped := bytes.Clone(b)
	copy(swapped[first.off:], b[second.off:second.off+second.size])
	copy(swapped[second.off:], b[first.off:first.off+first.size])
	honest(t, "sections swapped", swapped, sound)
}

func TestNewerVersionIsRefused(t *testing.T) {
	b := build(t, Options{Schema: testSchema}, plantModel())
	tail, err := parseTrailer("x", b)
	if err != nil {
		t.Fatal(err)
	}
	tail.version = formatVersion + 1
	newer := tail.append(bytes.Clone(b[:len(b)-trailerBytes]))
	before := bytes.Clone(newer)
	if _, err := OpenBytes("newer", newer); !errors.Is(err, ErrVersion) || errors.Is(err, ErrCorrupt) {
		t.Errorf("a newer segment gives %v, want ErrVersion", err)
	}
	if !bytes.Equal(before, newer) {
		t.Error("the file was changed")
	}
}

func TestUnknownSectionsAreSkipped(t *testing.T) {
	model := plantModel()
	b := build(t, Options{Schema: testSchema}, model)
	f := open(t, b)
	var out bytes.Buffer
	dst := newSink(&out)
	dst.bytes("NEWS", "of a later writer", []byte("hello"))
	for i := range f.sections {
		if s := &f.sections[i]; s.tag != tagPage && s.tag != tagMeta {
			dst.bytes(s.tag, s.name, b[s.off:s.off+s.size])
		}
	}
	meta, err := f.must(tagMeta, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dst.finish(f.info, meta); err != nil {
		t.Fatal(err)
	}
	s := open(t, out.Bytes())
	compare(t, "with an unknown section", s, model)
	if faults := Check(s); len(faults) > 0 {
		t.Errorf("Check = %v, want nothing", faults)
	}
}

// FuzzOpen changes a section of a segment and makes its checksums right, so that
// decoders meet bytes that no checksum guards. They must return errors or
// answers, in bounded memory.
func FuzzOpen(f *testing.F) {
	base := build(f, Options{Schema: testSchema}, plantModel()[:2])
	s := open(f, base)
	for i := range s.sections {
		f.Add(uint8(i), uint16(0), []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
		f.Add(uint8(i), uint16(3), []byte{0, 0, 0, 0x80})
		f.Add(uint8(i), uint16(s.sections[i].size), []byte{})
	}
	f.Fuzz(func(t *testing.T, section uint8, at uint16, with []byte) {
		sect := s.sections[int(section)%len(s.sections)]
		if sect.tag == tagPage {
			return
		}
		b := rewrite(t, base, sect.String(), func(b []byte) []byte {
			i := int(at) % (len(b) + 1)
			n := copy(b[i:], with)
			if n < len(with) {
				return append(b, with[n:]...)
			}
			return b[:len(b):len(b)]
		})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		seg, err := OpenBytes("fuzz", b)
		if err == nil {
			_, err = got(seg)
			Check(seg)
			v := NewView(seg, postings.NewSet([]uint32{0, 1 << 30}))
			for u := range postings.Unit(postings.Units) {
				_, _ = v.Live(u)
			}
		}
		runtime.ReadMemStats(&after)
		if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, postings.ErrCorrupt) {
			t.Errorf("%v is not of the corrupt kind", err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
			t.Errorf("%d bytes allocated over a file of %d", n, len(b))
		}
	})
}

// FuzzOpenBytes feeds arbitrary bytes to the outermost decoder.
func FuzzOpenBytes(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte(headMagic + tailMagic))
	f.Add(build(f, Options{}, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := OpenBytes("fuzz", b); err == nil {
			Check(s)
		} else if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrVersion) {
			t.Errorf("%v is neither ErrCorrupt nor ErrVersion", err)
		}
	})
}
