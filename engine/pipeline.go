package engine

import (
	"strings"

	"github.com/hansard-search/hansard/query"
)

// A Pipeline says how the rows of an answer were made.
type Pipeline struct {
	Source       PipelineSource  `json:"source"`
	SessionScope *query.ASTNode  `json:"session_scope"` // the predicate of the sessions, null without one
	Stages       []UnitStage     `json:"stages"`
	Result       *PipelineResult `json:"result"` // null where no stage shapes the rows
}

// A PipelineSource is what the rows were taken from.
type PipelineSource struct {
	Unit      string         `json:"unit"`
	Predicate *query.ASTNode `json:"predicate"` // with that of the sessions before it
}

// A PipelineResult says what came out. Fields of stages that a query lacks are absent.
type PipelineResult struct {
	Sort       *UnitSort    `json:"sort,omitempty"`
	GroupBy    any          `json:"group_by,omitempty"`  // a string; a list of them where rows are counted by several fields
	Aggregate  any          `json:"aggregate,omitempty"` // "count"; a list of count and proportion where they are counted by several fields
	AggMetrics []UnitMetric `json:"agg_metrics,omitempty"`
	Limit      *int64       `json:"limit,omitempty"`
	Offset     *int64       `json:"offset,omitempty"`
	Exact      *bool        `json:"exact,omitempty"`        // of agg: every matching row was reduced
	Sampled    *int64       `json:"sampled_rows,omitempty"` // of agg: the rows that were reduced
	*SeveralCount
}

// A SeveralCount is what a count by several fields says besides its groups. The counts
// are over all matching rows, the groups are those of the page.
type SeveralCount struct {
	Denominator Denominator      `json:"denominator"`
	N           int64            `json:"n"`
	Missing     map[string]int64 `json:"missing_counts"`
	Unknown     map[string]int64 `json:"unknown_counts"`
	Groups      []GroupShare     `json:"groups"`
}

// A Denominator is what proportions are of.
type Denominator struct {
	Kind string `json:"kind"` // all_matching_rows
	N    int64  `json:"n"`
}

// A GroupShare is one group of a count by several fields.
type GroupShare struct {
	Group      map[string]string `json:"group"`
	Count      int64             `json:"count"`
	Proportion float64           `json:"proportion"`
}

// A UnitStage is one stage of a pipeline; which fields are there depends on Kind.
type UnitStage struct {
	Kind      string         `json:"kind"`                // session_scope, sort, limit, offset, group, count, agg or terminal
	Predicate *query.ASTNode `json:"predicate,omitempty"` // of session_scope
	Sort      *UnitSort      `json:"sort,omitempty"`
	Value     *int64         `json:"value,omitempty"`  // of limit and offset
	Field     string         `json:"field,omitempty"`  // of group by one field
	Fields    []string       `json:"fields,omitempty"` // of group by several
	Metric    string         `json:"metric,omitempty"` // of count
	Metrics   []UnitMetric   `json:"metrics,omitempty"`
	Action    string         `json:"action,omitempty"` // of terminal: rows, count or agg
}

// A UnitSort is the order of rows or groups.
type UnitSort struct {
	Field     string `json:"field"`
	Direction string `json:"direction"` // asc or desc
}

// A UnitMetric is one metric of agg.
type UnitMetric struct {
	Fn    string `json:"fn"`
	Label string `json:"label"`
	Field string `json:"field,omitempty"`
}

// pipelineOf describes the pipeline of a plan.
func pipelineOf(p *query.Plan) *Pipeline {
	q := p.Query
	out := &Pipeline{Source: PipelineSource{Unit: string(q.Unit), Predicate: q.ExplainRows()}, Stages: []UnitStage{}}
	if q.Scope != nil {
		out.SessionScope = query.ExplainPredicate(q.Scope)
		out.Stages = append(out.Stages, UnitStage{Kind: "session_scope", Predicate: out.SessionScope})
	}
	result := &PipelineResult{}
	action := "rows"
	for _, s := range q.Stages {
		stage := UnitStage{Kind: string(s.Kind)}
		switch s.Kind {
		case query.StageSort:
			stage.Sort = &UnitSort{Field: s.By, Direction: "asc"}
			if s.Desc {
				stage.Sort.Direction = "desc"
			}
			result.Sort = stage.Sort
		case query.StageLimit:
			stage.Value, result.Limit = &s.N, &s.N
		case query.StageOffset:
			stage.Value, result.Offset = &s.N, &s.N
		case query.StageGroup:
			result.GroupBy = strings.Join(s.Fields, ",")
			if stage.Fields = s.Fields; len(s.Fields) == 1 {
				stage.Field, stage.Fields = s.Fields[0], nil
			}
		case query.StageCount:
			stage.Metric, action = "count", "count"
			result.Aggregate = "count"
		case query.StageAgg:
			action = "agg"
			for _, m := range s.Metrics {
				stage.Metrics = append(stage.Metrics, UnitMetric{m.Fn, m.Label, m.Field})
			}
			result.AggMetrics = stage.Metrics
		}
		out.Stages = append(out.Stages, stage)
	}
	if len(q.Stages) > 0 {
		out.Result = result
	}
	out.Stages = append(out.Stages, UnitStage{Kind: "terminal", Action: action})
	return out
}
