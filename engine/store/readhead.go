package store

import (
	"fmt"
	"math"

	"github.com/cockroachdb/pebble/v2"

	"github.com/hansard-search/hansard/engine/archive"
)

// Head reads the head of a session, with its content hash.
func (sn *Snapshot) Head(no No) (h *archive.Session, err error) {
	return sn.head(no, sn.s.readHead)
}

// Brief reads what is small of the head of a session, by two look-ups however long
// the session is. It is what Head gives, but Instructions is empty, and Events, Refs
// and Actions are nil whatever the session has of them.
func (sn *Snapshot) Brief(no No) (h *archive.Session, err error) {
	return sn.head(no, func(db pebble.Reader, p *Summary) (*archive.Session, error) {
		h, _, err := sn.s.readBrief(db, p)
		return h, err
	})
}

func (sn *Snapshot) head(no No, read func(pebble.Reader, *Summary) (*archive.Session, error)) (h *archive.Session, err error) {
	err = sn.use(func(db *pebble.Snapshot) error {
		p, err := living(db, no)
		if err != nil {
			return err
		}
		if h, err = read(db, &p); err != nil {
			return fmt.Errorf("session %s: %w", p.ID, err)
		}
		return nil
	})
	return h, err
}

func (s *Store) readHead(db pebble.Reader, p *Summary) (*archive.Session, error) {
	h, size, err := s.readBrief(db, p)
	if err != nil {
		return nil, err
	}
	buf := s.buffer()
	defer s.putBuffer(buf)
	buf.b = buf.b[:0]
	for i := uint32(1); int64(size+len(buf.b)) < p.HeadBytes; i++ {
		if err := s.headChunk(db, p, i, buf, headChunkBytes); err != nil {
			return nil, err
		}
	}
	if n := int64(size + len(buf.b)); n != p.HeadBytes {
		return nil, corruptf("head: %d bytes instead of %d", n, p.HeadBytes)
	}
	return h, decodeRest(h, string(buf.b))
}

// readBrief reads the brief; size is that of its bytes.
func (s *Store) readBrief(db pebble.Reader, p *Summary) (h *archive.Session, size int, err error) {
	buf := s.buffer()
	defer s.putBuffer(buf)
	buf.b = buf.b[:0]
	if err := s.headChunk(db, p, 0, buf, int(min(p.HeadBytes, math.MaxInt))); err != nil {
		return nil, 0, err
	}
	if h, err = decodeBrief(string(buf.b)); err != nil {
		return nil, 0, err
	}
	h.ContentHash = p.Hash
	return h, len(buf.b), nil
}

// headChunk appends a chunk of a head to buf.
func (s *Store) headChunk(db pebble.Reader, p *Summary, i uint32, buf *buffer, maxLen int) error {
	before := len(buf.b)
	found, err := get(db, keyHead(p.No, p.Rev, i), func(v []byte) (err error) {
		buf.b, err = s.openFrame(buf.b, v, maxLen)
		return err
	})
	if err == nil && (!found || len(buf.b) == before) {
		err = corruptf("head: chunk %d is missing", i)
	}
	return err
}
