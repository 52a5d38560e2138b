package engine

import (
	"context"
	"errors"

	"github.com/hansard-search/hansard/engine/store"
	"github.com/hansard-search/hansard/segments"
)

// maxTailSegments bounds the segments in memory: each costs every query a little.
const maxTailSegments = 8

// catchUp indexes what is dirty in snap and not yet in a segment. Small amounts go
// into a tail segment in memory, large ones into files.
func (x *index) catchUp(ctx context.Context, snap *store.Snapshot) error {
	todo, gone, err := x.stale(snap)
	if err != nil {
		return err
	}
	for _, d := range gone {
		x.drop(d)
	}
	for len(todo) > 0 {
		n, err := x.indexSome(ctx, snap, todo)
		if err != nil {
			return err
		}
		todo = todo[n:]
	}
	if !x.opts.ReadOnly && (x.tailBytes() > int64(x.opts.FlushBytes) || len(x.tail()) > maxTailSegments) {
		return x.flush(ctx)
	}
	return nil
}

// stale lists the dirty sessions that need indexing, and those that are gone.
func (x *index) stale(snap *store.Snapshot) (todo, gone []store.Dirty, err error) {
	dirty, err := snap.Dirty()
	if err != nil {
		return nil, nil, err
	}
	for _, d := range dirty {
		if mark, ok := x.marks[d.No]; ok && mark == d.Ref() {
			continue
		}
		if d.Deleted() {
			gone = append(gone, d)
			continue
		}
		if _, err := snap.Summary(d.No); errors.Is(err, store.ErrNotFound) {
			gone = append(gone, d)
			continue
		} else if err != nil {
			return nil, nil, err
		}
		todo = append(todo, d)
	}
	return todo, gone, nil
}

// drop kills the live copy of a deleted session.
func (x *index) drop(d store.Dirty) {
	x.marks[d.No] = d.Ref()
	old, ok := x.where[d.No]
	if !ok {
		return
	}
	old.member.dead.Add(old.row)
	old.member.refresh()
	delete(x.where, d.No)
}

// indexSome indexes the first sessions of todo into one new segment and returns how
// many it took.
func (x *index) indexSome(ctx context.Context, snap *store.Snapshot, todo []store.Dirty) (int, error) {
	n, m, err := x.writeSome(ctx, snap, todo, false)
	if err != nil {
		return 0, err
	}
	if err := x.adopt(m); err != nil {
		return 0, err
	}
	for _, d := range todo[:n] {
		x.marks[d.No] = d.Ref()
	}
	if m.inFile() {
		err = x.publish(ctx)
	}
	return n, err
}

// writeSome writes the first sessions of todo, at least one and up to three quarters of
// FlushBytes of writer memory, into one new segment: a file if it is asked for or
// there is much to do, else in memory.
func (x *index) writeSome(ctx context.Context, snap *store.Snapshot, todo []store.Dirty, toFile bool) (n int, m *member, err error) {
	w, err := segments.NewWriter(segments.Options{
		Schema: schema(), SpillBytes: x.opts.FlushBytes, FS: x.opts.FS, TempDir: x.folder.Dir(),
	})
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	f := newFeeder(w)
	enough := x.opts.FlushBytes / 4 * 3
	for n < len(todo) && (n == 0 || w.MemBytes() < enough) {
		if err := f.add(ctx, snap, todo[n].No); err != nil {
			return 0, nil, err
		}
		n++
	}
	toFile = !x.opts.ReadOnly && (toFile || n < len(todo) || w.MemBytes() >= enough)
	m, err = x.finish(w.Finish, toFile)
	return n, m, err
}

// flush makes the tail durable: its segments become one file, and what is marked
// but neither in a file nor in the tail is cleared.
func (x *index) flush(ctx context.Context) error {
	tail := x.tail()
	if x.opts.ReadOnly || len(tail) == 0 && len(x.marks) == 0 {
		return nil
	}
	if len(tail) == 0 {
		return x.publish(ctx)
	}
	m, err := x.merge(ctx, x.newName(), inputs(tail))
	if err != nil {
		return err
	}
	return x.replace(ctx, tail, m)
}
