package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/cockroachdb/pebble/v2"
)

// RawInfo describes stored source bytes; ErrNotFound without them.
func (sn *Snapshot) RawInfo(id RawID) (info RawInfo, err error) {
	err = sn.use(func(db *pebble.Snapshot) error {
		m, ok, err := readManifest(db, id)
		if err == nil && !ok {
			err = fmt.Errorf("raw %v: %w", id, ErrNotFound)
		}
		info = RawInfo{id, m.Size, m.Meta}
		return err
	})
	return info, err
}

// OpenRaw opens stored source bytes. Every chunk is checked against its hash before
// a byte of it is given, and the whole against its id at the end. The reader keeps
// the snapshot until it is closed.
func (sn *Snapshot) OpenRaw(id RawID) (io.ReadCloser, error) {
	r := &rawReader{sn: sn, id: id, whole: sha256.New()}
	err := sn.use(func(db *pebble.Snapshot) error {
		m, ok, err := readManifest(db, id)
		if err == nil && !ok {
			err = fmt.Errorf("raw %v: %w", id, ErrNotFound)
		}
		r.m = m
		return err
	})
	if err != nil {
		return nil, err
	}
	sn.Retain()
	return r, nil
}

// OpenRaw is Snapshot.OpenRaw on a snapshot of its own.
func (s *Store) OpenRaw(id RawID) (io.ReadCloser, error) {
	sn, err := s.Snapshot()
	if err != nil {
		return nil, err
	}
	r, err := sn.OpenRaw(id)
	// The reader has its own hold on the snapshot.
	return r, errors.Join(err, sn.Close())
}

// rawReader reads the chunks of raw bytes in turn.
type rawReader struct {
	sn     *Snapshot
	id     RawID
	m      manifest
	whole  hash.Hash
	next   int
	chunk  []byte
	err    error // sticky
	closed bool
}

func (r *rawReader) Read(p []byte) (int, error) {
	for len(r.chunk) == 0 && r.err == nil {
		r.err = r.fetch()
	}
	if r.err != nil {
		return 0, r.err
	}
	n := copy(p, r.chunk)
	r.chunk = r.chunk[n:]
	return n, nil
}

func (r *rawReader) fetch() error {
	if r.next == len(r.m.Chunks) {
		if RawID(r.whole.Sum(nil)) != r.id {
			return corruptf("raw %v has other bytes", r.id)
		}
		return io.EOF
	}
	err := r.sn.use(func(db *pebble.Snapshot) (err error) {
		r.chunk, err = r.sn.s.readChunk(db, r.m.Chunks[r.next])
		return err
	})
	if err != nil {
		return fmt.Errorf("raw %v: %w", r.id, err)
	}
	r.whole.Write(r.chunk)
	r.next++
	return nil
}

func (r *rawReader) Close() error {
	if r.closed {
		return nil
	}
	r.closed, r.chunk, r.err = true, nil, ErrClosed
	return r.sn.Close()
}
