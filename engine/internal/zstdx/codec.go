package zstdx

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// A Codec encodes and decodes small frames of one dictionary. It is safe for
// concurrent use; it keeps up to one encoder and one decoder per processor.
type Codec struct {
	level Level
	dict  []byte
	enc   chan *zstd.Encoder // idle encoders
	dec   chan *zstd.Decoder // idle decoders
}

// NewCodec makes a codec. An empty dict means none; a dictionary that [BuildDict]
// did not make, or that is damaged, is ErrCorrupt. The codec keeps dict.
func NewCodec(level Level, dict []byte) (*Codec, error) {
	n := runtime.GOMAXPROCS(0)
	c := &Codec{level: level, dict: dict, enc: make(chan *zstd.Encoder, n), dec: make(chan *zstd.Decoder, n)}
	e, err := c.newEncoder()
	if err != nil {
		return nil, err
	}
	d, err := c.newDecoder()
	if err != nil {
		return nil, err
	}
	c.enc <- e
	c.dec <- d
	return c, nil
}

func (c *Codec) newEncoder() (e *zstd.Encoder, err error) {
	defer recovered(&err)
	opts := []zstd.EOption{
		zstd.WithEncoderLevel(c.level.encoder()),
		zstd.WithEncoderConcurrency(1),
		zstd.WithLowerEncoderMem(true),
		zstd.WithWindowSize(1 << 20), // inputs are rarely longer, and the encoder takes memory for all of it
		zstd.WithSingleSegment(true), // the content size stands in the header, where Decode looks first
		zstd.WithZeroFrames(true),    // empty input has a frame too
	}
	if len(c.dict) > 0 {
		opts = append(opts, zstd.WithEncoderDict(c.dict))
	}
	if e, err = zstd.NewWriter(nil, opts...); err != nil {
		return nil, wrap(err)
	}
	return e, nil
}

func (c *Codec) newDecoder() (d *zstd.Decoder, err error) {
	defer recovered(&err)
	opts := []zstd.DOption{
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecodeAllCapLimit(true),
	}
	if len(c.dict) > 0 {
		opts = append(opts, zstd.WithDecoderDicts(c.dict))
	}
	if d, err = zstd.NewReader(nil, opts...); err != nil {
		return nil, wrap(err)
	}
	return d, nil
}

// Encode appends the frame of src to dst.
func (c *Codec) Encode(dst, src []byte) []byte {
	var e *zstd.Encoder
	select {
	case e = <-c.enc:
	default:
		var err error
		if e, err = c.newEncoder(); err != nil {
			panic("zstdx: an encoder that NewCodec could make cannot be made again: " + err.Error())
		}
	}
	dst = e.EncodeAll(src, dst)
	select {
	case c.enc <- e:
	default:
	}
	return dst
}

// Decode appends the content of the frame src to dst and returns it. A frame whose
// content is longer than maxLen is ErrLimit, before it is decoded; a frame without
// a stated size, with bytes after it, or of another dictionary is ErrCorrupt. On
// an error dst is returned as it was.
func (c *Codec) Decode(dst, src []byte, maxLen int) ([]byte, error) {
	var h zstd.Header
	if err := h.Decode(src); err != nil {
		return dst, wrap(err)
	}
	if h.Skippable || !h.HasFCS {
		return dst, fmt.Errorf("%w: no content size", ErrCorrupt)
	}
	if maxLen < 0 || h.FrameContentSize > uint64(maxLen) {
		return dst, fmt.Errorf("%w: content of %d bytes, limit %d", ErrLimit, h.FrameContentSize, maxLen)
	}
	size := int(h.FrameContentSize)
	// A frame decodes to at most 128 KiB per four bytes of it: a short frame that
	// claims much is refused before the claim is believed.
	if uint64(size) > uint64(len(src))*(maxBlock/4) {
		return dst, fmt.Errorf("%w: %d bytes cannot hold %d", ErrCorrupt, len(src), size)
	}
	n := len(dst)
	out := slices.Grow(dst, size)
	// The capacity is the limit that the library keeps to; the bytes before dst's
	// end are hidden from it.
	got, err := c.decodeAll(out[n:n:n+size], src)
	if err != nil {
		return dst, err
	}
	if len(got) != size {
		return dst, fmt.Errorf("%w: %d bytes instead of %d", ErrCorrupt, len(got), size)
	}
	if size == 0 {
		return out[:n], nil
	}
	if &got[0] != &out[n : n+size][0] {
		return append(out[:n], got...), nil
	}
	return out[:n+size], nil
}

// maxBlock is the most that one block of a frame decodes to.
const maxBlock = 128 << 10

func (c *Codec) decodeAll(dst, src []byte) (out []byte, err error) {
	var d *zstd.Decoder
	select {
	case d = <-c.dec:
	default:
		if d, err = c.newDecoder(); err != nil {
			return nil, err
		}
	}
	// A decoder that panicked is not put back: its state is unknown.
	defer recovered(&err)
	out, err = d.DecodeAll(src, dst)
	select {
	case c.dec <- d:
	default:
	}
	if err != nil {
		// The stated size was within the limit, so to pass it is damage too.
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return out, nil
}
