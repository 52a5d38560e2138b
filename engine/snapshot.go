package engine

import (
	"context"
	"errors"
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

func (s *snapshot) sources() []query.Source {
	out := make([]query.Source, len(s.views))
	for i, v := range s.views {
		out[i] = v
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

// snapshot returns the archive as it is now, with every acknowledged session
// indexed. The caller releases it.
func (e *Engine) snapshot(ctx context.Context) (*snapshot, error) {
	e.current.Lock()
	defer e.current.Unlock()
	if e.latest != nil && e.latest.store.Generation() == e.store.Generation() {
		e.latest.retain()
		return e.latest, nil
	}
	s, err := e.index.freeze(ctx)
	if err != nil {
		return nil, fault(ctx, err)
	}
	if e.latest != nil {
		e.latest.release()
	}
	e.latest = s
	s.retain()
	e.wantMerge()
	return s, nil
}

// freeze takes a snapshot of the store, indexes what the index lacks of it, and
// takes the segments that then hold exactly its sessions. The store's snapshot is
// taken under mu, so that no segment is ever newer than it.
func (x *index) freeze(ctx context.Context) (*snapshot, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	st, err := x.store.Snapshot()
	if err != nil {
		return nil, err
	}
	if err := x.catchUp(ctx, st); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	s := &snapshot{store: st, damaged: x.damaged}
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
	return s, nil
}
