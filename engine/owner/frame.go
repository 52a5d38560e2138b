package owner

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Both sides send frames:
//
//	length u32 little-endian | kind u8 | length bytes
//
// A payload longer than a frame is cut: all frames but its last carry the more bit in
// their kind.
const (
	frameHead = 5
	maxFrame  = 256 << 10
	more      = 0x80
)

// The kinds of frames. The first two never change, so that any two versions
// understand that they do not understand each other.
const (
	kindHello    = 1 // both: an identity
	kindRequest  = 2 // to the owner: a request
	kindCancel   = 3 // to the owner: the caller's context has ended
	kindBeat     = 4 // from the owner: still at it
	kindProgress = 5 // from the owner: an engine.Progress
	kindPart     = 6 // from the owner: a piece of an answer
	kindResult   = 7 // from the owner, last: the answer, or its end
	kindFailed   = 8 // from the owner, last: a failure
	kindBye      = 9 // from the owner, last: it ends, ask the next one
)

// Limits of what one side takes from the other.
const (
	maxRequest = 64 << 20 // a request: the paths of a long command line
	maxAnswer  = 1 << 30  // one message, or one page of hits
)

var errFrame = errors.New("not a frame of the protocol")

// A frameReader reads payloads of at most limit bytes. What it returns is valid until
// the next call. Memory grows with what has come, never with what is announced.
type frameReader struct {
	r     io.Reader
	limit int
	buf   []byte
}

func (f *frameReader) next() (kind byte, payload []byte, err error) {
	if cap(f.buf) > 4*maxFrame {
		f.buf = nil // one long payload does not hold its memory
	}
	f.buf = f.buf[:0]
	for first := true; ; first = false {
		var head [frameHead]byte
		if _, err := io.ReadFull(f.r, head[:]); err != nil {
			if !first && err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return 0, nil, err
		}
		n, k := int(binary.LittleEndian.Uint32(head[:])), head[4]
		switch {
		case n > maxFrame:
			return 0, nil, fmt.Errorf("%w: %d bytes", errFrame, n)
		case len(f.buf)+n > f.limit:
			return 0, nil, fmt.Errorf("%w: payload exceeds %d bytes", errFrame, f.limit)
		case k&^more < kindHello || k&^more > kindBye:
			return 0, nil, fmt.Errorf("%w: kind %d", errFrame, k)
		case !first && k&^more != kind:
			return 0, nil, fmt.Errorf("%w: kind %d within %d", errFrame, k, kind)
		case n == 0 && k&more != 0:
			return 0, nil, fmt.Errorf("%w: an empty piece", errFrame)
		}
		kind = k &^ more
		at := len(f.buf)
		f.buf = append(f.buf, make([]byte, n)...)
		if _, err := io.ReadFull(f.r, f.buf[at:]); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return 0, nil, err
		}
		if k&more == 0 {
			return kind, f.buf, nil
		}
	}
}

// writeFrame writes one payload.
func writeFrame(w *bufio.Writer, kind byte, payload []byte) error {
	for {
		piece, k := payload, kind
		if len(piece) > maxFrame {
			piece, k = piece[:maxFrame], kind|more
		}
		payload = payload[len(piece):]
		head := [frameHead]byte{4: k}
		binary.LittleEndian.PutUint32(head[:], uint32(len(piece)))
		if _, err := w.Write(head[:]); err != nil {
			return err
		}
		if _, err := w.Write(piece); err != nil {
			return err
		}
		if k&more == 0 {
			return nil
		}
	}
}
