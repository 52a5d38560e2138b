package store

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/hansard-search/hansard/engine/archive"
)

// Block reads block j of message pos. It costs one frame, or those of the block if
// it is longer than a frame.
func (sn *Snapshot) Block(no No, pos, j int) (b archive.Block, err error) {
	err = sn.block(no, pos, j, func(db pebble.Reader, p *Summary) (err error) {
		b, err = sn.s.readBlock(db, p, place{uint32(pos), uint32(j) + 1})
		return err
	})
	return b, err
}

// Hit reads what a search shows of block j of message pos: the fields of the message
// and of its blocks this one alone, as Blocks[0]. It costs one frame, two if the
// block is not in that of the message's fields, or those of the block if it is
// longer than a frame.
func (sn *Snapshot) Hit(no No, pos, j int) (m *archive.Message, err error) {
	err = sn.block(no, pos, j, func(db pebble.Reader, p *Summary) (err error) {
		m, err = sn.s.readHit(db, p, place{uint32(pos), uint32(j) + 1})
		return err
	})
	return m, err
}

// Shown is Brief and Hit at once, for one look-up less.
func (sn *Snapshot) Shown(no No, pos, j int) (h *archive.Session, m *archive.Message, err error) {
	err = sn.block(no, pos, j, func(db pebble.Reader, p *Summary) (err error) {
		if h, _, err = sn.s.readBrief(db, p); err != nil {
			return err
		}
		m, err = sn.s.readHit(db, p, place{uint32(pos), uint32(j) + 1})
		return err
	})
	return h, m, err
}

// block runs f for a block that a session may have, and names it in the error.
func (sn *Snapshot) block(no No, pos, j int, f func(db pebble.Reader, p *Summary) error) error {
	return sn.message(no, pos, func(db pebble.Reader, p *Summary) error {
		err := ErrNotFound
		if j >= 0 && j < maxBlocks {
			err = f(db, p)
		}
		if err != nil {
			return fmt.Errorf("block %d: %w", j, err)
		}
		return nil
	})
}

func (s *Store) readBlock(db pebble.Reader, p *Summary, at place) (b archive.Block, err error) {
	w, err := s.items(db, p, at, nil)
	if err != nil {
		return b, s.missing(db, p, at, err)
	}
	defer func() { err = errors.Join(err, w.close()) }()
	return w.block()
}

func (s *Store) readHit(db pebble.Reader, p *Summary, at place) (m *archive.Message, err error) {
	w, err := s.items(db, p, place{msg: at.msg}, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	m, blocks, err := w.fields()
	if err != nil {
		return nil, err
	}
	if int64(at.blk) > int64(blocks) {
		return nil, ErrNotFound
	}
	if err := w.reach(at); err != nil {
		return nil, err
	}
	b, err := w.block()
	if err != nil {
		return nil, err
	}
	m.Blocks = []archive.Block{b}
	return m, nil
}

// missing tells a block that the message does not have from a damaged one: the
// message says how many it has.
func (s *Store) missing(db pebble.Reader, p *Summary, at place, cause error) error {
	if !errors.Is(cause, ErrCorrupt) {
		return cause
	}
	w, err := s.items(db, p, place{msg: at.msg}, nil)
	if err != nil {
		return cause
	}
	_, blocks, err := w.fields()
	if err = errors.Join(err, w.close()); err == nil && int64(at.blk) > int64(blocks) {
		return ErrNotFound
	}
	return cause
}
