package engine

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/hansard-search/hansard/query"
)

// QueryLimits bound what one search may cost. A search that would pass one of them
// ends with a QUERY_LIMIT error and no answer. The zero value is production; below
// zero means no limit.
type QueryLimits struct {
	// Time is how long a search may take, from its snapshot to its last hit; 0 means
	// 5 s. Indexing what an import has left behind does not count.
	Time time.Duration
	// Page is how many bytes of text a page of rows may hold before it ends, though
	// fewer rows than were asked for are on it; its continuation has the rest. One row
	// is always on it. 0 means 32 MiB.
	Page int
	query.Limits
}

// pageBytes is the default of QueryLimits.Page.
const pageBytes = 32 << 20

// errQueryTime is the cause of a context that ran out by QueryLimits.Time.
var errQueryTime = errors.New("query time is over")

// within makes the answer to a plan inside of its limit of time.
func within[Answer any](ctx context.Context, e *Engine, plan *query.Plan, answer func(context.Context) (Answer, error)) (Answer, error) {
	limit := cmp.Or(e.opts.QueryLimits.Time, 5*time.Second)
	if limit < 0 {
		return answer(ctx)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errQueryTime)
	defer cancel()
	env, err := answer(ctx)
	if err != nil && errors.Is(err, context.DeadlineExceeded) && context.Cause(ctx) == errQueryTime {
		e := query.LimitError("time", plan.Query, "the query was stopped after %v", limit)
		e.Hint = "narrow it with a filter, or use fewer or longer words"
		return env, e
	}
	return env, err
}
