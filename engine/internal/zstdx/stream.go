package zstdx

import (
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Limits bound what a stream may cost. The zero value means the defaults.
type Limits struct {
	Window int64 // largest window that is held in memory; default 128 MiB, what zstd --ultra --long may need
	Output int64 // most bytes produced in all; default no limit
	// Ratio is how many bytes may be produced per byte read, once RatioFrom bytes are
	// produced; default no limit. What a header says of sizes is not believed.
	Ratio     int64
	RatioFrom int64
}

func (l Limits) withDefaults() Limits {
	if l.Window <= 0 {
		l.Window = 128 << 20
	}
	return l
}

// A Reader decompresses a stream of frames. It is for one goroutine.
type Reader struct {
	d    *zstd.Decoder
	in   counter
	lim  Limits
	out  int64 // bytes produced
	left int64 // bytes that may still be produced; negative for no limit
	err  error // sticky
}

// NewReader makes a reader of the frames in r. A window above the limit, or output
// past it, is ErrLimit; damage is ErrCorrupt; an error of r is passed on. A stream
// that ends within a frame gives what was decoded and then io.ErrUnexpectedEOF.
func NewReader(r io.Reader, lim Limits) (z *Reader, err error) {
	lim = lim.withDefaults()
	defer func() {
		if recovered(&err) {
			z = nil
		}
	}()
	z = &Reader{in: counter{r: r}, lim: lim, left: -1}
	z.d, err = zstd.NewReader(&z.in,
		zstd.WithDecoderConcurrency(1), // synchronous: no goroutine to leak
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(uint64(lim.Window)),
		zstd.WithDecoderMaxMemory(uint64(lim.Window)),
		zstd.WithDecodeBuffersBelow(0),
	)
	if err != nil {
		return nil, wrap(err)
	}
	if lim.Output > 0 {
		z.left = lim.Output
	}
	return z, nil
}

// Read implements io.Reader.
func (z *Reader) Read(p []byte) (n int, err error) {
	if z.err != nil {
		return 0, z.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	// One byte more than allowed is asked for, to tell an end at the limit from
	// output past it.
	if z.left >= 0 && int64(len(p)) > z.left+1 {
		p = p[:z.left+1]
	}
	n, err = z.read(p)
	if z.left >= 0 {
		if int64(n) > z.left {
			n = int(z.left)
			err = fmt.Errorf("%w: more output than allowed", ErrLimit)
		}
		z.left -= int64(n)
	}
	if z.out += int64(n); z.lim.Ratio > 0 && z.out > z.lim.RatioFrom && z.out/z.lim.Ratio > z.in.n {
		n, err = 0, fmt.Errorf("%w: %d bytes from %d", ErrLimit, z.out, z.in.n)
	}
	z.err = err
	return n, err
}

// A counter counts the bytes that were read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func (z *Reader) read(p []byte) (n int, err error) {
	defer recovered(&err)
	n, err = z.d.Read(p)
	switch err {
	case nil, io.EOF, io.ErrUnexpectedEOF:
		return n, err
	}
	return n, wrap(err)
}

// Close frees the reader. It does not close the reader below.
func (z *Reader) Close() (err error) {
	if z.err == nil {
		z.err = zstd.ErrDecoderClosed
	}
	defer recovered(&err)
	z.d.Close()
	return nil
}

// NewWriter makes a writer that compresses into w as one frame; Close ends the
// frame and does not close w.
func NewWriter(w io.Writer, level Level) (io.WriteCloser, error) {
	e, err := zstd.NewWriter(w,
		zstd.WithEncoderLevel(level.encoder()),
		zstd.WithEncoderConcurrency(1),
		zstd.WithLowerEncoderMem(true),
		zstd.WithWindowSize(1<<20))
	if err != nil {
		return nil, wrap(err)
	}
	return e, nil
}
