package store

import (
	"errors"
	"fmt"
	"iter"

	"github.com/cockroachdb/pebble/v2"

	"github.com/hansard-search/hansard/engine/archive"
)

// Message reads one message.
func (sn *Snapshot) Message(no No, pos int) (m *archive.Message, err error) {
	err = sn.message(no, pos, func(db pebble.Reader, p *Summary) error {
		page, err := sn.s.readMessages(db, p, pos, 1)
		if err == nil {
			m = page[0]
		}
		return err
	})
	return m, err
}

// message runs f for a message that a session has, and names it in the error.
func (sn *Snapshot) message(no No, pos int, f func(db pebble.Reader, p *Summary) error) error {
	return sn.use(func(db *pebble.Snapshot) error {
		p, err := living(db, no)
		if err != nil {
			return err
		}
		if pos < 0 || int64(pos) >= p.Messages {
			return fmt.Errorf("session %s: message %d: %w", p.ID, pos, ErrNotFound)
		}
		if err := f(db, &p); err != nil {
			return fmt.Errorf("session %s: message %d: %w", p.ID, pos, err)
		}
		return nil
	})
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
	w, err := s.items(db, p, place{msg: uint32(pos)}, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	for len(list) < limit && w.passed < pageBytes {
		m, err := w.message()
		if err != nil {
			return list, err
		}
		list = append(list, m)
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

// message reads the message at w.at with its blocks.
func (w *items) message() (*archive.Message, error) {
	at := w.at
	m, blocks, err := w.fields()
	if err != nil || blocks == 0 {
		return m, err
	}
	m.Blocks = make([]archive.Block, 0, min(blocks, 1024))
	for j := range blocks {
		at.blk = uint32(j) + 1
		more, err := w.advance(at)
		if err == nil && !more {
			err = corruptf("ends before block %d of %d", j, blocks)
		}
		if err != nil {
			return nil, err
		}
		b, err := w.block()
		if err != nil {
			return nil, err
		}
		m.Blocks = append(m.Blocks, b)
	}
	return m, nil
}

// fields reads the fields of the message at w.at; blocks is how many it has.
func (w *items) fields() (m *archive.Message, blocks int, err error) {
	pos := int(w.at.msg)
	item, _, err := w.next()
	if err != nil {
		return nil, 0, err
	}
	m, blocks, err = decodeMessage(item)
	if err != nil {
		return nil, 0, err
	}
	m.Position = pos
	return m, blocks, nil
}

// block reads the block at w.at.
func (w *items) block() (archive.Block, error) {
	item, _, err := w.next()
	if err != nil {
		return archive.Block{}, err
	}
	return decodeBlock(item)
}
