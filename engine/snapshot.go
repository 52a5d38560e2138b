package engine

import (
	"context"
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
			v.Segment().Unref()
		}
		s.store.Close()
	}
}

// snapshot returns the archive as it is now, with every acknowledged session
// indexed. The caller releases it.
func (e *Engine) snapshot(ctx context.Context) (*snapshot, error) {
	e.current.Lock()
	defer e.current.Unlock()
	st, err := e.store.Snapshot()
	if err != nil {
		return nil, storeError(err)
	}
	if e.latest != nil && e.latest.store.Generation() == st.Generation() {
		st.Close()
		e.latest.retain()
		return e.latest, nil
	}
	s, err := e.index.freeze(ctx, st)
	if err != nil {
		st.Close()
		return nil, storeError(err)
	}
	if e.latest != nil {
		e.latest.release()
	}
	e.latest = s
	s.retain()
	e.wantMerge()
	return s, nil
}

// freeze indexes what the store snapshot has and the index lacks, and takes the
// segments that then hold exactly its sessions.
func (x *index) freeze(ctx context.Context, st *store.Snapshot) (*snapshot, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.catchUp(ctx, st); err != nil {
		return nil, err
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
