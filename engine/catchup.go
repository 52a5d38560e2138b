package engine

import (
	"context"
	"errors"
	"io"

	"github.com/hansard-search/hansard/engine/store"
	"github.com/hansard-search/hansard/segments"
)

// maxTailSegments bounds the segments in memory: each costs every query a little.
const maxTailSegments = 8

// catchUp indexes what is dirty in snap and not yet in a segment. Small amounts go
// into a tail segment in memory, large ones into files; all into memory once a write
// has failed, so that searches still see every acknowledged session.
func (x *index) catchUp(ctx context.Context, snap *store.Snapshot) error {
	readOnly := x.readOnly()
	err := x.catchUpOnce(ctx, snap)
	if err != nil && x.readOnly() != readOnly {
		err = x.catchUpOnce(ctx, snap)
	}
	if err == nil {
		x.doubt = false
	}
	return err
}

// readOnly reports whether no file may be written: the archive was opened so, or a
// write has failed.
func (x *index) readOnly() bool { return x.opts.ReadOnly || x.store.Err() != nil }

func (x *index) catchUpOnce(ctx context.Context, snap *store.Snapshot) error {
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
	if !x.readOnly() && (x.tailBytes() > int64(x.opts.FlushBytes) || len(x.tail()) > maxTailSegments) {
		return x.flush(ctx)
	}
	return nil
}

// stale lists the dirty sessions that need indexing, and those that are gone. Those
// that the store could not give before, and that have not changed since, are neither.
func (x *index) stale(snap *store.Snapshot) (todo, gone []store.Dirty, err error) {
	dirty, err := x.dirty(snap)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range dirty {
		if mark, ok := x.marks[d.No]; ok && mark == d.Ref() {
			continue
		}
		if u, ok := x.unreadable[d.No]; ok && u.mark == d.Ref() {
			continue
		}
		if d.Deleted() {
			gone = append(gone, d)
			continue
		}
		if _, err := snap.Summary(d.No); errors.Is(err, store.ErrNotFound) {
			gone = append(gone, d)
			continue
		} else if err != nil && !errors.Is(err, store.ErrCorrupt) {
			return nil, nil, err
		}
		todo = append(todo, d)
	}
	return todo, gone, nil
}

// drop kills the live copy of a deleted session.
func (x *index) drop(d store.Dirty) {
	x.marks[d.No] = d.Ref()
	delete(x.unreadable, d.No)
	x.kill(d.No)
}

// kill takes the live copy of a session out of the index.
func (x *index) kill(no store.No) {
	old, ok := x.where[no]
	if !ok {
		return
	}
	old.member.dead.Add(old.row)
	old.member.refresh()
	delete(x.where, no)
}

// indexSome indexes the first sessions of todo into one new segment and returns how
// many it took.
func (x *index) indexSome(ctx context.Context, snap *store.Snapshot, todo []store.Dirty) (int, error) {
	p, err := x.compose(ctx, snap, todo, nil)
	if err != nil {
		return 0, err
	}
	toFile := !x.readOnly() && (p.n < len(todo) || p.w.MemBytes() >= x.enough())
	m, err := x.end(ctx, p, toFile)
	if err != nil {
		return 0, err
	}
	if m != nil {
		if err := x.adopt(m); err != nil {
			return 0, err
		}
	}
	x.taken(ctx, p, todo[:p.n])
	if m != nil && m.inFile() {
		err = x.publish(ctx)
	}
	return p.n, err
}

// taken notes that sessions are indexed, or that they cannot be read.
func (x *index) taken(ctx context.Context, p *pack, todo []store.Dirty) {
	for _, d := range todo {
		if p.bad[d.No] == nil {
			x.marks[d.No] = d.Ref()
			delete(x.unreadable, d.No)
		}
	}
	x.distrust(ctx, p.bad, todo)
}

// A pack is sessions on their way into one segment.
type pack struct {
	w   *segments.Writer
	n   int                // sessions that were taken from the list
	bad map[store.No]error // those that the store cannot give, with why
}

// enough is the writer memory at which a segment is big enough.
func (x *index) enough() int { return x.opts.FlushBytes / 4 * 3 }

// compose feeds the first sessions of todo, at least one, to a writer: up to three
// quarters of FlushBytes of writer memory, or until stop, which may be nil, says so.
// A session that cannot be read is left out. It does not need mu.
func (x *index) compose(ctx context.Context, snap *store.Snapshot, todo []store.Dirty, stop func() bool) (*pack, error) {
	bad := map[store.No]error{}
	for {
		p, failed, err := x.tryCompose(ctx, snap, todo, bad, stop)
		if err == nil {
			return p, nil
		}
		if failed == 0 || ctx.Err() != nil || !isUnreadable(err) {
			return nil, err
		}
		// The writer holds half a session. It starts again, and looks at each session
		// before it takes it: where one is damaged others are.
		bad[failed] = err
	}
}

// tryCompose is compose until a session fails, which it then names.
func (x *index) tryCompose(ctx context.Context, snap *store.Snapshot, todo []store.Dirty, bad map[store.No]error, stop func() bool) (p *pack, failed store.No, err error) {
	o := segments.Options{Schema: schema(), SpillBytes: x.opts.FlushBytes, FS: x.opts.FS, TempDir: x.folder.Dir()}
	if x.readOnly() {
		o.TempDir = "" // not even temporary files
	}
	w, err := segments.NewWriter(o)
	if err != nil {
		return nil, 0, err
	}
	careful := len(bad) > 0
	p = &pack{w: w, bad: bad}
	f := newFeeder(w)
	for p.n < len(todo) && (p.n == 0 || w.MemBytes() < x.enough() && (stop == nil || !stop())) {
		no := todo[p.n].No
		if careful && bad[no] == nil {
			if err := readThrough(ctx, snap, no); isUnreadable(err) {
				bad[no] = err
			}
		}
		if bad[no] == nil {
			if err := f.add(ctx, snap, no); err != nil {
				return nil, no, errors.Join(err, w.Close())
			}
		}
		p.n++
	}
	return p, 0, nil
}

// isUnreadable tells the fault of one session from that of the disk or the caller.
func isUnreadable(err error) bool {
	return errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrNotFound) ||
		errors.Is(err, segments.ErrOrder) || errors.Is(err, segments.ErrLimit)
}

// readThrough reads a session as far as the index does.
func readThrough(ctx context.Context, snap *store.Snapshot, no store.No) error {
	if _, err := snap.Head(no); err != nil {
		return err
	}
	n := 0
	for _, err := range snap.Messages(no, 0) {
		if err != nil {
			return err
		}
		if n++; n%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// end makes a member of what was composed, in a file or in memory; nil if none of the
// sessions could be read.
func (x *index) end(ctx context.Context, p *pack, toFile bool) (m *member, err error) {
	defer func() { err = errors.Join(err, p.w.Close()) }()
	if p.n == len(p.bad) {
		return nil, nil
	}
	return x.finish(func(w io.Writer) (segments.Info, error) { return p.w.Finish(untilDone{ctx, w}) }, toFile)
}

// flush makes the tail durable: its segments become one file, and what is marked
// but neither in a file nor in the tail is cleared.
func (x *index) flush(ctx context.Context) error {
	tail := x.tail()
	if x.readOnly() || len(tail) == 0 && len(x.marks) == 0 {
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
