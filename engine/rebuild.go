package engine

import (
	"context"
	"errors"
	"io/fs"
	"maps"

	"github.com/hansard-search/hansard/engine/store"
)

// A RebuildReport says what Rebuild made.
type RebuildReport struct {
	Schema     string `json:"schema"`
	Sessions   int    `json:"sessions"`
	Segments   int    `json:"segments"`
	IndexBytes int64  `json:"index_bytes"`
	DurationMS int64  `json:"duration_ms"`
}

const rebuildSchema = "hansard.rebuild/1"

// Rebuild makes the index anew from the store. The old index answers until the
// new one is complete, and what is damaged in it is gone afterwards; answers are
// the same as before the damage. progress may be nil.
func (e *Engine) Rebuild(ctx context.Context, progress func(Progress)) (*RebuildReport, error) {
	start := e.opts.Now()
	ctx, done, err := e.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if e.opts.ReadOnly {
		return nil, &Error{Code: CodeArchiveReadOnly, Message: "the archive was opened read-only"}
	}
	e.importing.Lock()
	defer e.importing.Unlock()
	r := &RebuildReport{Schema: rebuildSchema}
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
	x.merging.Lock()
	defer x.merging.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	snap, err := x.store.Snapshot()
	if err != nil {
		return err
	}
	defer snap.Close()
	todo, total, err := everything(snap)
	if err != nil {
		return err
	}
	old, broken, damaged := x.members, x.broken, x.damaged
	marks := maps.Clone(x.marks)
	x.members, x.where = nil, map[store.No]place{}
	restore := func(err error) error {
		for _, m := range x.members {
			x.retire(m)
		}
		x.members, x.broken, x.damaged, x.where, x.marks = nil, broken, damaged, map[store.No]place{}, marks
		for _, m := range old {
			if e := x.adopt(m); e != nil {
				x.log.Error("segment lost", "file", m.name, "error", e)
			}
		}
		return err
	}
	prog := Progress{Phase: "index", BytesTotal: total}
	for len(todo) > 0 {
		n, m, err := x.writeSome(ctx, snap, todo, true)
		if err == nil {
			err = x.adopt(m)
		}
		if err != nil {
			return restore(err)
		}
		for _, d := range todo[:n] {
			x.marks[d.No] = d.Ref()
		}
		r.Sessions += n
		r.IndexBytes += m.size
		todo = todo[n:]
		if progress != nil {
			prog.BytesDone = total * int64(r.Sessions) / int64(r.Sessions+len(todo))
			progress(prog)
		}
	}
	r.Segments = len(x.members)
	x.broken, x.damaged = nil, nil
	if err := x.publish(ctx); err != nil {
		return restore(err)
	}
	for _, m := range old {
		x.retire(m)
	}
	for _, r := range broken {
		if err := x.folder.Remove(r.Name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			x.log.Warn("damaged segment not removed", "file", r.Name, "error", err)
		}
	}
	return nil
}

// everything lists all sessions as if they were dirty. Those that are keep their mark.
func everything(snap *store.Snapshot) ([]store.Dirty, int64, error) {
	dirty, err := snap.Dirty()
	if err != nil {
		return nil, 0, err
	}
	marks := map[store.No]store.Dirty{}
	for _, d := range dirty {
		marks[d.No] = d
	}
	var out []store.Dirty
	var total int64
	for sum, err := range snap.Sessions() {
		if err != nil {
			return nil, 0, err
		}
		d, ok := marks[sum.No]
		if !ok {
			d = store.Dirty{No: sum.No, Rev: sum.Rev}
		}
		out = append(out, d)
		total += sum.Bytes
	}
	return out, total, nil
}
