package owner

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
)

func frames(t testing.TB, kind byte, payload []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	if err := errors.Join(writeFrame(w, kind, payload), w.Flush()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFrames(t *testing.T) {
	for _, n := range []int{0, 1, maxFrame - 1, maxFrame, maxFrame + 1, 3*maxFrame + 7} {
		payload := bytes.Repeat([]byte{0xa5}, n)
		raw := frames(t, kindPart, payload)
		in := &frameReader{r: bytes.NewReader(raw), limit: n}
		kind, got, err := in.next()
		if err != nil || kind != kindPart || !bytes.Equal(got, payload) {
			t.Errorf("%d bytes: kind %d, %d bytes, %v", n, kind, len(got), err)
		}
		if _, _, err := in.next(); err != io.EOF {
			t.Errorf("%d bytes: then %v, want EOF", n, err)
		}
		if _, _, err := (&frameReader{r: bytes.NewReader(raw[:len(raw)-1]), limit: n}).next(); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes, cut: %v", n, err)
		}
		if n > 0 {
			if _, _, err := (&frameReader{r: bytes.NewReader(raw), limit: n - 1}).next(); !errors.Is(err, errFrame) {
				t.Errorf("%d bytes above the limit: %v", n, err)
			}
		}
	}
}

func TestFramesRefused(t *testing.T) {
	head := func(n uint32, kind byte) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, n), kind)
	}
	piece := append(head(1, kindPart|more), 'x')
	for name, raw := range map[string][]byte{
		"too long":     head(maxFrame+1, kindPart),
		"4 GiB":        head(1<<32-1, kindPart),
		"kind 0":       head(0, 0),
		"kind 10":      head(0, kindBye+1),
		"other kind":   append(append([]byte{}, piece...), head(0, kindBeat)...),
		"empty pieces": head(0, kindPart|more),
		"text":         []byte("GET / HTTP/1.1\r\n\r\n"),
	} {
		if _, _, err := (&frameReader{r: bytes.NewReader(raw), limit: 1 << 20}).next(); !errors.Is(err, errFrame) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzFrames(f *testing.F) {
	f.Add(frames(f, kindHello, []byte(`{"protocol":1}`)))
	f.Add(append(frames(f, kindPart, make([]byte, maxFrame+3)), 0, 0, 0, 0, kindResult))
	f.Add([]byte{1, 0, 0, 0, kindPart | more, 'x', 1, 0, 0, 0, kindPart, 'y'})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 4})
	f.Fuzz(func(t *testing.T, raw []byte) {
		const limit = 1 << 20
		in := &frameReader{r: bytes.NewReader(raw), limit: limit}
		var again bytes.Buffer
		w := bufio.NewWriter(&again)
		for {
			kind, payload, err := in.next()
			if err != nil {
				break
			}
			if len(payload) > limit || kind < kindHello || kind > kindBye {
				t.Fatalf("kind %d, %d bytes", kind, len(payload))
			}
			if err := writeFrame(w, kind, payload); err != nil {
				t.Fatal(err)
			}
		}
		if cap(in.buf) > 2*len(raw)+2*maxFrame {
			t.Fatalf("%d bytes held for %d", cap(in.buf), len(raw))
		}
	})
}
