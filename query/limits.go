package query

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
)

// Limits bound what one run may cost. A run that would pass one of them ends with a
// QUERY_LIMIT error and no answer: a shortened answer would look like a whole one.
// The zero value is production; below zero means no limit. The time of a run is the
// caller's to bound, through its context.
type Limits struct {
	// Prefix is the most terms that word* may stand for in one source; 0 means
	// 10,000. Which terms a source holds depends on merges, so near the limit the
	// same query may be answered or refused, but never answered differently.
	Prefix int
	// Memory is the most bytes that a run holds at once beside the sources, by its
	// own account of its large allocations; 0 means 256 MiB.
	Memory int64
}

func (l Limits) withDefaults() Limits {
	return Limits{Prefix: cmp.Or(l.Prefix, 10_000), Memory: cmp.Or(l.Memory, 256<<20)}
}

// A budget is what a run may still spend. A nil budget has no end.
type budget struct {
	ctx    context.Context // of the run, and ends with it
	plan   *Plan
	limits Limits
	used   atomic.Int64 // bytes
}

func newBudget(ctx context.Context, p *Plan, l Limits) *budget {
	return &budget{ctx: ctx, plan: p, limits: l.withDefaults()}
}

// alive returns the error of the run's context. Loops that no source bounds ask it.
func (b *budget) alive() error {
	if b == nil {
		return nil
	}
	return b.ctx.Err()
}

// take accounts for n bytes that stay until the run ends.
func (b *budget) take(n int64) error {
	if b == nil || b.limits.Memory < 0 || b.used.Add(n) <= b.limits.Memory {
		return nil
	}
	return LimitError("memory", b.plan.Query, "the query needs more than %d MiB of memory", b.limits.Memory>>20).
		hint("use fewer or longer words, fewer stars, or a filter")
}

// expanded refuses a prefix that stands for n terms or more of a source.
func (b *budget) expanded(u *unit, n int) error {
	if b == nil || b.limits.Prefix < 0 || n <= b.limits.Prefix {
		return nil
	}
	e := at(CodeLimit, u.at, "%s stands for more than %d words", u.String(), b.limits.Prefix).field("prefix")
	return e.hint("write more letters before the star")
}

// LimitError is the error of a query that passed a limit of its run: what names it,
// "prefix", "memory" or "time".
func LimitError(what string, q *Query, format string, args ...any) *Error {
	return &Error{Code: CodeLimit, Field: what, Message: fmt.Sprintf(format, args...), Position: position(q.Source, 0, len(q.Source))}
}

// context is that of the run.
func (b *budget) context() context.Context {
	if b == nil {
		return context.Background()
	}
	return b.ctx
}
