package engine

import (
	"context"
	"errors"
	"math"
	"sync/atomic"

	"github.com/hansard-search/hansard/engine/store"
	"github.com/hansard-search/hansard/query"
	"github.com/hansard-search/hansard/segments"
)

// A snapshot is the archive at one moment: nothing that happens meanwhile changes
// what it sees. It is refcounted; the last release gives back segments and store.
type snapshot struct {
	store   *store.Snapshot
	views   []*segments.View
	names   []string // file of each view, "tail" in memory
	damaged []Damage
	refs    atomic.Int64
}

// source is a segment with the texts of its rows.
func (s *snapshot) source(view int) *textSource {
	return &textSource{View: s.views[view], store: s.store}
}

func (s *snapshot) sources() []query.Source {
	out := make([]query.Source, len(s.views))
	for i := range s.views {
		out[i] = s.source(i)
	}
	return out
}

func (s *snapshot) retain() { s.refs.Add(1) }

func (s *snapshot) release() {
	if s.refs.Add(-1) == 0 {
		for _, v := range s.views {
			_ = v.Segment().Unref() // a mapping that stays is found at the next open
		}
		_ = s.store.Close() // nothing was written through it
	}
}

// snapshot returns a snapshot in which every acknowledged session is indexed. What a
// running import has stored is acknowledged when it returns; until then the snapshot
// may lack it, so that a search does not do the indexing of an import. The caller
// releases it.
func (e *Engine) snapshot(ctx context.Context) (*snapshot, error) {
	need := e.acked.Load()
	if need == allAcked {
		need = e.store.Generation()
	}
	if s := e.recent(need); s != nil {
		if s.store.Generation() < e.store.Generation() {
			e.stale.Store(true)
		}
		return s, nil
	}
	return e.fresh(ctx)
}

// allAcked says that everything in the store is acknowledged: no import runs.
const allAcked = math.MaxUint64

// fresh returns a snapshot of all that the store holds now. The caller releases it.
func (e *Engine) fresh(ctx context.Context) (*snapshot, error) {
	if err := lockWithin(ctx, &e.freezing); err != nil {
		return nil, fault(ctx, err)
	}
	defer e.freezing.Unlock()
	if s := e.recent(e.store.Generation()); s != nil {
		return s, nil // made while this call waited
	}
	s, err := e.index.freeze(ctx)
	if err != nil {
		return nil, fault(ctx, err)
	}
	s.retain()
	e.keep(s)
	e.wantMerge()
	return s, nil
}

// keep makes s the kept snapshot.
func (e *Engine) keep(s *snapshot) {
	e.current.Lock()
	old := e.latest
	e.latest = s
	e.current.Unlock()
	if old != nil {
		old.release()
	}
}

// renew gives the kept snapshot the segments of now, after a merge: it holds the same
// sessions and lets go of the segments that were merged.
func (e *Engine) renew() {
	e.freezing.Lock()
	defer e.freezing.Unlock()
	e.keep(e.index.again())
}

// recent returns the kept snapshot if it holds the generation, else nil. The caller
// releases it.
func (e *Engine) recent(generation uint64) *snapshot {
	e.current.Lock()
	defer e.current.Unlock()
	if e.latest == nil || e.latest.store.Generation() < generation {
		return nil
	}
	e.latest.retain()
	return e.latest
}

// freeze takes a snapshot of the store, indexes what the index lacks of it, and
// takes the segments that then hold exactly its sessions. The store's snapshot is
// taken under mu, so that no segment is ever newer than it.
func (x *index) freeze(ctx context.Context) (*snapshot, error) {
	if err := lockWithin(ctx, &x.mu); err != nil {
		return nil, err
	}
	defer x.mu.Unlock()
	st, err := x.store.Snapshot()
	if err != nil {
		return nil, err
	}
	x.setAt(nil)
	if err := x.catchUp(ctx, st); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	x.setAt(st)
	return x.view(st), nil
}

// setAt remembers what the members hold, exactly; nil while nobody can say. The
// snapshot before is let go.
func (x *index) setAt(st *store.Snapshot) {
	if x.at != nil {
		_ = x.at.Close() // nothing was written through it
	}
	if st != nil {
		st.Retain()
	}
	x.at = st
}

// again is the last snapshot with the segments of now, nil if it is not known.
func (x *index) again() *snapshot {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.at == nil {
		return nil
	}
	x.at.Retain()
	return x.view(x.at)
}

// view is a snapshot of the members, which hold the sessions of st; it takes over st.
func (x *index) view(st *store.Snapshot) *snapshot {
	s := &snapshot{store: st, damaged: append(lostData(x.store.Losses()), x.damages()...)}
	s.refs.Store(1)
	for _, m := range x.members {
		m.seg.Ref()
		s.views = append(s.views, m.view.Load())
		name := m.name
		if name == "" {
			name = "tail"
		}
		s.names = append(s.names, name)
	}
	return s
}
