package source

import (
	"fmt"
	"io"

	"github.com/hansard-search/hansard/engine/internal/zstdx"
)

// Limits of a compressed file, counted on bytes that are produced. A rollout of
// 400 MB was seen in use, so the total is ten times that. Transcripts compress
// between 3 and 100 times, the most repetitive ones below 200: past 32 MiB, where a
// bomb has cost little yet, 256 times is a bomb. Compressors use windows of 8 MiB and
// less unless they are told to go to extremes.
var zstdLimits = zstdx.Limits{Window: 16 << 20, Output: 4 << 30, Ratio: 256, RatioFrom: 32 << 20}

// decompress reads a zstd file. A file that ends within a frame, as one does that is
// still being written or was copied in part, ends there: see Cut.
func (o *Opened) decompress(raw io.Reader) (io.ReadCloser, error) {
	z, err := zstdx.NewReader(raw, zstdLimits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Path, err)
	}
	return &cutReader{Reader: z, o: o}, nil
}

// Cut tells whether a compressed file ended within a frame, and how many bytes came
// before. It knows after the content was read to its end.
func (o *Opened) Cut() (at int64, cut bool) { return o.cut, o.cut >= 0 }

// A cutReader takes the end of a file within a frame for the end of the content.
type cutReader struct {
	*zstdx.Reader
	o *Opened
	n int64
}

func (c *cutReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	if err == io.ErrUnexpectedEOF {
		c.o.cut, err = c.n, io.EOF
	}
	return n, err
}
