package store

import (
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/hansard-search/hansard/engine/archive"
)

// A Snapshot is the store as it was at one moment. It is safe for concurrent use and
// counted: each Retain and the making of it need one Close. It holds space on disk
// while it is open. Its methods answer ErrClosed after the last Close, and after the
// store's.
type Snapshot struct {
	s     *Store
	refs  atomic.Int64
	mu    sync.RWMutex // guards db against being closed in use
	db    *pebble.Snapshot
	state state
	bare  atomic.Int32 // 1 if it holds no overlay at all, 2 if it does; 0 not known yet
}

// Snapshot takes a snapshot of what is committed. It costs microseconds.
func (s *Store) Snapshot() (*Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return nil, ErrClosed
	}
	sn := &Snapshot{s: s, db: s.db.NewSnapshot()}
	sn.refs.Store(1)
	s.snaps[sn] = struct{}{}
	// The counters come from the snapshot itself: they must fit what it holds.
	sn.state = state{NextNo: 1}
	_, err := get(sn.db, keyState, func(v []byte) error {
		var err error
		sn.state, err = decodeState(v)
		return err
	})
	if err != nil {
		delete(s.snaps, sn)
		_ = sn.db.Close() // the error below says more
		return nil, err
	}
	return sn, nil
}

// Snapshots counts the snapshots that are open.
func (s *Store) Snapshots() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.snaps)
}

// Retain adds a user. It may be called only while the snapshot is open.
func (sn *Snapshot) Retain() { sn.refs.Add(1) }

// Close takes a user away; the last one frees the snapshot.
func (sn *Snapshot) Close() error {
	switch n := sn.refs.Add(-1); {
	case n > 0:
		return nil
	case n < 0:
		return ErrClosed
	}
	sn.s.mu.Lock()
	delete(sn.s.snaps, sn)
	sn.s.mu.Unlock()
	return sn.end()
}

func (sn *Snapshot) end() error {
	sn.mu.Lock()
	defer sn.mu.Unlock()
	if sn.db == nil {
		return nil
	}
	db := sn.db
	sn.db = nil
	return sn.s.release(db)
}

// use runs f with the database, which stays open until it returns.
func (sn *Snapshot) use(f func(db *pebble.Snapshot) error) error {
	sn.mu.RLock()
	defer sn.mu.RUnlock()
	if sn.db == nil {
		return ErrClosed
	}
	return f(sn.db)
}

// Generation counts the commits that changed a session.
func (sn *Snapshot) Generation() uint64 { return sn.state.Generation }

// OverlayGeneration counts the changes of overlays.
func (sn *Snapshot) OverlayGeneration() uint64 { return sn.state.Overlays }

// MaxNo is the highest number a session of the snapshot may have.
func (sn *Snapshot) MaxNo() No { return sn.state.NextNo - 1 }

// Lookup gives the number of a living session.
func (sn *Snapshot) Lookup(id archive.SessionID) (no No, ok bool, err error) {
	err = sn.use(func(db *pebble.Snapshot) error {
		if no, ok, err = lookup(db, id); err != nil || !ok {
			return err
		}
		ok, err = has(db, key64(prefixPointer, uint64(no)))
		return err
	})
	return no, ok, err
}

// IDs gives the living sessions whose id begins with prefix, sorted by id, at most
// limit of them; 0 is no limit.
func (sn *Snapshot) IDs(prefix string, limit int) (ids []archive.SessionID, err error) {
	err = sn.use(func(db *pebble.Snapshot) error {
		return scan(db, keyString(prefixID, prefix), func(k, v []byte) error {
			if len(v) != 8 {
				return corruptf("session id %s: bad number", k[1:])
			}
			living, err := has(db, key64(prefixPointer, get64(v)))
			if err != nil || !living {
				return err
			}
			ids = append(ids, archive.SessionID(k[1:]))
			if len(ids) == limit {
				return errStop
			}
			return nil
		})
	})
	return ids, err
}

// Summary gives what the pointer of a session says; ErrNotFound without one.
func (sn *Snapshot) Summary(no No) (p Summary, err error) {
	err = sn.use(func(db *pebble.Snapshot) error {
		p, err = living(db, no)
		return err
	})
	return p, err
}

func living(db pebble.Reader, no No) (Summary, error) {
	p, ok, err := pointer(db, no)
	if err == nil && !ok {
		err = fmt.Errorf("session %d: %w", no, ErrNotFound)
	}
	return p, err
}

// Sessions gives all living sessions by number. It does not hold the snapshot while
// the caller works.
func (sn *Snapshot) Sessions() iter.Seq2[Summary, error] {
	return pages(sn, []byte{prefixPointer}, func(k, v []byte) (Summary, error) {
		if len(k) != 9 {
			return Summary{}, corruptf("pointer: bad key")
		}
		return decodeSummary(No(get64(k[1:])), v)
	})
}

// pages gives the decoded values of all keys with a prefix, a page of them at a time.
func pages[T any](sn *Snapshot, prefix []byte, decode func(k, v []byte) (T, error)) iter.Seq2[T, error] {
	const pageLen = 256
	return func(yield func(T, error) bool) {
		from := prefix
		page := make([]T, 0, pageLen)
		for from != nil {
			page = page[:0]
			start := from
			from = nil
			err := sn.use(func(db *pebble.Snapshot) error {
				return scanRange(db, start, prefixEnd(prefix), func(k, v []byte) error {
					if len(page) == pageLen {
						from = append([]byte(nil), k...)
						return errStop
					}
					t, err := decode(k, v)
					if err == nil {
						page = append(page, t)
					}
					return err
				})
			})
			for _, t := range page {
				if !yield(t, nil) {
					return
				}
			}
			if err != nil {
				var zero T
				yield(zero, err)
				return
			}
		}
	}
}

// collect drains a sequence.
func collect[T any](seq iter.Seq2[T, error]) (list []T, err error) {
	for t, err := range seq {
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

// Dirty lists what the index lacks, by number.
func (sn *Snapshot) Dirty() ([]Dirty, error) {
	return collect(pages(sn, []byte{prefixDirty}, func(k, v []byte) (Dirty, error) {
		if len(k) != 9 {
			return Dirty{}, corruptf("dirty mark: bad key")
		}
		return decodeDirty(No(get64(k[1:])), v)
	}))
}

// Segments lists the live segments in their order.
func (sn *Snapshot) Segments() ([]SegmentRecord, error) {
	return collect(pages(sn, []byte{prefixSegment}, func(_, v []byte) (SegmentRecord, error) {
		return decodeSegment(v)
	}))
}

// Cursor gives the cursor of a source file.
func (sn *Snapshot) Cursor(path string) (c Cursor, ok bool, err error) {
	err = sn.use(func(db *pebble.Snapshot) error {
		ok, err = get(db, keyString(prefixCursor, path), func(v []byte) error {
			c, err = decodeCursor(path, v)
			return err
		})
		return err
	})
	return c, ok, err
}

// Cursors gives all cursors by path.
func (sn *Snapshot) Cursors() iter.Seq2[Cursor, error] {
	return pages(sn, []byte{prefixCursor}, func(k, v []byte) (Cursor, error) {
		return decodeCursor(string(k[1:]), v)
	})
}

// Dependants lists the living sessions that name id as a parent, by number.
func (sn *Snapshot) Dependants(id archive.SessionID) (nos []No, err error) {
	err = sn.use(func(db *pebble.Snapshot) error {
		nos, err = dependants(db, id)
		return err
	})
	return nos, err
}

// Tags gives the tags that people set.
func (sn *Snapshot) Tags(id archive.SessionID) (tags []string, err error) {
	v, err := sn.Overlay(overlayTags, string(id))
	if err != nil || v == nil {
		return nil, err
	}
	return decodeTags(v)
}

// Title gives the title that people set; empty without one.
func (sn *Snapshot) Title(id archive.SessionID) (string, error) {
	v, err := sn.Overlay(overlayTitle, string(id))
	return string(v), err
}

// Overlay gives one overlay value, nil if it is not set.
func (sn *Snapshot) Overlay(kind, key string) (value []byte, err error) {
	err = sn.use(func(db *pebble.Snapshot) error {
		if bare, err := sn.isBare(db); bare || err != nil {
			return err
		}
		_, err := get(db, append(keyOverlays(kind), key...), func(v []byte) error {
			value = append([]byte{}, v...)
			return nil
		})
		return err
	})
	return value, err
}

// isBare reports whether there is no overlay of any kind: most archives have none, and
// a search looks for two of each session it shows.
func (sn *Snapshot) isBare(db *pebble.Snapshot) (bool, error) {
	if known := sn.bare.Load(); known != 0 {
		return known == 1, nil
	}
	some, err := hasPrefix(db, []byte{prefixOverlay})
	if err != nil {
		return false, err
	}
	if some {
		sn.bare.Store(2)
	} else {
		sn.bare.Store(1)
	}
	return !some, nil
}

// Overlays gives the overlays of a kind whose keys begin with prefix, by key.
func (sn *Snapshot) Overlays(kind, prefix string) iter.Seq2[Overlay, error] {
	return pages(sn, append(keyOverlays(kind), prefix...), func(k, v []byte) (Overlay, error) {
		key := string(k[1:])
		return Overlay{Kind: kind, Key: key[strings.IndexByte(key, 0)+1:], Value: append([]byte{}, v...)}, nil
	})
}
