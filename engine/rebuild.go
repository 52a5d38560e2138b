package engine

import (
	"context"
	"maps"

	"github.com/hansard-search/hansard/engine/store"
)

// A RebuildReport says what Rebuild made.
type RebuildReport struct {
	Schema     string `json:"schema"`
	Sessions   int    `json:"sessions"`
	Segments   int    `json:"segments"`
	IndexBytes int64  `json:"index_bytes"`
	// Unreadable are the sessions that the store cannot give; they are not indexed
	// until they are imported again.
	Unreadable []Damage `json:"unreadable"`
	// Dropped are damaged blocks that were taken out of the store's tables. What was in
	// them could not be read.
	Dropped    []string `json:"dropped"`
	DurationMS int64    `json:"duration_ms"`
}

const rebuildSchema = "hansard.rebuild/1"

// Rebuild makes the index anew from the store. The old index answers until the
// new one is complete, and what is damaged in it is gone afterwards; answers are
// the same as before the damage. Sessions that the store cannot give are left out and
// named. progress may be nil.
func (e *Engine) Rebuild(ctx context.Context, progress func(Progress)) (*RebuildReport, error) {
	start := e.opts.Now()
	ctx, done, err := e.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := e.writable(); err != nil {
		return nil, err
	}
	if err := lockWithin(ctx, &e.importing); err != nil {
		return nil, fault(ctx, err)
	}
	defer e.importing.Unlock()
	r := &RebuildReport{Schema: rebuildSchema, Unreadable: []Damage{}, Dropped: []string{}}
	dropped, err := e.store.DropDamage(ctx)
	r.Dropped = append(r.Dropped, dropped...)
	if err != nil && (ctx.Err() != nil || e.store.Err() != nil) {
		return nil, fault(ctx, err)
	} else if err != nil {
		e.opts.Logger.Error("damage stays in the store", "error", err) // and check names it
	}
	if err := e.index.rebuild(ctx, r, progress); err != nil {
		return nil, fault(ctx, err)
	}
	e.forget()
	e.wantMerge()
	r.DurationMS = e.opts.Now().Sub(start).Milliseconds()
	return r, nil
}

// rebuild indexes every session into new files and puts them in the place of
// everything else.
func (x *index) rebuild(ctx context.Context, r *RebuildReport, progress func(Progress)) error {
	if err := lockWithin(ctx, &x.merging); err != nil {
		return err
	}
	defer x.merging.Unlock()
	if err := lockWithin(ctx, &x.mu); err != nil {
		return err
	}
	defer x.mu.Unlock()
	x.setAt(nil)
	snap, err := x.store.Snapshot()
	if err != nil {
		return err
	}
	defer snap.Close()
	todo, total, err := x.everything(snap)
	if err != nil {
		return err
	}
	old, broken := x.members, x.broken
	marks := maps.Clone(x.marks)
	x.members, x.where = nil, map[store.No]place{}
	restore := func(err error) error {
		for _, m := range x.members {
			x.retire(m)
		}
		x.members, x.broken, x.where, x.marks = nil, broken, map[store.No]place{}, marks
		for _, m := range old {
			if e := x.adopt(m); e != nil {
				x.log.Error("segment lost", "file", m.name, "error", e)
			}
		}
		return err
	}
	prog := Progress{Phase: "index", BytesTotal: total}
	bad := map[store.No]error{}
	all := todo
	for len(todo) > 0 {
		p, err := x.compose(ctx, snap, todo, nil)
		var m *member
		if err == nil {
			m, err = x.end(ctx, p, true)
		}
		if err == nil && m != nil {
			err = x.adopt(m)
		}
		if err != nil {
			return restore(err)
		}
		for _, d := range todo[:p.n] {
			if p.bad[d.No] == nil {
				x.marks[d.No] = d.Ref()
			}
		}
		maps.Copy(bad, p.bad)
		r.Sessions += p.n - len(p.bad)
		if m != nil {
			r.IndexBytes += m.size
		}
		todo = todo[p.n:]
		if progress != nil {
			done := len(all) - len(todo)
			prog.BytesDone = total * int64(done) / int64(len(all))
			progress(prog)
		}
	}
	x.unreadable = map[store.No]unreadable{}
	x.distrust(ctx, bad, all)
	r.Segments = len(x.members)
	r.Unreadable = append(r.Unreadable, x.damages()[len(broken):]...)
	x.broken = nil
	if err := x.publish(ctx); err != nil {
		return restore(err)
	}
	for _, m := range old {
		x.retire(m)
	}
	x.putAside(broken)
	return nil
}

// everything lists all sessions as if they were dirty. Those that are keep their mark.
func (x *index) everything(snap *store.Snapshot) ([]store.Dirty, int64, error) {
	dirty, err := x.dirty(snap)
	if err != nil {
		return nil, 0, err
	}
	marks := map[store.No]store.Dirty{}
	for _, d := range dirty {
		marks[d.No] = d
	}
	var out []store.Dirty
	var total int64
	err = eachSession(snap, func(no store.No, sum *store.Summary, err error) error {
		d, ok := marks[no]
		if !ok {
			d = store.Dirty{No: no}
			if err == nil {
				d.Rev = sum.Rev
			}
		}
		out = append(out, d)
		if err == nil {
			total += sum.Bytes
		}
		return nil
	})
	return out, total, err
}
