package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/store"
	"github.com/hansard-search/hansard/query"
)

// The lanes that can be asked for. Auto resolves to dialogue.
const (
	LaneAuto     = "auto"
	LaneDialogue = "dialogue" // every block's search text, ranked by BM25
	LaneActions  = "actions"  // blocks of tool calls and their results, ranked, without a score
)

// Limits of a search request.
const (
	DefaultLimit = 20
	MaxLimit     = 10_000
)

// A SearchRequest asks for sessions.
type SearchRequest struct {
	Query  string         // see docs/query.md; empty selects every session
	Lane   string         // empty means auto
	Limit  int            // hits of a page; 0 means DefaultLimit
	Offset int            // hits to skip; not together with Cursor
	Cursor string         // NextCursor of the page before
	Zone   *time.Location // of dates in the query; nil means UTC
}

// Search answers a query with sessions, each with its best block when the query
// has text. It sees every acknowledged session. Faults of the query are
// *query.Error; a damaged segment makes the answer Partial, never wrong.
func (e *Engine) Search(ctx context.Context, req SearchRequest) (*SearchEnvelope, error) {
	start := e.opts.Now()
	ctx, done, err := e.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	s, err := e.prepare(req)
	if err != nil {
		return nil, err
	}
	if s.snap, err = e.snapshot(ctx); err != nil {
		return nil, err
	}
	defer s.snap.release()
	if err := s.run(ctx); err != nil {
		return nil, fault(ctx, err)
	}
	env, err := s.envelope(ctx)
	if err != nil {
		return nil, fault(ctx, err)
	}
	env.TookMS = e.opts.Now().Sub(start).Milliseconds()
	return env, nil
}

// A search is one request on its way to its answer.
type search struct {
	e      *Engine
	req    SearchRequest
	lane   string // resolved
	plan   *query.Plan
	cursor *cursor // nil on a first page
	snap   *snapshot
	result *query.Result
	views  []int // index into snap.views of each source that answered
	lost   []Damage
}

// prepare checks the request and compiles its query.
func (e *Engine) prepare(req SearchRequest) (*search, error) {
	s := &search{e: e, req: req}
	switch req.Lane {
	case "", LaneAuto, LaneDialogue:
		s.lane = LaneDialogue
	case LaneActions:
		s.lane = LaneActions
	default:
		return nil, &Error{Code: CodeLaneUnavailable, Field: "retrieval_lane", Message: fmt.Sprintf("lane %q cannot be run", req.Lane),
			Hint: "lanes are auto, dialogue and actions"}
	}
	if s.req.Limit == 0 {
		s.req.Limit = DefaultLimit
	}
	if s.req.Limit < 0 || s.req.Limit > MaxLimit {
		return nil, &Error{Code: CodeInvalidArgument, Field: "limit", Message: fmt.Sprintf("limit %d is not between 1 and %d", req.Limit, MaxLimit)}
	}
	if req.Offset < 0 || req.Offset > 0 && req.Cursor != "" {
		return nil, &Error{Code: CodeInvalidArgument, Field: "offset", Message: "offset is negative, or stands beside a cursor"}
	}
	var err error
	if s.plan, err = compile(req.Query, e.opts.Now(), req.Zone); err != nil {
		return nil, err
	}
	if req.Cursor != "" {
		if s.cursor, err = s.decodeCursor(req.Cursor); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// compile parses and binds a query.
func compile(text string, now time.Time, zone *time.Location) (*query.Plan, error) {
	q, err := query.Parse(text)
	if err != nil {
		return nil, err
	}
	return query.Bind(q, query.Options{Now: now, Location: zone, Origins: origins()})
}

func origins() []string {
	out := make([]string, len(archive.Origins))
	for i, o := range archive.Origins {
		out[i] = string(o)
	}
	return out
}

// run executes the plan. A source that fails is left out and named, and the rest
// is asked again without it.
func (s *search) run(ctx context.Context) error {
	s.lost = append(s.lost, s.snap.damaged...)
	all := s.snap.sources()
	for i := range all {
		s.views = append(s.views, i)
	}
	for {
		sources := make([]query.Source, len(s.views))
		for i, v := range s.views {
			sources[i] = all[v]
		}
		var err error
		s.result, err = query.Run(ctx, s.plan, sources, s.options())
		var bad *query.SourceError
		if !errors.As(err, &bad) {
			return err
		}
		at := s.views[bad.Source]
		s.e.opts.Logger.Error("segment left out of an answer", "file", s.snap.names[at], "error", err)
		s.lost = append(s.lost, Damage{File: s.snap.names[at], Reason: bad.Err.Error(), Sessions: int64(all[at].Rows(0))})
		s.views = append(s.views[:bad.Source:bad.Source], s.views[bad.Source+1:]...)
	}
}

func (s *search) options() query.RunOptions {
	o := query.RunOptions{Limit: s.req.Limit, Offset: s.req.Offset, Workers: s.e.workers(), BlockTypes: blockTypes(s.lane)}
	if s.cursor != nil {
		o.After, o.Stats = &s.cursor.anchor, s.cursor.stats
	}
	return o
}

// envelope turns the result into the answer.
func (s *search) envelope(ctx context.Context) (*SearchEnvelope, error) {
	r := s.result
	env := &SearchEnvelope{
		Schema: searchSchema, Hits: []Hit{}, Total: int(r.Total), TotalIs: "exact", Exact: true, Returned: len(r.Hits),
		Limit: s.req.Limit, Offset: s.req.Offset, Query: textOf(s.plan), Expression: s.req.Query,
		LaneRequested: s.req.Lane, RetrievalLane: s.lane, RankingPolicy: RankingPolicy, RankingPolicyVersion: RankingPolicyVersion,
		FiltersApplied: filtersOf(s.plan), Missing: []Damage{}, Warnings: append(append([]string{}, s.plan.Warnings...), scriptWarnings(s.plan.Phrases())...), ActionAffordances: []string{"open", "copy_link", "copy_text"},
		IndexGeneration: s.snap.store.Generation(),
	}
	if env.LaneRequested == "" {
		env.LaneRequested = LaneAuto
	}
	if s.cursor != nil {
		env.Offset = s.cursor.rank
	}
	if err := s.fetch(ctx, env); err != nil {
		return nil, err
	}
	if len(s.lost) > 0 {
		env.Partial, env.Exact, env.TotalIs, env.Missing = true, false, "lower_bound", s.lost
	}
	if err := s.page(env); err != nil {
		return nil, err
	}
	if env.Total == 0 {
		env.Diagnostics = s.diagnose(env)
	}
	return env, nil
}

// fetch reads what is shown of the hits. A session that cannot be read costs its own
// hit, and is named.
func (s *search) fetch(ctx context.Context, env *SearchEnvelope) error {
	for i, h := range s.result.Hits {
		if err := ctx.Err(); err != nil {
			return err
		}
		hit, err := s.hit(h, env.Offset+i+1)
		if errors.Is(err, store.ErrCorrupt) {
			s.lost = append(s.lost, Damage{File: "store: " + h.ID, Reason: err.Error(), Sessions: 1})
			continue
		}
		if err != nil {
			return err
		}
		env.Hits = append(env.Hits, hit)
	}
	return nil
}

// page says whether and how the answer goes on.
func (s *search) page(env *SearchEnvelope) error {
	seen := env.Offset + env.Returned
	env.Truncated = env.Returned == env.Limit && seen < env.Total
	if !env.Truncated {
		return nil
	}
	env.NextOffset = &seen
	next, err := s.encodeCursor(s.result.Hits[env.Returned-1], seen)
	env.NextCursor = &next
	return err
}

// textOf is the text part of a query as it was matched.
func textOf(p *query.Plan) string {
	if p.Query.Match == nil {
		return ""
	}
	return p.Query.Match.String()
}

// filtersOf names everything that narrows an answer. Nothing is hidden: rows
// replayed from a parent session are the one default exclusion.
func filtersOf(p *query.Plan) []string {
	out := []string{"inherited:false"}
	for _, c := range p.Query.Clauses {
		if _, isText := c.(query.Text); !isText {
			out = append(out, c.String())
		}
	}
	return out
}

func (s *search) diagnose(env *SearchEnvelope) *Diagnostics {
	d := &Diagnostics{Message: "No sessions matched.", Filters: env.FiltersApplied, Reasons: []Reason{}}
	for _, v := range s.snap.views {
		if live, err := v.Live(0); err == nil {
			d.ArchiveSessionCount += live.Count()
		}
	}
	if len(env.FiltersApplied) > 1 {
		d.Message = "No sessions matched filters."
	}
	if d.ArchiveSessionCount == 0 && !env.Partial {
		d.Reasons = append(d.Reasons, Reason{"archive_empty", "warning", "The archive holds no session yet; bring some in with hansard import."})
	}
	if env.Partial {
		d.Reasons = append(d.Reasons, Reason{"search_index_degraded", "warning", "A part of the index could not be read; the answer may lack sessions."})
	}
	if df := s.result.Stats.DF; s.plan.Ranked() && !env.Partial {
		for i, ph := range s.plan.Phrases() {
			if ph.Scored && i < len(df) && df[i] == 0 && scriptWarnings([]query.PhraseInfo{ph}) == nil {
				d.Reasons = append(d.Reasons, Reason{"no_matching_text", "info", fmt.Sprintf("Nothing in the archive holds %q.", strings.Join(ph.Terms, " "))})
			}
		}
	}
	return d
}
