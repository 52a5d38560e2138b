package query

import (
	"fmt"
	"math"
	"strings"
)

// A pipeline is what the stages of a query come to.
type pipeline struct {
	desc   bool     // rows from the last to the first
	group  []string // what is grouped by; nil: all rows are one group
	reduce bool     // rows are counted or reduced
	agg    []Metric // nil: they are counted
	by     string   // the order of groups: count, key or a label; empty is the natural one
	down   bool
	offset int64
	limit  int64 // of the relation, over all pages
}

func newPipeline(stages []Stage) *pipeline {
	p := &pipeline{limit: math.MaxInt64}
	for _, s := range stages {
		switch s.Kind {
		case StageSort:
			if s.By == "time" {
				p.desc = s.Desc
			} else {
				p.by, p.down = s.By, s.Desc
			}
		case StageGroup:
			p.group = s.Fields
		case StageCount:
			p.reduce = true
		case StageAgg:
			p.reduce, p.agg = true, s.Metrics
		case StageLimit:
			p.limit = s.N
		case StageOffset:
			p.offset = s.N
		}
	}
	return p
}

// cut is what offset and limit leave of n rows or groups.
func (p *pipeline) cut(n int64) int64 { return min(max(n-p.offset, 0), p.limit) }

// several reports whether rows are counted by several fields, whose order has rules of
// its own.
func (p *pipeline) several() bool { return p.agg == nil && len(p.group) > 1 }

// operations are the steps of the plan behind its filters.
func (p *pipeline) operations(u *UnitSpec) []Operation {
	var out []Operation
	if p.reduce {
		what := "count"
		if p.agg != nil {
			what = Stage{Kind: StageAgg, Metrics: p.agg}.String()
		}
		if len(p.group) > 0 {
			what = "by " + strings.Join(p.group, ", ") + ": " + what
		}
		out = append(out, Operation{"aggregate", CostColumn, what})
	} else {
		order := "ascending"
		if p.desc {
			order = "descending"
		}
		out = append(out, Operation{"rows", CostColumn, fmt.Sprintf("%s.time, session.id, place in the session, all %s", u.Rows, order)})
	}
	if p.offset > 0 || p.limit < math.MaxInt64 {
		var what []string
		if p.offset > 0 {
			what = append(what, fmt.Sprintf("offset %d", p.offset))
		}
		if p.limit < math.MaxInt64 {
			what = append(what, fmt.Sprintf("limit %d", p.limit))
		}
		out = append(out, Operation{"cut", CostConstant, strings.Join(what, ", ")})
	}
	return out
}

// Reduction is what a plan that reduces rows groups them by, and the metrics of the
// groups: nil if they are only counted.
func (p *Plan) Reduction() (fields []string, metrics []Metric) { return p.pipe.group, p.pipe.agg }
