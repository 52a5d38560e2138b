package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/hansard-search/hansard/engine/store"
	"github.com/hansard-search/hansard/postings"
	"github.com/hansard-search/hansard/query"
	"github.com/hansard-search/hansard/segments"
)

// A survey is what one request reads of a snapshot: the segments that have not failed
// it, and what is missing of the answer because others did.
type survey struct {
	e     *Engine
	snap  *snapshot
	views []int // index into snap.views of each source that answered
	lost  []Damage
}

// complete runs a query over all segments and shows its answer. A segment that turns
// out damaged on the way is left out and named, and the rest is asked again without it.
func (s *survey) complete(run func([]query.Source) error, show func() error) error {
	damage := append([]Damage{}, s.snap.damaged...)
	for i := range s.snap.views {
		s.views = append(s.views, i)
	}
	for {
		s.lost = damage
		if err := s.ask(run); err != nil {
			return err
		}
		damage = slices.Clip(s.lost)
		err := show()
		if err == nil {
			return nil
		}
		file, ok := damagedSegment(err)
		at := slices.IndexFunc(s.views, func(v int) bool { return ok && s.snap.views[v].Segment().Name() == file })
		if at < 0 {
			return err
		}
		damage = append(damage, s.without(at, err))
	}
}

// ask runs over the sources that are left, and again without each that fails.
func (s *survey) ask(run func([]query.Source) error) error {
	all := s.snap.sources()
	for {
		sources := make([]query.Source, len(s.views))
		for i, v := range s.views {
			sources[i] = all[v]
		}
		err := run(sources)
		var bad *query.SourceError
		if !errors.As(err, &bad) {
			return err
		}
		s.lost = append(s.lost, s.without(bad.Source, bad.Err))
	}
}

// without leaves a source out of the answer, and has its segment set aside if it is
// damaged.
func (s *survey) without(source int, err error) Damage {
	at := s.views[source]
	v := s.snap.views[at]
	s.e.opts.Logger.Error("segment left out of an answer", "file", s.snap.names[at], "error", err)
	s.views = slices.Delete(s.views, source, source+1)
	if isDamage(err) {
		s.e.setAside(v.Segment(), err)
	}
	return damageOf(s.snap.names[at], err, int64(v.Rows(postings.Session)-v.Dead().Len()))
}

// view is the segment behind a source.
func (s *survey) view(source int) *segments.View { return s.snap.views[s.views[source]] }

// session is the number in the store of a session of a source.
func (s *survey) session(source int, o postings.Ord) (store.No, error) {
	ref, err := s.view(source).Segment().SessionRef(o)
	return store.No(ref.No), err
}

// distrust tells the store that a session cannot be read.
func (s *survey) distrust(ctx context.Context, source int, o postings.Ord) {
	if no, err := s.session(source, o); err == nil {
		s.e.noteDamage(ctx, no)
	}
}
