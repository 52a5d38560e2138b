package store

import "hash"

// Frames are cut where an item ends, near frameTarget. An item longer than frameMax
// has frames of its own, all but the last full. So a frame holds either whole items
// from the place in its key on, or one part of the item of its key, and to find an
// item one looks for the last frame that begins at or before it.
const (
	frameTarget = 16 << 10
	frameSmall  = 4 << 10 // a frame shorter than this is not cut for the sake of the target
	frameMax    = 64 << 10
)

// A cutter cuts a stream of items into frames.
type cutter struct {
	emit  func(at place, part uint32, raw []byte) error
	hash  hash.Hash // over the stream; does not see where it is cut
	buf   []byte
	first place // place of the first item in buf
	long  bool  // the item being written has frames of its own
	part  uint32
	total int64
}

// begin starts an item of size bytes at a place.
func (c *cutter) begin(at place, size int) error {
	c.long = size > frameMax
	if len(c.buf) > 0 {
		sum := len(c.buf) + size
		if c.long || sum > frameMax || sum > frameTarget && len(c.buf) >= frameSmall {
			if err := c.cut(); err != nil {
				return err
			}
		}
	}
	if len(c.buf) == 0 {
		c.first, c.part = at, 0
	}
	return nil
}

// write adds bytes to the item. It is generic to take texts without copying them.
func write[S ~string | ~[]byte](c *cutter, s S) error {
	for c.long && len(c.buf)+len(s) > frameMax {
		n := frameMax - len(c.buf)
		c.buf = append(c.buf, s[:n]...)
		s = s[n:]
		if err := c.cut(); err != nil {
			return err
		}
		c.part++
	}
	c.buf = append(c.buf, s...)
	return nil
}

// end ends the item.
func (c *cutter) end() error {
	if c.long || len(c.buf) >= frameTarget {
		return c.cut()
	}
	return nil
}

// cut emits what is in the buffer as a frame.
func (c *cutter) cut() error {
	if len(c.buf) == 0 {
		return nil
	}
	c.hash.Write(c.buf)
	c.total += int64(len(c.buf))
	err := c.emit(c.first, c.part, c.buf)
	c.buf = c.buf[:0]
	return err
}

// A frame's value is frameVersion, the id of its dictionary as a uvarint (0 for
// none), and a zstd frame. The chunks of heads and of source bytes are stored so too.
const frameVersion = 1

// appendFrame compresses a frame.
func (s *Store) appendFrame(dst, raw []byte) []byte {
	d := s.dicts.Load()
	e := encoder{dst}
	e.byte(frameVersion)
	e.uint(uint64(d.current))
	return d.codecs[d.current].Encode(e.b, raw)
}

// openFrame appends the content of a frame to dst.
func (s *Store) openFrame(dst, value []byte, maxLen int) ([]byte, error) {
	if len(value) < 2 || value[0] != frameVersion {
		return dst, corruptf("frame: %w", errVersion)
	}
	id, n := uvarint(value[1:])
	if n <= 0 || id > 1<<32-1 {
		return dst, corruptf("frame: %w", errSpell)
	}
	codec := s.dicts.Load().codecs[uint32(id)]
	if codec == nil {
		return dst, corruptf("frame: dictionary %d is missing", id)
	}
	dst, err := codec.Decode(dst, value[1+n:], maxLen)
	if err != nil {
		return dst, mapErr(err)
	}
	return dst, nil
}
