package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
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

// The lanes that have names and that this version does not run: LANE_UNAVAILABLE.
const (
	LaneHybrid   = "hybrid"   // words and vectors
	LaneSemantic = "semantic" // vectors alone
)

// Lanes are the lanes that can be asked for; the first is what an empty Lane means.
func Lanes() []string { return []string{LaneAuto, LaneDialogue, LaneActions} }

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
	env, err := within(ctx, e, s.plan, s.answer)
	if err != nil {
		return nil, fault(ctx, err)
	}
	env.TookMS = e.opts.Now().Sub(start).Milliseconds()
	return env, nil
}

// A search is one request on its way to its answer.
type search struct {
	survey
	req    SearchRequest
	lane   string // resolved
	plan   *query.Plan
	cursor *cursor // nil on a first page
	result *query.Result
	more   bool // there is a hit after those of result
}

// prepare checks the request and compiles its query.
func (e *Engine) prepare(req SearchRequest) (*search, error) {
	s := &search{survey: survey{e: e}, req: req}
	switch req.Lane {
	case "", LaneAuto, LaneDialogue:
		s.lane = LaneDialogue
	case LaneActions:
		s.lane = LaneActions
	case LaneHybrid, LaneSemantic:
		return nil, &Error{Code: CodeLaneUnavailable, Field: "retrieval_lane", Message: fmt.Sprintf("lane %q cannot be run", req.Lane),
			Hint: "lanes are " + strings.Join(Lanes(), ", ")}
	default:
		return nil, &Error{Code: CodeInvalidArgument, Field: "retrieval_lane", Message: fmt.Sprintf("there is no lane %q", req.Lane),
			Hint: "lanes are " + strings.Join(Lanes(), ", ")}
	}
	if s.req.Limit == 0 {
		s.req.Limit = DefaultLimit
	}
	if s.req.Limit < 0 || s.req.Limit > MaxLimit {
		return nil, &Error{Code: CodeInvalidArgument, Field: "limit", Message: fmt.Sprintf("limit %d is not between 1 and %d", req.Limit, MaxLimit)}
	}
	if req.Offset < 0 {
		return nil, &Error{Code: CodeInvalidArgument, Field: "offset", Message: fmt.Sprintf("offset %d is negative", req.Offset)}
	}
	if req.Offset > 0 && req.Cursor != "" {
		return nil, &Error{Code: CodeInvalidArgument, Field: "offset", Message: "an offset stands beside a cursor, which says where the page begins"}
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

// answer runs the plan and makes the envelope.
func (s *search) answer(ctx context.Context) (env *SearchEnvelope, err error) {
	err = s.complete(ctx, func(sources []query.Source) (err error) {
		s.result, err = query.Run(ctx, s.plan, sources, s.options())
		return err
	}, func() (err error) {
		s.cut()
		env, err = s.envelope(ctx)
		return err
	})
	return env, err
}

// cut takes away the hit beyond the page, which only tells that there is one. Totals
// cannot tell: between two pages sessions go, or change and are shown again.
func (s *search) cut() {
	s.more = len(s.result.Hits) > s.req.Limit
	if s.more {
		s.result.Hits = s.result.Hits[:s.req.Limit]
	}
}

func (s *search) options() query.RunOptions {
	o := query.RunOptions{Limit: s.req.Limit + 1, Offset: s.req.Offset, Workers: s.e.workers(), BlockTypes: blockTypes(s.lane), Limits: s.e.opts.QueryLimits.Limits}
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
		IndexGeneration: s.snap.store.Generation(), ReadOnly: s.e.readOnly(),
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
	found, errs := s.hits(ctx, env.Offset)
	for i, h := range s.result.Hits {
		hit, err := found[i], errs[i]
		if errors.Is(err, store.ErrCorrupt) {
			s.lost = append(s.lost, Damage{File: storeFile, Session: h.ID, Reason: err.Error(), Sessions: 1})
			s.distrust(ctx, h.Source, h.Session)
			continue
		}
		if err != nil {
			return err
		}
		env.Hits = append(env.Hits, hit)
	}
	return nil
}

// hitsPerWorker is how many hits one more worker is worth: to fetch one takes about as
// long as to start a few workers.
const hitsPerWorker = 4

// hits fetches what is shown of each hit, several at once.
func (s *search) hits(ctx context.Context, offset int) ([]Hit, []error) {
	n := len(s.result.Hits)
	found, errs := make([]Hit, n), make([]error, n)
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			if errs[i] = ctx.Err(); errs[i] == nil {
				found[i], errs[i] = s.guarded(s.result.Hits[i], offset+i+1)
			}
		}
	}
	var all sync.WaitGroup
	for range min(s.e.workers(), n/hitsPerWorker) - 1 {
		all.Go(work)
	}
	work()
	all.Wait()
	return found, errs
}

// guarded is hit, whose panic is an error: on a goroutine of its own nobody else could
// catch it.
func (s *search) guarded(h query.Hit, rank int) (hit Hit, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("hit %s: panic: %v\n%s", h.ID, p, debug.Stack())
		}
	}()
	return s.hit(h, rank)
}

// page says whether and how the answer goes on.
func (s *search) page(env *SearchEnvelope) error {
	asked := len(s.result.Hits) // those that could not be read are passed over
	seen := env.Offset + asked
	env.Returned = len(env.Hits)
	env.Truncated = s.more
	if !env.Truncated {
		return nil
	}
	env.NextOffset = &seen
	next, err := s.encodeCursor(s.result.Hits[asked-1], seen)
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

// empty says why an archive holds nothing that could be found.
func (s *search) empty() Reason {
	if s.e.acked.Load() != allAcked {
		return Reason{"archive_empty", "warning", "The archive holds no session yet, but an import is running: search again in a while."}
	}
	return Reason{"archive_empty", "warning", "The archive holds no session yet; bring some in with hansard import."}
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
		d.Reasons = append(d.Reasons, s.empty())
	}
	if env.Partial {
		d.Reasons = append(d.Reasons, Reason{"search_index_degraded", "warning", "A part of the index could not be read; the answer may lack sessions."})
	}
	if df := s.result.Stats.DF; s.plan.Ranked() && !env.Partial {
		for i, ph := range s.plan.Phrases() {
			if ph.Scored && i < len(df) && df[i] == 0 && scriptWarnings([]query.PhraseInfo{ph}) == nil {
				d.Reasons = append(d.Reasons, Reason{"no_matching_text", "info", fmt.Sprintf("No searched text holds %q; actions where text:… looks into the input of calls, too.", strings.Join(ph.Terms, " "))})
			}
		}
	}
	return d
}
