package engine

import (
	"time"

	"github.com/hansard-search/hansard/query"
)

// ExplainOptions are what a query's meaning depends on besides its text.
type ExplainOptions struct {
	Now  time.Time
	Zone *time.Location // nil means UTC
}

// Explain says how a query is understood and would be executed. It needs no
// archive. Faults of the query are *query.Error.
func Explain(text string, o ExplainOptions) (*query.Explanation, error) {
	plan, err := compile(text, o.Now, o.Zone)
	if err != nil {
		return nil, err
	}
	if err := executable(plan); err != nil {
		return nil, err
	}
	return plan.Explain(), nil
}
