package zstdx

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"
)

func compress(t testing.TB, src []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, Default)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(src); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestStream(t *testing.T) {
	src := bytes.Repeat([]byte("a line of text\n"), 100_000)
	frame := compress(t, src)
	for _, tt := range []struct {
		name string
		in   []byte
		lim  Limits
		want string // content
		err  error
	}{
		{"whole", frame, Limits{}, string(src), nil},
		{"two frames", append(bytes.Clone(frame), frame...), Limits{}, string(src) + string(src), nil},
		{"exactly the limit", frame, Limits{Output: int64(len(src))}, string(src), nil},
		{"one byte past the limit", frame, Limits{Output: int64(len(src)) - 1}, string(src[:len(src)-1]), ErrLimit},
		{"window past the limit", frame, Limits{Window: 1 << 10}, "", ErrLimit},
		{"empty", nil, Limits{}, "", nil},
		{"no frame", []byte("plain text it is"), Limits{}, "", ErrCorrupt},
	} {
		z, err := NewReader(bytes.NewReader(tt.in), tt.lim)
		var got []byte
		if err == nil {
			got, err = io.ReadAll(z)
			if e := z.Close(); e != nil {
				t.Errorf("%s: close: %v", tt.name, e)
			}
		}
		if string(got) != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s: %d bytes, %v; want %d, %v", tt.name, len(got), err, len(tt.want), tt.err)
		}
	}
}

func TestStreamCut(t *testing.T) {
	frame := compress(t, []byte(strings.Repeat("xyz 123 ", 10_000)))
	for n := 1; n < len(frame); n++ {
		z, err := NewReader(bytes.NewReader(frame[:n]), Limits{})
		if err != nil {
			continue
		}
		if _, err := io.ReadAll(z); err == nil {
			t.Errorf("a frame cut to %d of %d bytes reads to its end", n, len(frame))
		}
		_ = z.Close() // the cut is what matters here
	}
}

// A bomb: a megabyte of zeros per hundred bytes must stop at the limit.
func TestStreamBomb(t *testing.T) {
	frame := compress(t, make([]byte, 64<<20))
	z, err := NewReader(bytes.NewReader(frame), Limits{Output: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, z)
	if n != 1<<20 || !errors.Is(err, ErrLimit) {
		t.Errorf("%d bytes, %v; want %d and ErrLimit", n, err, 1<<20)
	}
	if n, err := z.Read(make([]byte, 1)); n != 0 || !errors.Is(err, ErrLimit) {
		t.Errorf("after the limit: %d, %v; want the same error again", n, err)
	}
}

func TestNoGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	frame := compress(t, []byte("content"))
	for range 20 {
		z, err := NewReader(bytes.NewReader(frame), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := z.Read(make([]byte, 2)); err != nil {
			t.Fatal(err)
		}
		// Deliberately not closed: nothing may depend on it.
	}
	c := mustCodec(t, Default, nil)
	c.Encode(nil, []byte("content"))
	after := runtime.NumGoroutine()
	for begin := time.Now(); after > before && time.Since(begin) < 10*time.Second; after = runtime.NumGoroutine() {
		time.Sleep(time.Millisecond) // the runtime's own come and go
	}
	if after > before {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}
