package store

import (
	"errors"
	"fmt"
	"iter"

	"github.com/cockroachdb/pebble/v2"

	"github.com/hansard-search/hansard/engine/archive"
)

// Head reads the head of a session, with its content hash.
func (sn *Snapshot) Head(no No) (h *archive.Session, err error) {
	err = sn.use(func(db *pebble.Snapshot) error {
		p, err := living(db, no)
		if err != nil {
			return err
		}
		if h, err = sn.s.readHead(db, &p); err != nil {
			return fmt.Errorf("session %s: %w", p.ID, err)
		}
		return nil
	})
	return h, err
}

func (s *Store) readHead(db pebble.Reader, p *Summary) (*archive.Session, error) {
	var raw []byte
	var due uint32
	err := scan(db, keyRevision(prefixHead, p.No, p.Rev), func(k, v []byte) error {
		if len(k) != 21 || get32(k[17:]) != due {
			return corruptf("head: chunk %d is missing", due)
		}
		due++
		var err error
		raw, err = s.openFrame(raw, v, headChunk)
		return err
	})
	if err != nil {
		return nil, err
	}
	if int64(len(raw)) != p.HeadBytes {
		return nil, corruptf("head: %d bytes instead of %d", len(raw), p.HeadBytes)
	}
	h, err := decodeHead(string(raw))
	if err != nil {
		return nil, err
	}
	h.ContentHash = p.Hash
	return h, nil
}

// Message reads one message.
func (sn *Snapshot) Message(no No, pos int) (m *archive.Message, err error) {
	err = sn.use(func(db *pebble.Snapshot) error {
		p, err := living(db, no)
		if err != nil {
			return err
		}
		if pos < 0 || int64(pos) >= p.Messages {
			return fmt.Errorf("session %s: message %d: %w", p.ID, pos, ErrNotFound)
		}
		page, err := sn.s.readMessages(db, &p, pos, 1)
		if err != nil {
			return fmt.Errorf("session %s: message %d: %w", p.ID, pos, err)
		}
		m = page[0]
		return nil
	})
	return m, err
}

// Block reads block j of message pos. It costs one frame, or those of the block if
// it is longer than a frame.
func (sn *Snapshot) Block(no No, pos, j int) (b archive.Block, err error) {
	err = sn.use(func(db *pebble.Snapshot) error {
		p, err := living(db, no)
		if err != nil {
			return err
		}
		if pos < 0 || int64(pos) >= p.Messages || j < 0 || j >= maxBlocks {
			return fmt.Errorf("session %s: block %d.%d: %w", p.ID, pos, j, ErrNotFound)
		}
		if b, err = sn.s.readBlock(db, &p, place{uint32(pos), uint32(j) + 1}); err != nil {
			return fmt.Errorf("session %s: block %d.%d: %w", p.ID, pos, j, err)
		}
		return nil
	})
	return b, err
}

func (s *Store) readBlock(db pebble.Reader, p *Summary, at place) (b archive.Block, err error) {
	w, err := s.items(db, p.No, p.Rev, at, nil)
	if err != nil {
		return b, s.missing(db, p, at, err)
	}
	defer func() { err = errors.Join(err, w.close()) }()
	item, _, err := w.next()
	if err != nil {
		return b, err
	}
	return decodeBlock(item)
}

// missing tells a block that the message does not have from a damaged one: the
// message says how many it has.
func (s *Store) missing(db pebble.Reader, p *Summary, at place, cause error) error {
	if !errors.Is(cause, ErrCorrupt) {
		return cause
	}
	w, err := s.items(db, p.No, p.Rev, place{msg: at.msg}, nil)
	if err != nil {
		return cause
	}
	item, _, err := w.next()
	if err = errors.Join(err, w.close()); err != nil {
		return cause
	}
	if _, n, err := decodeMessage(item); err == nil && int64(at.blk) > int64(n) {
		return ErrNotFound
	}
	return cause
}

const (
	pageBytes    = 1 << 20 // of items that Messages reads at a time
	pageMessages = 256
)

// Messages gives the messages of a session from a position on. It reads about a
// megabyte at a time and does not hold the snapshot while the caller works; each
// message is the caller's.
func (sn *Snapshot) Messages(no No, from int) iter.Seq2[*archive.Message, error] {
	return func(yield func(*archive.Message, error) bool) {
		p, err := sn.Summary(no)
		if err != nil {
			yield(nil, err)
			return
		}
		for pos := max(from, 0); int64(pos) < p.Messages; {
			var page []*archive.Message
			err := sn.use(func(db *pebble.Snapshot) (err error) {
				page, err = sn.s.readMessages(db, &p, pos, pageMessages)
				return err
			})
			for _, m := range page {
				if !yield(m, nil) {
					return
				}
			}
			pos += len(page)
			if err != nil {
				yield(nil, fmt.Errorf("session %s: message %d: %w", p.ID, pos, err))
				return
			}
		}
	}
}

// readMessages reads up to limit messages, fewer if they are long, and at least one
// without an error. With an error it gives those before it.
func (s *Store) readMessages(db pebble.Reader, p *Summary, pos, limit int) (list []*archive.Message, err error) {
	w, err := s.items(db, p.No, p.Rev, place{msg: uint32(pos)}, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	size := 0
	for len(list) < limit && size < pageBytes {
		m, n, err := w.message()
		if err != nil {
			return list, err
		}
		list = append(list, m)
		size += n
		pos++
		if int64(pos) == p.Messages {
			return list, nil
		}
		more, err := w.advance(place{msg: uint32(pos)})
		if err == nil && !more {
			err = corruptf("ends after %d of %d messages", pos, p.Messages)
		}
		if err != nil {
			return list, err
		}
	}
	return list, nil
}

// message reads the message at w.at with its blocks; size is that of its items.
func (w *items) message() (m *archive.Message, size int, err error) {
	at := w.at
	item, _, err := w.next()
	if err != nil {
		return nil, 0, err
	}
	m, blocks, err := decodeMessage(item)
	if err != nil {
		return nil, 0, err
	}
	m.Position = int(at.msg)
	size = len(item)
	for j := range blocks {
		at.blk = uint32(j) + 1
		more, err := w.advance(at)
		if err == nil && !more {
			err = corruptf("ends before block %d of %d", j, blocks)
		}
		if err != nil {
			return nil, 0, err
		}
		item, _, err := w.next()
		if err != nil {
			return nil, 0, err
		}
		b, err := decodeBlock(item)
		if err != nil {
			return nil, 0, err
		}
		m.Blocks = append(m.Blocks, b)
		size += len(item)
	}
	return m, size, nil
}
