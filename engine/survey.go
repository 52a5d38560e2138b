package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

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
	left  map[int]map[postings.Ord]error // by view: sessions whose texts cannot be read
}

// complete runs a query over all segments and shows its answer. A segment that turns
// out damaged on the way is left out and named, and the rest is asked again without it.
func (s *survey) complete(ctx context.Context, run func([]query.Source) error, show func() error) error {
	damage := append([]Damage{}, s.snap.damaged...)
	for i := range s.snap.views {
		s.views = append(s.views, i)
	}
	for {
		s.lost = damage
		if err := s.ask(ctx, run); err != nil {
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

// ask runs over the sources that are left, and again without each that fails, and without
// sessions whose texts turn out unreadable.
func (s *survey) ask(ctx context.Context, run func([]query.Source) error) error {
	for {
		texts := make([]*textSource, len(s.views))
		sources := make([]query.Source, len(s.views))
		for i := range s.views {
			texts[i] = s.snap.source(s.views[i])
			texts[i].left = s.left[s.views[i]]
			sources[i] = texts[i]
		}
		err := run(sources)
		var bad *query.SourceError
		if err == nil && s.noteUnread(ctx, texts) {
			continue
		}
		if !errors.As(err, &bad) {
			return err
		}
		s.lost = append(s.lost, s.without(bad.Source, bad.Err))
	}
}

// noteUnread names the sessions whose texts a query could not look at, and leaves them out
// of the next run; it reports whether there are any.
func (s *survey) noteUnread(ctx context.Context, texts []*textSource) (any bool) {
	for i, t := range texts {
		for _, o := range slices.Sorted(maps.Keys(t.unread)) {
			any = true
			s.lost = append(s.lost, Damage{File: storeFile, Session: s.sessionID(i, o), Reason: t.unread[o].Error(), Sessions: 1})
			s.distrust(ctx, i, o)
			view := s.views[i]
			if s.left == nil {
				s.left = map[int]map[postings.Ord]error{}
			}
			if s.left[view] == nil {
				s.left[view] = map[postings.Ord]error{}
			}
			s.left[view][o] = t.unread[o]
		}
	}
	return any
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

// sessionID is the id of a session of a source, "" if it cannot be read.
func (s *survey) sessionID(source int, o postings.Ord) string {
	column, err := s.view(source).Keywords("session.id")
	if err != nil {
		return ""
	}
	ids, err := column.AppendOf(nil, o)
	if err != nil || len(ids) == 0 {
		return ""
	}
	id, err := column.Value(ids[0])
	if err != nil {
		return ""
	}
	return strings.Clone(id)
}

// distrust tells the store that a session cannot be read.
func (s *survey) distrust(ctx context.Context, source int, o postings.Ord) {
	if no, err := s.session(source, o); err == nil {
		s.e.noteDamage(ctx, no)
	}
}
