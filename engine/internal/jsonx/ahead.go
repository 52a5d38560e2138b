package jsonx

import "io"

// A stream is read in order, and can be looked at ahead of the reading.
type stream interface {
	io.Reader
	io.ReaderAt // offsets count from the stream's start; nothing is consumed
}

// lookBytes is how much one look ahead reads.
const lookBytes = 128 << 10

// ahead looks at the bytes of the stream from offset off on, those in the buffer
// included, until stop says that it has seen enough, or limit bytes were seen. It
// returns how many bytes were seen and whether the stream ended there.
func (d *Decoder) ahead(off, limit int64, stop func(b []byte) (n int, enough bool)) (seen int64, eof bool, err error) {
	for seen < limit {
		var b []byte
		if i := off + seen - d.base; i < int64(len(d.buf)) {
			b = d.buf[i:]
		} else if d.eof {
			return seen, true, nil
		} else {
			if d.look == nil {
				d.look = make([]byte, lookBytes)
			}
			n, err := d.r.ReadAt(d.look, off+seen)
			if err != nil && err != io.EOF {
				d.err = err
				return seen, false, err
			}
			if n == 0 {
				return seen, true, nil
			}
			b = d.look[:n]
		}
		b = b[:min(int64(len(b)), limit-seen)]
		n, enough := stop(b)
		seen += int64(n)
		if enough {
			return seen, false, nil
		}
	}
	return seen, false, nil
}

// scout answers as parse would if the whole stream were in the buffer, up to one byte
// more than a record may have: there, without an answer, it gives ErrTooLong. The
// end counts from pos.
func (d *Decoder) scout() (end int, err error) {
	d.check.reset(d.parser.Depth)
	var verdict error
	seen, eof, err := d.ahead(d.base+int64(d.pos), int64(d.limit)+1, func(b []byte) (n int, done bool) {
		n, done, verdict = d.check.feed(b)
		return n, done
	})
	d.work += seen
	switch {
	case err != nil:
		return 0, err
	case eof:
		return int(seen), d.check.finish()
	case verdict == nil && !d.check.ended():
		return int(seen), ErrTooLong
	}
	return int(seen), verdict
}

func (c *checker) ended() bool { return len(c.open) == 0 && c.state == wantNext }

// behind is the byte behind a value that ends at end in the buffer, or a line feed
// at the end of the stream; with blanks, spaces on the line are passed over.
func (d *Decoder) behind(end int, blanks bool) (next byte, err error) {
	next = '\n'
	_, _, err = d.ahead(d.base+int64(end), 1<<62, func(b []byte) (int, bool) {
		for i, c := range b {
			if !blanks || c != ' ' && c != '\t' && c != '\r' {
				next = c
				return i, true
			}
		}
		return len(b), false
	})
	return next, err
}

// A spool makes a stream of a reader: what was looked at is kept until it is read.
type spool struct {
	r      io.Reader
	off    int64 // of what Read gives next
	chunks [][]byte
	err    error // of r
}

// chunkBytes is the size of a spool's chunks.
const chunkBytes = 256 << 10

func (s *spool) Read(p []byte) (int, error) {
	if len(s.chunks) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		n, err := s.r.Read(p)
		s.off += int64(n)
		return n, err
	}
	n := copy(p, s.chunks[0])
	if s.chunks[0] = s.chunks[0][n:]; len(s.chunks[0]) == 0 {
		s.chunks[0] = nil
		s.chunks = s.chunks[1:]
	}
	s.off += int64(n)
	return n, nil
}

// ReadAt implements io.ReaderAt from where Read stands on.
func (s *spool) ReadAt(p []byte, off int64) (int, error) {
	at, n := s.off, 0
	for i := 0; n < len(p); i++ {
		if i == len(s.chunks) && !s.more() {
			return n, s.err
		}
		c := s.chunks[i]
		if skip := off + int64(n) - at; skip < int64(len(c)) {
			n += copy(p[n:], c[skip:])
		}
		at += int64(len(c))
	}
	return n, nil
}

// more reads one chunk more.
func (s *spool) more() bool {
	if s.err != nil {
		return false
	}
	b := make([]byte, chunkBytes)
	n, err := io.ReadFull(s.r, b)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	s.err = err
	if n > 0 {
		s.chunks = append(s.chunks, b[:n])
	}
	return n > 0
}
