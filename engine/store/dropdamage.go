package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/cockroachdb/pebble/v2"
)

// A damaged block that nothing needs any more stays in its table for as long as no
// compaction gets through that, and none does: each fails, tables pile up in front, and
// writing halts for good once there are two dozen. So damaged blocks are dropped: by
// themselves when a compaction has met one and no record in it is needed; else when the
// user asks, since a block that is dropped cannot be looked into any more. What was in it
// is missing then, and named as that.
//
// Caveats: blocks of source bytes, frames and heads only. Others hold records that are
// looked for by name, of which one that was deleted might come back. They are small, and
// few.

// A liveTable is a table that the database is made of.
type liveTable struct {
	path              string
	smallest, largest []byte
}

func (s *Store) liveTables() ([]liveTable, error) {
	levels, err := s.db.SSTables()
	if err != nil {
		return nil, mapErr(err)
	}
	var list []liveTable
	for _, level := range levels {
		for _, t := range level {
			list = append(list, liveTable{s.fs.PathJoin(s.dir, fmt.Sprintf("%06d%s", uint64(t.BackingSSTNum), tableSuffix)),
				t.Smallest.UserKey, t.Largest.UserKey})
		}
	}
	return list, nil
}

// damagedBlocks lists the damaged blocks of a table that is live, nil if it is not there
// any more.
func (s *Store) damagedBlocks(t liveTable, alive func() error) (*table, []*blockError, error) {
	opened, err := s.openTable(s.opts.FS, t.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil // compacted meanwhile
	}
	if err != nil {
		return nil, nil, err
	}
	bad, err := opened.damaged(alive)
	if err != nil || len(bad) == 0 {
		opened.close()
		return nil, nil, err
	}
	return opened, bad, nil
}

// DropDamage takes the damaged blocks out of the store that can be, whatever was in them,
// and returns what they were; and what nothing leads to, since a block may have held its
// deletion. The store is the writer's while it works, and no import may run.
func (s *Store) DropDamage(ctx context.Context) (dropped []string, err error) {
	err = s.do(ctx, func() error {
		list, err := s.liveTables()
		if err != nil {
			return err
		}
		for _, t := range list {
			names, _, err := s.dropFrom(ctx, t, true)
			if err != nil {
				return err
			}
			dropped = append(dropped, names...)
		}
		return s.sweep()
	})
	return dropped, err
}

// dropFrom drops the damaged blocks of one table: all if it is asked to, on the writer,
// else those that nothing needs. bad is damage that was found, whether or not it was
// dropped.
func (s *Store) dropFrom(ctx context.Context, t liveTable, asked bool) (dropped []string, bad, err error) {
	opened, blocks, err := s.damagedBlocks(t, ctx.Err)
	if err != nil || len(blocks) == 0 {
		return nil, nil, err
	}
	defer opened.close()
	bad = mapErr(blocks[0])
	made, around, err := s.blank(opened, blocks, t, ctx.Err)
	if ctx.Err() != nil {
		return nil, bad, ctx.Err()
	}
	if err != nil {
		s.opts.Logger.Error("store: damaged blocks stay", "block", bad, "err", err)
		return nil, bad, nil
	}
	for i, keys := range around {
		if !droppable(keys[0], keys[1]) {
			s.opts.Logger.Error("store: a damaged block stays", "block", mapErr(blocks[i]))
			return nil, mapErr(blocks[i]), nil
		}
		if asked {
			continue
		}
		if needed, err := s.needed(ctx, keys[0], keys[1]); err != nil || needed {
			return nil, bad, err
		}
	}
	s.fs.blanks.put(made)
	gone, err := s.rewrite(ctx, t, around[0][0], asked)
	if err != nil {
		return nil, bad, err
	}
	for _, one := range blocks {
		s.opts.Logger.Warn("store: damaged block left out", "path", one.path, "offset", one.off, "bytes", one.length, "gone", gone)
		dropped = append(dropped, one.Error())
	}
	return dropped, bad, nil
}

// rewrite lets a compaction get rid of a table, and reports whether one has. at is the key
// of a record in it, or where one could be. A table of the last level takes something in
// front of it for that, which is written if the caller was asked to, on the writer; else
// the next compaction that meets the table does it.
func (s *Store) rewrite(ctx context.Context, t liveTable, at []byte, asked bool) (gone bool, err error) {
	// No record has these keys, which lie around that of one.
	before, after := at[:len(at)-1], append(bytes.Clone(at), 0)
	if err := s.db.Compact(ctx, at, after, false); err != nil {
		return false, mapErr(err)
	}
	if gone, err := s.isGone(t); gone || err != nil || !asked {
		return gone, err
	}
	b := s.db.NewBatch()
	defer b.Close()
	if err := errors.Join(b.Delete(before, nil), b.Delete(after, nil), s.apply(b, pebble.Sync)); err != nil {
		return false, err
	}
	if err := s.db.Compact(ctx, before, append(after, 0), false); err != nil {
		return false, mapErr(err)
	}
	if gone, err = s.isGone(t); err == nil && !gone {
		err = fmt.Errorf("%s: was not rewritten", t.path)
	}
	return gone, err
}

// isGone reports whether a table is no longer live, and forgets its blanks then.
func (s *Store) isGone(t liveTable) (bool, error) {
	list, err := s.liveTables()
	if err != nil {
		return false, err
	}
	for _, other := range list {
		if other.path == t.path {
			return false, nil
		}
	}
	s.fs.blanks.forget(t.path)
	return true, nil
}

// droppable reports whether only frames and heads, or only source bytes, lie between two
// keys.
func droppable(lo, hi []byte) bool {
	if len(lo) < 2 || len(hi) < 2 {
		return false
	}
	session := func(k []byte) bool { return k[0] == prefixFrame || k[0] == prefixHead }
	return session(lo) && session(hi) || lo[0] == prefixChunk && hi[0] == prefixChunk
}

// needed reports whether anything that is needed between two keys cannot be read. It may
// say so of a session that only lies around the damage.
func (s *Store) needed(ctx context.Context, lo, hi []byte) (bool, error) {
	sn, err := s.Snapshot()
	if err != nil {
		return false, err
	}
	c := &checker{s: s, ctx: ctx, state: sn.state}
	err = sn.use(func(db *pebble.Snapshot) error {
		c.db = db
		if lo[0] == prefixChunk {
			return c.chunksBetween(lo[1:], hi[1:])
		}
		return c.sessionsBetween(lo, hi)
	})
	return len(c.faults) > 0, errors.Join(err, sn.Close())
}

// chunksBetween reads the chunks in use between two hashes.
func (c *checker) chunksBetween(lo, hi []byte) error {
	return scanRange(c.db, append([]byte{prefixUse}, lo...), append(append([]byte{prefixUse}, hi...), 0xff), func(k, _ []byte) error {
		if err := c.alive(); err != nil || len(k) != 41 {
			return err
		}
		if _, err := c.s.readChunk(c.db, [32]byte(k[1:])); err != nil {
			c.fault(FaultRaw, RawID(k[1:33]), "%v", err)
		}
		return nil
	})
}

// sessionsBetween reads the sessions, and looks for revisions that are being written,
// between two keys of frames or heads.
func (c *checker) sessionsBetween(lo, hi []byte) error {
	first, last := No(0), c.state.NextNo
	if lo[0] == hi[0] {
		first, last = numberIn(lo, first), numberIn(hi, last)
	}
	err := scanRange(c.db, key64(prefixPending, uint64(first)), key64(prefixPending, uint64(last)+1), func(k, _ []byte) error {
		c.fault(FaultDamaged, "pending revision", "%x", k)
		return errStop
	})
	if err != nil {
		return err
	}
	return scanRange(c.db, key64(prefixPointer, uint64(first)), key64(prefixPointer, uint64(last)+1), func(k, v []byte) error {
		if err := c.alive(); err != nil || len(k) != 9 {
			return err
		}
		p, err := decodeSummary(No(get64(k[1:])), v)
		if err != nil {
			return err
		}
		c.session(&p)
		return nil
	})
}

// numberIn is the number of the session in a key of a frame or head, or else.
func numberIn(k []byte, otherwise No) No {
	if len(k) < 9 {
		return otherwise
	}
	return No(get64(k[1:]))
}
