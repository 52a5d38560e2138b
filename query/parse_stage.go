package query

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const stageForms = "sort by time [asc|desc], group by FIELD[,FIELD...], count, agg METRIC[,METRIC...], " +
	"sort by count|key|LABEL [asc|desc], limit N, offset N"

// stages reads the stages of a pipeline behind a query for rows of u.
func (p *parser) stages(u *UnitSpec) ([]Stage, *Error) {
	var out []Stage
	for p.peek().kind == tokPipe {
		pipe := p.peek()
		p.i++
		t := p.peek()
		if t.kind == tokSource {
			rest, _, _ := strings.Cut(p.text[t.at.Start:], "|")
			t.raw = strings.TrimSpace(rest)
			return nil, unsupportedStage(t)
		}
		if t.kind != tokStage || t.raw == "" {
			return nil, emptyStage(pipe)
		}
		p.i++
		s, err := stage(u, t, out)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func emptyStage(pipe token) *Error {
	return at(CodeSyntax, pipe.at, "pipeline requires non-empty stages around '|'").expect(strings.Split(stageForms, ", ")...)
}

// stage reads one stage behind those before it.
func stage(u *UnitSpec, t token, before []Stage) (Stage, *Error) {
	words := strings.Fields(t.raw)
	low := strings.Fields(strings.ToLower(t.raw))
	s := Stage{At: t.at}
	had := func(kinds ...StageKind) bool {
		return slices.ContainsFunc(before, func(b Stage) bool { return slices.Contains(kinds, b.Kind) })
	}
	switch {
	case len(low) >= 3 && low[0] == "sort" && low[1] == "by":
		return sortStage(u, s, low[2:], before, had)
	case len(low) >= 2 && low[0] == "group" && low[1] == "by":
		s.Kind = StageGroup
		switch {
		case had(StageSort):
			return s, misplacedStage(s, "group by", "sort by")
		case had(StageCount, StageLimit, StageOffset):
			return s, misplacedStage(s, "group by", "count, limit and offset")
		case had(StageGroup):
			return s, at(CodeSyntax, t.at, "pipeline has more than one `group by`").field("group").hint("write group by FIELD,FIELD")
		}
		var err *Error
		s.Fields, err = groupFields(u, t, strings.Join(low[2:], " "))
		return s, err
	case len(low) == 1 && low[0] == "count":
		s.Kind = StageCount
		if !u.aggregates() {
			return s, noAggregates(u, s)
		}
		if had(StageLimit, StageOffset) {
			return s, misplacedStage(s, "count", "limit and offset")
		}
		return s, nil
	case len(low) >= 2 && low[0] == "agg":
		s.Kind = StageAgg
		if !u.aggregates() {
			return s, noAggregates(u, s)
		}
		if had(StageLimit, StageOffset) {
			return s, misplacedStage(s, "agg", "limit and offset")
		}
		var err *Error
		s.Metrics, err = metrics(u, t, strings.Join(words[1:], " "))
		return s, err
	case len(low) == 2 && (low[0] == "limit" || low[0] == "offset"):
		s.Kind = StageKind(low[0])
		return bound(s, low[1])
	}
	return s, unsupportedStage(t)
}

func unsupportedStage(t token) *Error {
	return at(CodeSyntax, t.at, "unsupported pipeline stage '%s'; supported terminal stages are %s", t.raw, stageForms).
		expect(strings.Split(stageForms, ", ")...)
}

// misplacedStage is the error for a stage behind one that it has to come before.
func misplacedStage(s Stage, what, behind string) *Error {
	return at(CodeSyntax, s.At, "pipeline stage `%s` must come before %s", what, behind).field(string(s.Kind))
}

func noAggregates(u *UnitSpec, s Stage) *Error {
	return at(CodeFieldScope, s.At, "%s rows: pipeline stage `%s` has no aggregate lowerer (%s)", u.Name, s.Kind, s.Kind).field(string(s.Kind))
}

func sortStage(u *UnitSpec, s Stage, words []string, before []Stage, had func(...StageKind) bool) (Stage, *Error) {
	s.Kind, s.By = StageSort, words[0]
	if len(words) > 2 || len(words) == 2 && words[1] != "asc" && words[1] != "desc" {
		return s, at(CodeSyntax, s.At, "pipeline stage `sort by` takes asc or desc behind %s", s.By).field("sort").expect("asc", "desc")
	}
	s.Desc = len(words) == 2 && words[1] == "desc"
	groups := had(StageCount, StageAgg)
	switch {
	case had(StageLimit, StageOffset):
		return s, misplacedStage(s, "sort by", "limit and offset")
	case s.By == "time" && groups:
		return s, at(CodeSyntax, s.At, "pipeline stage `sort by time` must appear before aggregate stages").field("sort")
	case s.By == "time" && had(StageGroup):
		return s, at(CodeSyntax, s.At, "pipeline stage `sort by time` must appear before `group by`").field("sort")
	case s.By == "time" && u.Timeless:
		return s, at(CodeFieldScope, s.At, "pipeline stage `sort by time` is not supported for %s rows", u.Name).field("sort")
	case s.By == "time":
		return s, nil
	case s.By == "count" && !groups:
		return s, at(CodeSyntax, s.At, "pipeline stage `sort by count` requires an aggregate `count` stage before it").field("sort").expect("count")
	case s.By == "key" && !groups:
		return s, at(CodeSyntax, s.At, "pipeline stage `sort by key` requires an aggregate `count` or `agg` stage before it").field("sort").expect("count", "agg")
	case s.By == "count" || s.By == "key":
		return s, nil
	}
	by := []string{"time", "count", "key"}
	for _, b := range before {
		for _, m := range b.Metrics {
			if m.Label != "count" {
				by = append(by, m.Label)
			}
		}
	}
	if !slices.Contains(by, s.By) {
		return s, at(CodeInvalidValue, s.At, "pipeline stage `sort by %s` is not supported; rows are sorted by time, groups by count, key or the label of a metric", s.By).
			field("sort").expect(by...)
	}
	return s, nil
}

// groupFields reads the fields of group by.
func groupFields(u *UnitSpec, t token, list string) ([]string, *Error) {
	var out []string
	for _, name := range strings.Split(list, ",") {
		name = strings.TrimSpace(name)
		switch name {
		case "":
			return nil, at(CodeSyntax, t.at, "pipeline stage `group by` requires a field after every comma").field("group").expect(u.Groups...)
		case "origin", "repo":
			name = ownerPrefix + name
		}
		if !slices.Contains(u.Groups, name) {
			return nil, at(CodeFieldScope, t.at, "pipeline stage `group by %s` is not supported for %s rows; supported fields: %s",
				name, u.Name, strings.Join(u.Groups, ", ")).field(name).expect(u.Groups...)
		}
		if slices.Contains(out, name) {
			return nil, at(CodeSyntax, t.at, "pipeline stage `group by` names %s twice", name).field("group")
		}
		out = append(out, name)
	}
	return out, nil
}

var metricPattern = regexp.MustCompile(`^(?i:(count|sum|avg|min|max|p\d+))(?::(\S*))?$`)

// metrics reads the metrics of agg.
func metrics(u *UnitSpec, t token, list string) ([]Metric, *Error) {
	var out []Metric
	for _, text := range strings.Split(list, ",") {
		text = strings.TrimSpace(text)
		if text == "" {
			return nil, at(CodeSyntax, t.at, "pipeline stage `agg` requires a metric after every comma").field("agg").expect("count", "avg:FIELD")
		}
		parts := metricPattern.FindStringSubmatch(text)
		fn := ""
		if parts != nil {
			fn = strings.ToLower(parts[1])
		}
		if _, ok := percentile(fn); fn == "" || strings.HasPrefix(fn, "p") && !ok {
			name, _, _ := strings.Cut(text, ":")
			return nil, at(CodeInvalidValue, t.at, "unsupported `agg` function '%s' for %s rows; supported functions: count, sum, avg, min, max, p1..p99", name, u.Name).
				field("agg").expect("count", "sum", "avg", "min", "max", "p90")
		}
		m := Metric{Fn: fn, Field: parts[2], Label: fn + "_" + parts[2]}
		switch colon := strings.Contains(text, ":"); {
		case fn == "count" && colon:
			return nil, at(CodeInvalidValue, t.at, "`agg count` takes no field").field("agg").expect("count")
		case fn == "count":
			m.Label = "count"
		case !slices.Contains(u.Metrics, m.Field):
			return nil, at(CodeFieldScope, t.at, "`agg` metric '%s' is not supported for %s rows; supported metric fields: %s",
				text, u.Name, strings.Join(u.Metrics, ", ")).field("agg").expect(u.Metrics...)
		}
		if slices.ContainsFunc(out, func(o Metric) bool { return o.Label == m.Label }) {
			return nil, at(CodeInvalidValue, t.at, "`agg` has duplicate metrics: %s", m.Label).field("agg")
		}
		out = append(out, m)
	}
	return out, nil
}

// bound reads the number of limit or offset.
func bound(s Stage, word string) (Stage, *Error) {
	n, err := strconv.ParseInt(word, 10, 64)
	switch {
	case err != nil:
		return s, at(CodeInvalidValue, s.At, "pipeline stage `%s` requires an integer", s.Kind).field(string(s.Kind)).expect("number")
	case n < 0:
		return s, at(CodeInvalidValue, s.At, "pipeline stage `%s` must be non-negative", s.Kind).field(string(s.Kind)).expect("number")
	case n == 0 && s.Kind == StageLimit:
		return s, at(CodeInvalidValue, s.At, "pipeline stage `limit` must be greater than zero").field("limit").expect("number")
	}
	s.N = n
	return s, nil
}
