package query

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// answerGroups are the groups that q asks for, in their order, before a caller's page.
func (o *oracle) answerGroups(q *Query) []Group {
	var fields []string
	var agg []Metric
	by, desc, limit, offset := "", false, int64(-1), int64(0)
	for _, s := range q.Stages {
		switch s.Kind {
		case StageGroup:
			fields = s.Fields
		case StageAgg:
			agg = s.Metrics
		case StageSort:
			if s.By != "time" {
				by, desc = s.By, s.Desc
			}
		case StageLimit:
			limit = s.N
		case StageOffset:
			offset = s.N
		}
	}
	groups := map[string]*Group{}
	values := map[string]map[string][]int64{} // by group and field
	if fields == nil && agg == nil {
		groups[""] = &Group{} // nothing counted is 0
	}
	for _, s := range o.sessions {
		if s.dead || q.Scope != nil && !o.holds(q.Scope, s) {
			continue
		}
		for _, r := range o.rows(q.Unit, s) {
			if !o.rowHolds(q.Where, s, r) {
				continue
			}
			var keys []GroupKey
			for _, f := range fields {
				v := groupValue(f, q.Unit, s, r)
				if v == "" && agg == nil && len(fields) == 1 {
					v = "unknown"
				}
				keys = append(keys, GroupKey{Value: v, Missing: v == ""})
			}
			id := shownKeys(keys)
			if groups[id] == nil {
				groups[id] = &Group{Keys: keys}
			}
			groups[id].Count++
			if values[id] == nil {
				values[id] = map[string][]int64{}
			}
			for f, v := range map[string]string{"is_error": r.failed} {
				if n, err := strconv.ParseInt(v, 10, 64); err == nil {
					values[id][f] = append(values[id][f], n)
				}
			}
			for f, v := range r.numbers {
				if f == "words" {
					f = "word_count"
				}
				values[id][f] = append(values[id][f], v)
			}
		}
	}
	var out []Group
	for id, g := range groups {
		for _, m := range agg {
			g.Metrics = append(g.Metrics, reduceNaive(m, g.Count, values[id][m.Field]))
		}
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b Group) int { return groupOrder(a, b, fields, agg, by, desc) })
	out = out[min(offset, int64(len(out))):]
	if limit >= 0 {
		out = out[:min(limit, int64(len(out)))]
	}
	return out
}

// groupOrder: counts from the largest, then by key; by several fields both from the
// largest; reduced groups by key. A sort by a metric has those without it last.
func groupOrder(a, b Group, fields []string, agg []Metric, by string, desc bool) int {
	sign := 1
	if desc {
		sign = -1
	}
	key, count := strings.Compare(shownKeys(a.Keys), shownKeys(b.Keys)), cmp.Compare(a.Count, b.Count)
	switch {
	case by == "" && agg != nil:
		return key
	case by == "" && len(fields) > 1:
		return -cmp.Or(count, key)
	case by == "":
		return cmp.Or(-count, key)
	case by == "key":
		return sign * key
	case by == "count" && agg == nil && len(fields) > 1:
		return sign * cmp.Or(count, key)
	case by == "count":
		return cmp.Or(sign*count, key)
	}
	i := slices.IndexFunc(agg, func(m Metric) bool { return m.Label == by })
	x, y := a.Metrics[i], b.Metrics[i]
	if x.Known && y.Known {
		return cmp.Or(sign*cmp.Compare(x.Value, y.Value), key)
	}
	rank := map[bool]int{true: 0, false: 1}
	return cmp.Or(rank[x.Known]-rank[y.Known], key)
}

// shownKeys are keys as one text that sorts as they do one after another.
func shownKeys(keys []GroupKey) string {
	var b strings.Builder
	for _, k := range keys {
		if k.Missing {
			b.WriteString("[missing]")
		}
		b.WriteString(k.Value + "\x00")
	}
	return b.String()
}

// groupValue is what r is grouped by, "" if it has none.
func groupValue(field string, u Unit, s fakeSession, r oracleRow) string {
	switch field {
	case "session.origin":
		return s.origin
	case "session.repo":
		return s.repo
	case "tool", "tool_family":
		return r.words[field+" shown"][0]
	case "is_error":
		return r.failed
	case "exit_code":
		if v, ok := r.numbers[field]; ok {
			return strconv.FormatInt(v, 10)
		}
		return ""
	}
	return r.words[field][0]
}

func reduceNaive(m Metric, count int64, values []int64) Number {
	if m.Fn == "count" {
		return Number{float64(count), true}
	}
	if len(values) == 0 {
		return Number{}
	}
	slices.Sort(values)
	sum := int64(0)
	for _, v := range values {
		sum += v
	}
	switch m.Fn {
	case "sum":
		return Number{float64(sum), true}
	case "avg":
		return Number{float64(sum) / float64(len(values)), true}
	case "min":
		return Number{float64(values[0]), true}
	case "max":
		return Number{float64(values[len(values)-1]), true}
	}
	percent, err := strconv.Atoi(m.Fn[1:])
	if err != nil {
		panic(err)
	}
	rank := 1 // the least rank that percent of the values do not pass
	for 100*rank < percent*len(values) {
		rank++
	}
	return Number{float64(values[rank-1]), true}
}

// randomStages are the stages of a pipeline over rows of u, and whether they reduce.
func randomStages(r *rand.Rand, u Unit) (string, bool) {
	var stages []string
	if r.IntN(3) == 0 {
		stages = append(stages, pick(r, "sort by time", "sort by time desc", "SORT BY TIME ASC"))
	}
	reduces := r.IntN(3) > 0
	if reduces {
		var fields []string
		for _, f := range u.spec().Groups {
			if r.IntN(2) == 0 {
				fields = append(fields, f)
			}
		}
		r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
		if fields = fields[:min(len(fields), r.IntN(4))]; len(fields) > 0 && stages == nil {
			stages = append(stages, "group by "+strings.Join(fields, pick(r, ",", ", ")))
		}
		sorts := []string{"key", "count"}
		if metrics := u.spec().Metrics; r.IntN(2) == 0 {
			agg := []string{"count"}
			for _, f := range metrics {
				for _, fn := range []string{"sum", "avg", "min", "max", "p1", "p50", "p90"} {
					if r.IntN(3) == 0 {
						agg = append(agg, fn+":"+f)
						sorts = append(sorts, fn+"_"+f)
					}
				}
			}
			stages = append(stages, "agg "+strings.Join(agg, pick(r, ",", ", ")))
		} else {
			stages = append(stages, "count")
		}
		if r.IntN(2) == 0 {
			stages = append(stages, "sort by "+pick(r, sorts...)+pick(r, "", " asc", " desc"))
		}
	}
	if r.IntN(3) == 0 {
		stages = append(stages, "limit "+strconv.Itoa(1+r.IntN(9)))
	}
	if r.IntN(3) == 0 {
		stages = append(stages, "offset "+strconv.Itoa(r.IntN(9)))
	}
	return strings.Join(append([]string{""}, stages...), " | "), reduces
}

// TestPipelinesAgainstOracle compares groups, and rows that are sorted and cut, with
// plain loops, over one source and over several, page by page.
func TestPipelinesAgainstOracle(t *testing.T) {
	seed := cmp.Or(*testSeed, rand.Uint64())
	t.Logf("go test ./query -run %s -seed %d", t.Name(), seed)
	r := rand.New(rand.NewPCG(seed, 4))
	archives, queries := 20, 50
	if *long {
		archives, queries = 1000, 100
	}
	found := 0
	for range archives {
		sessions := randomSessions(r, 1+r.IntN(40))
		o := &oracle{sessions: sessions, options: Options{Now: testNow}}
		layouts := [][]Source{{newFake(sessions)}, split(r, sessions)}
		for range queries {
			u := []Unit{UnitMessage, UnitAction, UnitBlock}[r.IntN(3)]
			stages, reduces := randomStages(r, u)
			text := u.Plural() + " where " + randomRowPredicate(r, u, r.IntN(3)) + stages
			if r.IntN(4) == 0 {
				text = "sessions where " + randomSessionPredicate(r, 1) + " | " + text
			}
			plan := mustCompile(t, text)
			checkRoundTrip(t, plan.Query)
			if reduces {
				found += comparePagesOfGroups(t, r, plan, o.answerGroups(plan.Query), layouts)
			} else {
				want := o.cutRows(plan.Query)
				found += len(want)
				compareRowPages(t, r, plan, want, layouts...)
			}
			if t.Failed() {
				return
			}
		}
	}
	if found < archives*queries {
		t.Errorf("%d queries gave only %d rows and groups", archives*queries, found)
	}
}

// cutRows are the rows that the sort, the offset and the limit of q leave.
func (o *oracle) cutRows(q *Query) []RowAnchor {
	out := o.answerRows(q)
	limit, offset := len(out), 0
	for _, s := range q.Stages {
		switch {
		case s.Kind == StageSort && s.Desc:
			slices.Reverse(out)
		case s.Kind == StageLimit:
			limit = int(s.N)
		case s.Kind == StageOffset:
			offset = int(s.N)
		}
	}
	out = out[min(offset, len(out)):]
	return out[:min(limit, len(out))]
}

func comparePagesOfGroups(t *testing.T, r *rand.Rand, p *Plan, want []Group, layouts [][]Source) int {
	t.Helper()
	page := func(sources []Source, limit, offset int) []Group {
		res, err := RunGroups(t.Context(), p, sources, GroupOptions{Limit: limit, Offset: offset, Workers: 2})
		if err != nil {
			t.Fatalf("RunGroups(%q): %v", p.Query.Source, err)
		}
		if int(res.Total) != len(want) {
			t.Errorf("%q: total of %d groups, want %d", p.Query.Source, res.Total, len(want))
		}
		return res.Groups
	}
	same := func(a, b Group) bool {
		return slices.Equal(a.Keys, b.Keys) && a.Count == b.Count && slices.Equal(a.Metrics, b.Metrics)
	}
	for _, sources := range layouts {
		if got := page(sources, -1, 0); !slices.EqualFunc(got, want, same) {
			t.Errorf("%q: groups\n%v, want\n%v", p.Query.Source, got, want)
		}
	}
	for i, size := 0, 1+r.IntN(4); i < len(want) && !t.Failed(); i += size {
		if got, part := page(layouts[r.IntN(2)], size, i), want[i:min(i+size, len(want))]; !slices.EqualFunc(got, part, same) {
			t.Errorf("%q: page at %d\n%v, want\n%v", p.Query.Source, i, got, part)
		}
	}
	return len(want)
}
