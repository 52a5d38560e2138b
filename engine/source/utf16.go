package source

import (
	"bufio"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// utf16Of gives the byte order that a UTF-16 mark at the start of b states, or nil.
// Shells of one system write such files when output is redirected.
func utf16Of(b []byte) binary.ByteOrder {
	if len(b) < 2 {
		return nil
	}
	switch {
	case b[0] == 0xff && b[1] == 0xfe:
		return binary.LittleEndian
	case b[0] == 0xfe && b[1] == 0xff:
		return binary.BigEndian
	}
	return nil
}

// utf16Reader turns UTF-16 into UTF-8. A lone surrogate or an odd last byte becomes
// U+FFFD; the mark is dropped.
type utf16Reader struct {
	r       *bufio.Reader
	order   binary.ByteOrder
	out     []byte // decoded and not yet read
	buf     [4096]byte
	pending rune // a unit read ahead, or -1
	started bool
	err     error
}

func newUTF16Reader(r io.Reader, order binary.ByteOrder) *utf16Reader {
	return &utf16Reader{r: bufio.NewReader(r), order: order, pending: -1}
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	if len(u.out) == 0 {
		u.fill()
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	if n == 0 && len(p) > 0 {
		return 0, u.err
	}
	return n, nil
}

func (u *utf16Reader) fill() {
	u.out = u.buf[:0]
	for len(u.out)+2*utf8.UTFMax <= len(u.buf) && (u.err == nil || u.pending >= 0) {
		r := u.unit()
		if r < 0 {
			break
		}
		if !u.started {
			u.started = true
			if r == 0xfeff {
				continue
			}
		}
		if utf16.IsSurrogate(r) {
			low := u.unit()
			if full := utf16.DecodeRune(r, low); low >= 0 && full != utf8.RuneError {
				r = full
			} else {
				u.pending, r = low, utf8.RuneError
			}
		}
		u.out = utf8.AppendRune(u.out, r)
	}
}

// unit reads one code unit; -1 at the end, with the error kept.
func (u *utf16Reader) unit() rune {
	if u.pending >= 0 {
		r := u.pending
		u.pending = -1
		return r
	}
	if u.err != nil {
		return -1
	}
	var b [2]byte
	n, err := io.ReadFull(u.r, b[:])
	if err == io.ErrUnexpectedEOF && n == 1 {
		u.err = io.EOF
		return utf8.RuneError
	}
	if err != nil {
		u.err = err
		return -1
	}
	return rune(u.order.Uint16(b[:]))
}
