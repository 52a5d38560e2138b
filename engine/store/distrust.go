package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Distrust notes that sessions cannot be read as they are stored, so that the next
// import of their source files writes them again: their hashes are forgotten, for an
// equal session is not written twice, and so is what the cursors of their files say
// of the parser, for a known file is not read again. With dirty they are marked too:
// the index lacks them. It gives the marks, in the order of nos. What is unreadable
// stays as it is. Doing it twice changes nothing more.
func (s *Store) Distrust(ctx context.Context, nos []No, dirty bool) ([]Ref, error) {
	var marks []Ref
	err := s.do(ctx, func() error {
		t, err := s.begin()
		if err != nil {
			return err
		}
		defer t.close()
		marks = make([]Ref, len(nos))
		for i, no := range nos {
			marks[i] = Ref{no, t.state.Generation}
			if err := t.distrust(no, dirty); err != nil {
				return fmt.Errorf("session %d: %w", no, err)
			}
		}
		if t.b.Empty() {
			return nil
		}
		return t.sync()
	})
	if err != nil {
		return nil, fmt.Errorf("distrust: %w", err)
	}
	return marks, nil
}

func (t *txn) distrust(no No, dirty bool) error {
	p, ok, err := pointer(t.b, no)
	switch {
	case errors.Is(err, ErrCorrupt):
		// Nothing more is known of it. Its next commit puts it in order.
		if dirty {
			return t.mark(no, 1)
		}
		return nil
	case err != nil || !ok:
		return err
	}
	if p.Hash != ([32]byte{}) {
		p.Hash = [32]byte{}
		if err := t.b.Set(key64(prefixPointer, uint64(no)), p.encode(), nil); err != nil {
			return err
		}
	}
	if dirty {
		if err := t.mark(no, p.Rev); err != nil {
			return err
		}
	}
	return t.unsee(p.Path)
}

// unsee makes the cursor of a file one of no known parser.
func (t *txn) unsee(path string) error {
	key := keyString(prefixCursor, path)
	var c Cursor
	found, err := get(t.b, key, func(v []byte) (err error) {
		c, err = decodeCursor(path, v)
		return err
	})
	switch {
	case errors.Is(err, ErrCorrupt):
		return t.b.Delete(key, nil)
	case err != nil || !found || c.Fingerprint == "":
		return err
	}
	c.Fingerprint = ""
	return t.b.Set(key, c.encode(), nil)
}

// dropBefore drops all revisions of a session before rev: its pointer does not say
// which one it stood at.
func dropBefore(b *pebble.Batch, no No, rev uint64) error {
	for _, prefix := range []byte{prefixFrame, prefixHead} {
		if err := b.DeleteRange(keyRevision(prefix, no, 0), keyRevision(prefix, no, rev), nil); err != nil {
			return err
		}
	}
	return nil
}
