package zstdx

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// FuzzReader: no bytes make a stream panic, pass its limits, or end with an error that
// is not one of the package's, and what it gives does not depend on how it is read.
func FuzzReader(f *testing.F) {
	f.Add([]byte{}, int64(10))
	f.Add(compress(f, bytes.Repeat([]byte("0123456789 the quick brown fox "), 9000)), int64(1<<19))
	// Two compressed blocks, the second with a repeat table: what once crashed the library.
	if e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression)); err == nil {
		f.Add(e.EncodeAll(bytes.Join(samples(300, 2), nil), nil), int64(1<<19))
	}
	f.Add(compress(f, []byte("some text, some text, some text")), int64(20))
	f.Add(compress(f, make([]byte, 1<<17)), int64(1<<16))
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 3, 0, 0x10, 'x'}, int64(100))
	f.Add(append([]byte{0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 1, 2}, compress(f, []byte("behind a skippable frame"))...), int64(100))
	f.Fuzz(func(t *testing.T, in []byte, output int64) {
		lim := Limits{Window: 1 << 20, Output: 1 + output&0xfffff, Ratio: 1000, RatioFrom: 1 << 16}
		first, err := readStream(in, lim)
		if int64(len(first)) > lim.Output {
			t.Fatalf("%d bytes of %d", len(first), lim.Output)
		}
		if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrLimit) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("error %v", err)
		}
		again, err2 := readStream(in, lim)
		if !bytes.Equal(first, again) || (err == nil) != (err2 == nil) {
			t.Fatalf("%d bytes, %v; again %d, %v", len(first), err, len(again), err2)
		}
	})
}

func readStream(in []byte, lim Limits) ([]byte, error) {
	z, err := NewReader(bytes.NewReader(in), lim)
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(z)
	return out, errors.Join(err, z.Close())
}

// TestHostileLengths: what a header says of sizes and windows makes nobody allocate
// it: at most four times the input, the window that the caller allows, and a constant.
func TestHostileLengths(t *testing.T) {
	const window = 1 << 20
	base := compress(t, []byte("x"))
	constant := allocated(func() { _, _ = readStream(base, Limits{Window: window}) }) + 1<<20
	for _, size := range []uint64{0, 1, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1<<63 - 1, 1 << 63, 1<<64 - 1} {
		for windowLog := range 32 {
			in := []byte{0x28, 0xb5, 0x2f, 0xfd, 3 << 6, byte(windowLog) << 3}
			in = binary.LittleEndian.AppendUint64(in, size)
			in = append(in, 1, 0x10, 0, 'x') // one raw block, larger than what follows
			n := allocated(func() { _, _ = readStream(in, Limits{Window: window}) })
			if limit := constant + 4*uint64(len(in)) + 2*window; n > limit {
				t.Errorf("size %d, window 2^%d: %d bytes allocated for %d, want at most %d", size, windowLog+10, n, len(in), limit)
			}
		}
	}
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
