package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hansard-search/hansard/engine/store"
	"github.com/hansard-search/hansard/query"
)

// A UnitRequest asks for the rows of a unit.
type UnitRequest struct {
	Expression   string         // <unit> where …, see docs/query.md
	Limit        int            // rows of a page, fewer where they are long; 0 means DefaultLimit
	Offset       int            // rows to skip; not together with Continuation
	Continuation string         // of the page before
	Zone         *time.Location // of dates in the expression; nil means UTC
}

// unitSchema names the shape of a UnitEnvelope; it is additive within a major.
const unitSchema = "hansard.query-unit/1"

// A UnitEnvelope is the answer to a query for rows.
type UnitEnvelope struct {
	Schema string `json:"schema"`
	Mode   string `json:"mode"` // "query-unit" or, where rows are counted or reduced, "query-unit-aggregate"
	Unit   string `json:"unit"`
	Query  string `json:"query"`
	// Items are *MessageItem, *ActionItem or *BlockItem, as Unit says, in order: time
	// ascending with unknown first, session id, place in the session. Or they are
	// *GroupItem.
	Items []any `json:"items"`
	// Total is the number of rows or groups that the answer has over all its pages, exactly,
	// unless Partial.
	Total          int         `json:"total"`
	TotalIs        string      `json:"total_is"` // "exact" or, when Partial, "lower_bound"
	Exact          bool        `json:"exact"`
	Returned       int         `json:"returned"` // fewer than Limit where rows are long: see QueryLimits.Page
	Limit          int         `json:"limit"`
	Offset         int         `json:"offset"`
	NextOffset     *int        `json:"next_offset"`
	Continuation   *string     `json:"continuation"` // of rows; null on the last page
	Pipeline       *Pipeline   `json:"pipeline"`
	PipelineStages []UnitStage `json:"pipeline_stages"`
	FiltersApplied []string    `json:"filters_applied"`

	Partial         bool      `json:"partial"`
	Missing         []Damage  `json:"missing"`
	Warnings        []string  `json:"warnings"`
	ReadOnly        *ReadOnly `json:"read_only"`
	IndexGeneration uint64    `json:"index_generation"`
	TookMS          int64     `json:"took_ms"`
}

// The modes of a UnitEnvelope.
const (
	modeRows   = "query-unit"
	modeGroups = "query-unit-aggregate"
)

// Units answers a query for messages, actions or blocks with their rows or, where its
// pipeline counts or reduces them, with groups. It sees every
// acknowledged session. Faults of the expression are *query.Error; a damaged segment
// makes the answer Partial, never wrong.
func (e *Engine) Units(ctx context.Context, req UnitRequest) (*UnitEnvelope, error) {
	start := e.opts.Now()
	ctx, done, err := e.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	r := &rows{survey: survey{e: e}, req: req}
	if err := r.prepare(); err != nil {
		return nil, err
	}
	if r.snap, err = e.snapshot(ctx); err != nil {
		return nil, err
	}
	defer r.snap.release()
	env, err := within(ctx, e, r.plan, r.answer)
	if err != nil {
		return nil, fault(ctx, err)
	}
	env.TookMS = e.opts.Now().Sub(start).Milliseconds()
	return env, nil
}

// rows is one request for rows on its way to its answer.
type rows struct {
	survey
	req    UnitRequest
	plan   *query.Plan
	after  *continuation
	result *query.RowResult
	groups *query.GroupResult // instead of result, if the plan reduces rows
}

func (r *rows) prepare() (err error) {
	if r.req.Limit == 0 {
		r.req.Limit = DefaultLimit
	}
	switch {
	case r.req.Limit < 0 || r.req.Limit > MaxLimit:
		return &Error{Code: CodeInvalidArgument, Field: "limit", Message: fmt.Sprintf("limit %d is not between 1 and %d", r.req.Limit, MaxLimit)}
	case r.req.Offset < 0:
		return &Error{Code: CodeInvalidArgument, Field: "offset", Message: fmt.Sprintf("offset %d is negative", r.req.Offset)}
	case r.req.Offset > 0 && r.req.Continuation != "":
		return &Error{Code: CodeInvalidArgument, Field: "offset", Message: "an offset stands beside a continuation, which says where the page begins"}
	}
	if r.plan, err = compile(r.req.Expression, r.e.opts.Now(), r.req.Zone); err != nil {
		return err
	}
	if err = executable(r.plan); err != nil {
		return err
	}
	if r.plan.Unit() == query.UnitSession {
		return &Error{Code: CodeInvalidArgument, Field: "expression", Message: "the expression selects sessions, not rows of a unit",
			Hint: "begin it with messages where, actions where or blocks where, or search for the sessions"}
	}
	if r.req.Continuation != "" && r.plan.Reduces() {
		return &Error{Code: CodeInvalidCursor, Field: "continuation", Message: "groups have no continuation", Hint: "pass next_offset as the offset"}
	}
	if r.req.Continuation != "" {
		r.after, err = r.decode(r.req.Continuation)
	}
	return err
}

// executable refuses a plan for rows that this build cannot show.
func executable(p *query.Plan) error {
	switch p.Unit() {
	case query.UnitSession, query.UnitMessage, query.UnitAction, query.UnitBlock:
		return nil
	}
	e := &query.Error{Code: query.CodeNotSupportedYet, Message: p.Unit().Plural() + " are not supported yet", Position: p.Query.Where.Pos()}
	if p.Unit() == query.UnitFile {
		actions := *p.Query
		actions.Unit = query.UnitAction
		if text := actions.String(); parses(text) {
			e.Hint = "the actions that touched them are rows: `" + text + "`"
		}
	}
	return e
}

func parses(text string) bool {
	_, err := query.Parse(text)
	return err == nil
}

// answer runs the plan and makes the envelope.
func (r *rows) answer(ctx context.Context) (env *UnitEnvelope, err error) {
	err = r.complete(ctx, func(sources []query.Source) error { return r.run(ctx, sources) }, func() (err error) {
		env = r.envelope()
		if r.plan.Reduces() {
			r.showGroups(env)
			return nil
		}
		return r.show(ctx, env)
	})
	return env, err
}

func (r *rows) run(ctx context.Context, sources []query.Source) (err error) {
	limit, workers, limits := r.req.Limit+1, r.e.workers(), r.e.opts.QueryLimits.Limits
	if r.plan.Reduces() {
		r.groups, err = query.RunGroups(ctx, r.plan, sources, query.GroupOptions{Limit: limit, Offset: r.req.Offset, Workers: workers, Limits: limits})
		return err
	}
	o := query.RowOptions{Limit: limit, Offset: r.req.Offset, Workers: workers, Limits: limits}
	if r.after != nil {
		o.After, o.Seen = &r.after.anchor, r.after.rank
	}
	r.result, err = query.RunRows(ctx, r.plan, sources, o)
	return err
}

// envelope is the answer without its items.
func (r *rows) envelope() *UnitEnvelope {
	env := &UnitEnvelope{
		Schema: unitSchema, Mode: modeRows, Unit: string(r.plan.Unit()), Query: r.req.Expression, Items: []any{},
		TotalIs: "exact", Exact: true, Limit: r.req.Limit, Offset: r.req.Offset, Pipeline: pipelineOf(r.plan),
		FiltersApplied: filtersOf(r.plan), Missing: []Damage{}, Warnings: append([]string{}, r.plan.Warnings...),
		IndexGeneration: r.snap.store.Generation(), ReadOnly: r.e.readOnly(),
	}
	env.PipelineStages = env.Pipeline.Stages
	if r.after != nil {
		env.Offset = r.after.rank
	}
	return env
}

// show fills the items of an answer with rows.
func (r *rows) show(ctx context.Context, env *UnitEnvelope) error {
	env.Total = int(r.result.Total)
	found := r.result.Rows
	more := len(found) > r.req.Limit
	found = found[:min(len(found), r.req.Limit)]
	read, err := r.fetch(ctx, env, found)
	if err != nil {
		return err
	}
	more = more || read < len(found)
	found = found[:read]
	env.Returned = len(env.Items)
	r.confess(env)
	if !more {
		return nil
	}
	seen := env.Offset + len(found)
	next, err := r.encode(continuation{rank: seen, anchor: found[len(found)-1].RowAnchor})
	env.NextOffset, env.Continuation = &seen, &next
	return err
}

// confess says what the answer lacks.
func (r *rows) confess(env *UnitEnvelope) {
	if len(r.lost) > 0 {
		env.Partial, env.Exact, env.TotalIs, env.Missing = true, false, "lower_bound", r.lost
	}
}

// fetch reads what is shown of the rows, and returns how many it has gone through: the
// page ends early where it would hold too much. A session that cannot be read costs its
// rows, and is named once.
func (r *rows) fetch(ctx context.Context, env *UnitEnvelope, found []query.Row) (int, error) {
	f := &rowFetcher{rows: r}
	bad := map[string]bool{}
	for _, d := range r.lost {
		bad[d.Session] = d.Session != "" // the query has met it
	}
	most := cmp.Or(r.e.opts.QueryLimits.Page, pageBytes)
	held := 0
	for i, row := range found {
		if err := ctx.Err(); err != nil {
			return i, err
		}
		if most > 0 && held >= most {
			return i, nil
		}
		item, err := f.item(row)
		if errors.Is(err, store.ErrCorrupt) {
			if !bad[row.SessionID] {
				bad[row.SessionID] = true
				r.lost = append(r.lost, Damage{File: storeFile, Session: row.SessionID, Reason: err.Error(), Sessions: 1})
				r.distrust(ctx, row.Source, row.Session)
			}
			continue
		}
		if err != nil {
			return i, err
		}
		env.Items = append(env.Items, item)
		held += sizeOf(item)
	}
	return len(found), nil
}

// A continuation is where a page of rows ended.
type continuation struct {
	rank   int
	anchor query.RowAnchor
}

// continuationVersion is the version of the token.
const continuationVersion = 1

// A continuationToken is a continuation as it travels: JSON in URL-safe base64.
type continuationToken struct {
	Version int    `json:"v"`
	Rank    int    `json:"r"`
	Time    *int64 `json:"t"`
	Session string `json:"s"`
	Place   int64  `json:"p"`
	Request string `json:"q"`
}

// requestHash binds a continuation to its expression.
func (r *rows) requestHash() string {
	return hashOf(r.plan.Query.String())
}

func (r *rows) encode(c continuation) (string, error) {
	t := continuationToken{Version: continuationVersion, Rank: c.rank, Session: c.anchor.SessionID, Place: c.anchor.Place, Request: r.requestHash()}
	if c.anchor.HasTime {
		t.Time = &c.anchor.Time
	}
	return encodeToken(t)
}

// decode reads a token and refuses one of another expression.
func (r *rows) decode(token string) (*continuation, error) {
	bad := func(why, hint string) error {
		return &Error{Code: CodeInvalidCursor, Field: "continuation", Message: "the continuation " + why, Hint: hint}
	}
	var t continuationToken
	if !decodeToken(token, &t) {
		return nil, bad("is not one of ours", "pass the continuation of an answer unchanged")
	}
	switch {
	case t.Version != continuationVersion:
		return nil, bad(fmt.Sprintf("has version %d", t.Version), "start again from the first page")
	case t.Request != r.requestHash():
		return nil, bad("belongs to another expression", "repeat the request that gave it")
	case t.Rank < 1 || t.Place < 0:
		return nil, bad("is damaged", "start again from the first page")
	}
	c := &continuation{rank: t.Rank, anchor: query.RowAnchor{SessionID: t.Session, Place: t.Place}}
	if t.Time != nil {
		c.anchor.Time, c.anchor.HasTime = *t.Time, true
	}
	return c, nil
}
