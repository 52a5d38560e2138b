package zstdx

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func samples(n int, seed uint64) [][]byte {
	r := rand.New(rand.NewPCG(seed, 1))
	words := strings.Fields("the session reads a file and runs go test then edits engine/store/frames.go because the check failed with exit code 1")
	out := make([][]byte, n)
	for i := range out {
		var b bytes.Buffer
		fmt.Fprintf(&b, `{"type":"tool_result","tool_use_id":"toolu_%08x","content":"`, r.Uint32())
		for range 40 {
			b.WriteString(words[r.IntN(len(words))])
			b.WriteByte(' ')
		}
		b.WriteString(`","is_error":false}`)
		out[i] = b.Bytes()
	}
	return out
}

func mustCodec(t testing.TB, l Level, dict []byte) *Codec {
	t.Helper()
	c, err := NewCodec(l, dict)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCodecRoundTrip(t *testing.T) {
	dict, err := BuildDict(samples(200, 7), 4<<10)
	if err != nil {
		t.Fatal(err)
	}
	big := bytes.Repeat([]byte("0123456789abcdef"), 64<<10)
	for _, d := range [][]byte{nil, dict} {
		for _, level := range []Level{Fast, Default, Better, Best} {
			c := mustCodec(t, level, d)
			for _, src := range [][]byte{nil, {0}, []byte("short"), samples(1, 9)[0], big} {
				frame := c.Encode([]byte("head"), src)
				if !bytes.HasPrefix(frame, []byte("head")) || !IsFrame(frame[4:]) {
					t.Fatalf("level %d: frame does not follow what dst held", level)
				}
				got, err := c.Decode([]byte("kept"), frame[4:], len(src))
				if err != nil || string(got) != "kept"+string(src) {
					t.Errorf("level %d, %d bytes: %d bytes, %v", level, len(src), len(got), err)
				}
				if again := c.Encode(nil, src); !bytes.Equal(again, frame[4:]) {
					t.Errorf("level %d: two encodings of %d bytes differ", level, len(src))
				}
			}
		}
	}
}

func TestDictPays(t *testing.T) {
	dict, err := BuildDict(samples(300, 7), 8<<10)
	if err != nil {
		t.Fatal(err)
	}
	plain, trained := mustCodec(t, Default, nil), mustCodec(t, Default, dict)
	var a, b int
	for _, s := range samples(100, 8) {
		a += len(plain.Encode(nil, s))
		b += len(trained.Encode(nil, s))
	}
	if b*4 > a*3 {
		t.Errorf("with a dictionary %d bytes, without %d; want a quarter less", b, a)
	}
	again, err := BuildDict(samples(300, 7), 8<<10)
	if err != nil || !bytes.Equal(dict, again) {
		t.Errorf("equal samples made two dictionaries (%v)", err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	dict, err := BuildDict(samples(200, 7), 4<<10)
	if err != nil {
		t.Fatal(err)
	}
	c, trained := mustCodec(t, Default, nil), mustCodec(t, Default, dict)
	src := samples(1, 3)[0]
	frame := c.Encode(nil, src)
	flipped := bytes.Clone(frame)
	flipped[len(flipped)/2] ^= 0x40
	claim := ErrCorrupt
	if strconv.IntSize == 32 {
		claim = ErrLimit // no limit reaches that far
	}
	for _, tt := range []struct {
		name  string
		frame []byte
		limit int
		want  error
	}{
		{"empty", nil, 1 << 20, ErrCorrupt},
		{"not a frame", []byte("hello, world"), 1 << 20, ErrCorrupt},
		{"cut", frame[:len(frame)-5], 1 << 20, ErrCorrupt},
		{"flipped", flipped, 1 << 20, ErrCorrupt},
		{"two frames", append(bytes.Clone(frame), frame...), 1 << 20, ErrCorrupt},
		{"bytes after", append(bytes.Clone(frame), "tail"...), 1 << 20, ErrCorrupt},
		{"above the limit", frame, len(src) - 1, ErrLimit},
		{"negative limit", frame, -1, ErrLimit},
		{"unknown dictionary", trained.Encode(nil, src), 1 << 20, ErrCorrupt},
		{"claims a terabyte", []byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0}, math.MaxInt, claim},
	} {
		got, err := c.Decode([]byte("kept"), tt.frame, tt.limit)
		if !errors.Is(err, tt.want) || string(got) != "kept" {
			t.Errorf("%s: %q, %v, want %v", tt.name, got, err, tt.want)
		}
	}
}

func TestBadDictionaries(t *testing.T) {
	if _, err := NewCodec(Default, []byte("no dictionary")); !errors.Is(err, ErrCorrupt) {
		t.Errorf("NewCodec = %v, want ErrCorrupt", err)
	}
	for _, in := range [][][]byte{nil, {nil}, {[]byte("one")}, {[]byte("abcdefgh"), []byte("ijklmnop")}} {
		if _, err := BuildDict(in, 4<<10); !errors.Is(err, ErrSamples) {
			t.Errorf("BuildDict(%q) = %v, want ErrSamples", in, err)
		}
	}
	if _, err := BuildDict(samples(20, 1), 0); !errors.Is(err, ErrSamples) {
		t.Errorf("BuildDict of size zero = %v, want ErrSamples", err)
	}
}

func TestCodecConcurrent(t *testing.T) {
	c := mustCodec(t, Fast, nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for _, s := range samples(50, uint64(i)) {
				got, err := c.Decode(nil, c.Encode(nil, s), len(s))
				if err != nil || !bytes.Equal(got, s) {
					t.Errorf("worker %d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzDecode(f *testing.F) {
	dict, err := BuildDict(samples(100, 7), 2<<10)
	if err != nil {
		f.Fatal(err)
	}
	c := mustCodec(f, Default, dict)
	f.Add([]byte{})
	f.Add(c.Encode(nil, []byte("hello hello hello hello")))
	f.Add(c.Encode(nil, samples(1, 5)[0]))
	f.Fuzz(func(t *testing.T, frame []byte) {
		const limit = 1 << 20
		got, err := c.Decode(nil, frame, limit)
		if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrLimit) {
			t.Errorf("error of no kind: %v", err)
		}
		if len(got) > limit {
			t.Errorf("%d bytes past a limit of %d", len(got), limit)
		}
		back, err := c.Decode(nil, c.Encode(nil, frame), len(frame))
		if err != nil || !bytes.Equal(back, frame) {
			t.Errorf("round trip: %v", err)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	c := mustCodec(b, Default, nil)
	src := bytes.Join(samples(64, 5), []byte("\n"))
	frame := c.Encode(nil, src)
	dst := make([]byte, 0, len(src))
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Decode(dst[:0], frame, len(src)); err != nil {
			b.Fatal(err)
		}
	}
}
