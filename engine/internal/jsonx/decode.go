package jsonx

import (
	"bytes"
	"errors"
	"io"
	"iter"
)

// DefaultRecordBytes is the longest record that a decoder accepts unless told
// otherwise.
const DefaultRecordBytes = 64 << 20

// Options bound a decoder. The zero value means the defaults.
type Options struct {
	RecordBytes int // longest record; 0 means DefaultRecordBytes, at most 1 GiB
	Depth       int // deepest nesting; 0 means DefaultDepth
}

// A Record is one value of the stream, or one broken line of it.
type Record struct {
	Value  Value // missing when Err is set; valid until the next record
	Line   int64 // 1-based line of its first byte
	Offset int64 // byte offset of its first byte
	End    int64 // byte offset after its last byte, line feed not counted
	// Err tells why the bytes are no record: one of this package's sentinels.
	Err error
	// Torn marks a broken last line that no line feed ends: it may still be
	// being written.
	Torn bool
}

// TooLarge reports whether the record was refused for what it would cost.
func (r *Record) TooLarge() bool {
	return r.Err == ErrTooLong || r.Err == ErrTooDeep || r.Err == ErrTooMany
}

// A Decoder reads the records of a stream. It is not safe for concurrent use.
//
// A value may span lines, and a line may hold several values. When a line does
// not parse, the decoder goes on at the next one, and until it finds an object
// or an array that is followed by a line's end or another one, every line counts
// as broken: so the pieces of a record that raw line feeds cut are reported and
// the record after them is not lost.
//
// Memory: what a record has beyond nearBytes is looked at before it is kept. A record
// that is too long, or broken further on, is never in memory; a long one is there
// once, in a buffer of its size, which is let go with the next record.
type Decoder struct {
	r      stream
	limit  int
	parser Parser
	check  checker
	look   []byte // of ahead
	first  int    // how much the buffer takes at least
	near   int    // how much of a record is buffered before its end is known

	buf      []byte
	pos      int   // first unread byte of buf
	scanned  int   // no line feed lies in buf[pos:scanned]
	base     int64 // stream offset of buf[0]
	line     int64
	start    int   // where the line of pos begins in buf; may be negative
	consumed int64 // stream offset after the last line feed that ended a record
	goodAt   int64 // a value that starts a line is known to be here; see cutAtEOF
	failed   int64 // stream offset up to which a parse has got before it failed
	work     int64 // bytes parsed, again or not
	resync   bool  // the record before was broken
	eof      bool
	err      error // of the reader
}

// firstBuffer holds most records whole.
const firstBuffer = 256 << 10

// nearBytes is a multiple of it that still costs little.
const nearBytes = 1 << 20

// NewDecoder reads records from r. If r is an io.ReaderAt, its offsets must count
// from where r stands: the decoder then looks ahead without holding what it sees.
func NewDecoder(r io.Reader, o Options) *Decoder {
	if o.RecordBytes <= 0 {
		o.RecordBytes = DefaultRecordBytes
	}
	in, ok := r.(stream)
	if !ok {
		in = &spool{r: r}
	}
	return &Decoder{
		r: in, limit: min(o.RecordBytes, 1<<30), line: 1, goodAt: -1, first: firstBuffer, near: nearBytes,
		parser: Parser{Depth: o.Depth, names: new(names)},
	}
}

// Consumed is the offset up to which nothing has to be read again when the
// stream grows: after the line feed that ended the last record, broken or not.
func (d *Decoder) Consumed() int64 { return d.consumed }

// Records yields the records of the stream. An error of the reader ends it.
func (d *Decoder) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for {
			r, err := d.Next()
			if err == io.EOF || !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// Next returns the next record, and io.EOF after the last one. Any other error
// is the reader's; a broken record is no error but has Err set.
func (d *Decoder) Next() (Record, error) {
	if d.err != nil {
		return Record{}, d.err
	}
	if err := d.toRecord(); err != nil {
		return Record{}, err
	}
	if d.buf[d.pos] == 0 {
		return d.zeros()
	}
	if err := d.toLineFeed(); err != nil {
		return Record{}, err
	}
	window, oneLine, err := d.window()
	if err != nil {
		return Record{}, err
	}
	end, err := d.parse(window, d.pos)
	if err == nil && (end < len(window) || oneLine || d.eof) {
		return d.found(end)
	}
	if err != nil && err != ErrCut || oneLine {
		d.failed = max(d.failed, d.base+int64(end))
		return d.broken(err)
	}
	return d.far()
}

// far takes a record that goes beyond what is in the buffer.
func (d *Decoder) far() (Record, error) {
	end, err := d.scout()
	switch {
	case d.err != nil:
		return Record{}, d.err
	case err == ErrTooLong:
		return d.tooLong()
	case err == ErrCut:
		if err := d.hold(end + 1); err != nil {
			return Record{}, err
		}
		return d.cutAtEOF()
	case err != nil:
		d.failed = max(d.failed, d.base+int64(d.pos+end))
		return d.broken(err)
	}
	if err := d.hold(end); err != nil {
		return Record{}, err
	}
	end, err = d.parse(d.buf[:min(len(d.buf), d.pos+end)], d.pos)
	if err != nil {
		return d.broken(err)
	}
	return d.found(end)
}

// parse is the parser's, and keeps count of its work.
func (d *Decoder) parse(b []byte, i int) (end int, err error) {
	end, err = d.parser.parse(b, i)
	d.work += int64(end - i)
	return end, err
}

// window is the bytes that a value at pos may have: one more than the limit, which
// tells a record that is too long. Inside of what a parse has failed on already,
// it is the line, so that no byte is parsed more than twice.
func (d *Decoder) window() (b []byte, oneLine bool, err error) {
	if !d.resync || d.base+int64(d.pos) >= d.failed {
		return d.buf[:min(len(d.buf), d.pos+d.limit+1)], false, nil
	}
	n, found, err := d.lineLength()
	if err != nil {
		return nil, false, err
	}
	if found {
		if err := d.hold(n); err != nil {
			return nil, false, err
		}
		return d.buf[:min(len(d.buf), d.pos+n)], true, nil
	}
	return d.buf[:min(len(d.buf), d.pos+d.limit+1)], false, nil
}

// lineLength looks for the line feed behind at most limit bytes.
func (d *Decoder) lineLength() (n int, found bool, err error) {
	seen, _, err := d.ahead(d.base+int64(d.pos), int64(d.limit)+1, func(b []byte) (int, bool) {
		i := bytes.IndexByte(b, '\n')
		if found = i >= 0; found {
			return i, true
		}
		return len(b), false
	})
	return int(seen), found, err
}

// found takes the value that ends at end, unless it is none after all.
func (d *Decoder) found(end int) (Record, error) {
	v := Value{&d.parser, 0}
	if end-d.pos > d.limit {
		return d.tooLong()
	}
	good, err := d.accept(v, end)
	if err != nil {
		return Record{}, err
	}
	if !good {
		return d.broken(ErrSyntax)
	}
	r := d.record(end)
	r.Value = v
	d.resync = false
	d.advance(end)
	return r, nil
}

// accept decides whether a value is a record: a scalar must not touch what
// follows it, and after a broken line only an object or array will do, which
// ends its line or touches another one, and fits on one line if it is indented,
// since it may be the inside of what broke.
func (d *Decoder) accept(v Value, end int) (bool, error) {
	t := v.Type()
	container := t == Object || t == Array
	if d.resync && (!container || d.pos != d.start && bytes.IndexByte(d.buf[d.pos:end], '\n') >= 0) {
		return false, nil
	}
	if !d.resync && container {
		return true, nil
	}
	next, err := d.behind(end, d.resync)
	if d.resync {
		return next == '\n' || next == '{' || next == '[', err
	}
	return bytes.IndexByte([]byte(" \t\r\n{[\"\x00"), next) >= 0, err
}

// record describes buf[pos:end].
func (d *Decoder) record(end int) Record {
	return Record{Line: d.line, Offset: d.base + int64(d.pos), End: d.base + int64(end)}
}

// broken gives up the rest of the line.
func (d *Decoder) broken(reason error) (Record, error) {
	d.resync = true
	r := d.record(len(d.buf))
	r.Err = reason
	if i := bytes.IndexByte(d.buf[d.pos:], '\n'); i >= 0 {
		r.End = d.base + int64(d.pos+i)
		d.endLine(d.pos + i + 1)
		return r, nil
	}
	ended, err := d.skipLine()
	if err != nil {
		return Record{}, err
	}
	r.End = d.base + int64(d.pos)
	if ended {
		r.End--
	}
	r.Torn = !ended && reason != ErrTooLong
	return r, nil
}

// skipLine drops what is left of the line without keeping it.
func (d *Decoder) skipLine() (ended bool, err error) {
	for {
		if i := bytes.IndexByte(d.buf[d.pos:], '\n'); i >= 0 {
			d.endLine(d.pos + i + 1)
			return true, nil
		}
		d.pos = len(d.buf)
		if d.eof {
			return false, nil
		}
		if err := d.fill(d.first); err != nil {
			return false, err
		}
	}
}

// tooLong gives up a record that is longer than the limit: its line, or the
// whole of it if it spans lines.
func (d *Decoder) tooLong() (Record, error) {
	n, found, err := d.lineLength()
	if err != nil {
		return Record{}, err
	}
	if !found || n == d.limit {
		return d.broken(ErrTooLong)
	}
	r := d.record(d.pos)
	r.Err = ErrTooLong
	d.resync = true
	err = d.skipValue()
	r.End = d.base + int64(d.pos)
	if d.pos == d.start {
		r.End-- // the line feed before
	}
	return r, err
}

// cutAtEOF handles a value that the end of the stream cuts, so that all of it is
// in the buffer. If it has several lines and one of them starts a good record, only its first line is broken.
func (d *Decoder) cutAtEOF() (Record, error) {
	rest := d.buf[d.pos:]
	if d.goodAt > d.base+int64(d.pos) {
		return d.broken(ErrCut)
	}
	d.failed = d.base + int64(len(d.buf))
	i := bytes.IndexByte(rest, '\n') + 1
	for line := range bytes.Lines(rest[i:]) {
		if i > 0 && (line[0] == '{' || line[0] == '[') {
			end, err := d.parse(d.buf[:d.pos+i+len(line)], d.pos+i)
			if err == nil && d.endsLine(end) {
				d.goodAt = d.base + int64(d.pos+i)
				return d.broken(ErrCut)
			}
		}
		i += len(line)
	}
	r := d.record(len(d.buf))
	r.Err = ErrCut
	r.Torn = rest[len(rest)-1] != '\n'
	d.resync = true
	d.advance(len(d.buf))
	if !r.Torn {
		r.End--
		d.endLine(len(d.buf))
	}
	return r, nil
}

func (d *Decoder) endsLine(end int) bool {
	for end < len(d.buf) && (d.buf[end] == ' ' || d.buf[end] == '\t' || d.buf[end] == '\r') {
		end++
	}
	return end == len(d.buf) || d.buf[end] == '\n'
}

// errZeros is the reason for zero bytes between records, as a crash leaves them.
var errZeros = errors.New("zero bytes between records")

// zeros takes a run of zero bytes as one broken record; what follows on the line
// is read on.
func (d *Decoder) zeros() (Record, error) {
	r := d.record(d.pos)
	r.Err = errZeros
	for {
		for d.pos < len(d.buf) && d.buf[d.pos] == 0 {
			d.pos++
		}
		if d.pos < len(d.buf) || d.eof {
			break
		}
		if err := d.fill(d.first); err != nil {
			return Record{}, err
		}
	}
	r.End = d.base + int64(d.pos)
	r.Torn = d.pos == len(d.buf)
	return r, nil
}
