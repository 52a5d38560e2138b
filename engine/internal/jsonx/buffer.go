package jsonx

import (
	"bytes"
	"io"
)

// toRecord moves to the first byte of the next record. It returns io.EOF when
// there is none.
func (d *Decoder) toRecord() error {
	if d.base == 0 && d.pos == 0 {
		for len(d.buf) < 3 && !d.eof {
			if err := d.fill(3); err != nil {
				return err
			}
		}
		if bytes.HasPrefix(d.buf, []byte("\xEF\xBB\xBF")) {
			d.pos, d.start = 3, 3
		}
	}
	for {
		for d.pos < len(d.buf) {
			switch d.buf[d.pos] {
			case '\n':
				d.endLine(d.pos + 1)
			case ' ', '\t', '\r':
				d.pos++
			default:
				return nil
			}
		}
		if d.eof {
			return io.EOF
		}
		if err := d.fill(d.first); err != nil {
			return err
		}
	}
}

// toLineFeed reads until the buffer holds the rest of the line, or much of it, or
// more than a record may have.
func (d *Decoder) toLineFeed() error {
	d.scanned = max(d.scanned, d.pos)
	for {
		if i := bytes.IndexByte(d.buf[d.scanned:], '\n'); i >= 0 {
			d.scanned += i
			return nil
		}
		d.scanned = len(d.buf)
		if n := len(d.buf) - d.pos; d.eof || n > d.limit || n >= d.near {
			return nil
		}
		if err := d.fill(2 * (len(d.buf) - d.pos)); err != nil {
			return err
		}
	}
}

// advance moves to end, which lies after a value.
func (d *Decoder) advance(end int) {
	if n := bytes.Count(d.buf[d.pos:end], []byte{'\n'}); n > 0 {
		d.line += int64(n)
		d.start = d.pos + bytes.LastIndexByte(d.buf[d.pos:end], '\n') + 1
	}
	d.pos = end
}

// endLine moves to the start of the next line, which is at next.
func (d *Decoder) endLine(next int) {
	if d.buf[next-1] == '\n' && next > d.pos {
		d.line++
	}
	d.pos, d.start = next, next
	d.consumed = d.base + int64(next)
}

// hold fills the buffer only if it has less than n unread bytes.
func (d *Decoder) hold(n int) error {
	if d.eof || len(d.buf)-d.pos >= n {
		return d.err
	}
	return d.fill(n)
}

// fill makes the buffer hold at least want unread bytes, or fewer at the end of
// the stream. It moves the unread bytes to the front.
func (d *Decoder) fill(want int) error {
	if d.err != nil {
		return d.err
	}
	if d.pos > 0 {
		n := copy(d.buf, d.buf[d.pos:])
		d.buf = d.buf[:n]
		d.base += int64(d.pos)
		d.scanned = max(0, d.scanned-d.pos)
		d.start -= d.pos
		d.pos = 0
	}
	// One byte more than the limit tells a record that is too long.
	want = max(min(want, d.limit+1+d.first), len(d.buf)+1, d.first)
	if want > cap(d.buf) || cap(d.buf) > 2*d.near && want < cap(d.buf)/2 {
		d.buf = append(make([]byte, 0, want), d.buf...)
	}
	for empty := 0; len(d.buf) < want; {
		n, err := d.r.Read(d.buf[len(d.buf):cap(d.buf)])
		d.buf = d.buf[:len(d.buf)+n]
		if err == io.EOF {
			d.eof = true
			return nil
		}
		if err != nil {
			d.err = err
			return err
		}
		if n > 0 {
			empty = 0
		} else if empty++; empty == 100 {
			d.err = io.ErrNoProgress
			return d.err
		}
	}
	return nil
}
