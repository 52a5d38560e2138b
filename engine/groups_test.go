package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func (w *world) units(req UnitRequest) *UnitEnvelope {
	w.t.Helper()
	env, err := w.Units(context.Background(), req)
	if err != nil {
		w.t.Fatalf("units %s: %v", req.Expression, err)
	}
	return env
}

// TestGroups compares what count and agg answer with loops over the rows of the same
// predicate, over several layouts of segments.
func TestGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 3))
	w := newWorld(t, Options{NoMerge: true})
	for i, s := range randomScripts(r, 60) {
		w.put(s)
		if i%9 == 0 {
			w.load()
			w.search(SearchRequest{})
		}
	}
	w.load()
	w.search(SearchRequest{})
	predicates := map[string][]string{
		"message": {"words >= 0", "role:assistant", "NOT role:assistant AND session.repo:acme", "role:nobody"},
		"action":  {"NOT tool:zzz", "is_error:true OR tool:shell", "session.origin:codex-session", "tool:nothing"},
	}
	groups := map[string][]string{
		"message": {"role", "type", "session.origin", "session.repo", "role,type", "repo,role,origin"},
		"action":  {"tool", "tool_family", "action", "is_error", "exit_code", "followup_class", "session.repo", "tool,is_error", "is_error,exit_code,session.origin"},
	}
	metrics := map[string]string{
		"message": "count, sum:word_count, avg:word_count, min:word_count, max:word_count, p1:word_count, p50:word_count, p90:word_count",
		"action":  "avg:is_error, sum:is_error, max:exit_code, p99:exit_code, count",
	}
	n := 0
	for unit, of := range predicates {
		for _, p := range of {
			rows := w.units(UnitRequest{Expression: unit + "s where " + p, Limit: MaxLimit}).Items
			if strings.HasSuffix(p, "nobody") != (len(rows) == 0) && !strings.HasSuffix(p, "nothing") {
				t.Fatalf("%ss where %s: %d rows", unit, p, len(rows))
			}
			for _, by := range append(groups[unit], "") {
				stage := ""
				if by != "" {
					stage = " | group by " + by
				}
				checkCount(t, w, unit, unit+"s where "+p+stage+" | count", by, rows)
				checkAgg(t, w, unit, unit+"s where "+p+stage+" | agg "+metrics[unit], by, metrics[unit], rows)
				n += 2
			}
		}
	}
	t.Logf("%d aggregates", n)
}

// fieldOf reads a group or metric field of a row the plain way.
func fieldOf(item any, field string) (string, bool) {
	word := func(s *string) (string, bool) {
		if s == nil {
			return "", false
		}
		return *s, true
	}
	number := func(n *int64) (string, bool) {
		if n == nil {
			return "", false
		}
		return strconv.FormatInt(*n, 10), true
	}
	if m, ok := item.(*MessageItem); ok {
		switch field {
		case "role":
			return m.Role, true
		case "type":
			return m.Type, true
		case "session.origin":
			return m.Origin, true
		case "word_count":
			return strconv.FormatInt(m.Words, 10), true
		}
	}
	if a, ok := item.(*ActionItem); ok {
		switch field {
		case "tool":
			return word(a.ToolName)
		case "tool_family":
			return word(a.ToolFamily)
		case "action", "type":
			return word(a.Semantic)
		case "is_error":
			if a.IsError == nil {
				return "", false
			}
			return strconv.Itoa(*a.IsError), true
		case "exit_code":
			return number(a.ExitCode)
		case "followup_class":
			return word(a.FollowupClass)
		case "session.origin":
			return a.Origin, true
		}
	}
	panic(fmt.Sprintf("%T has no %s", item, field))
}

// repoOf is the repository of the session of a row, by a search.
func repoOf(w *world, item any) (string, bool) {
	id := ""
	switch item := item.(type) {
	case *MessageItem:
		id = item.SessionID
	case *ActionItem:
		id = item.SessionID
	}
	repo := w.search(SearchRequest{Query: "session:" + id}).Hits[0].Session.Repo
	if repo == nil {
		return "", false
	}
	_, name, ok := strings.Cut(*repo, "/")
	if !ok {
		name = *repo
	}
	return name, true
}

type naiveGroup struct {
	keys []string // "[missing]" without a value
	rows []any
}

// naiveGroups are the groups of rows by key.
func naiveGroups(w *world, by string, rows []any) []naiveGroup {
	at := map[string]int{}
	repos := map[string][2]any{}
	var out []naiveGroup
	for _, row := range rows {
		var keys []string
		for _, f := range strings.FieldsFunc(by, func(r rune) bool { return r == ',' }) {
			if f == "repo" || f == "origin" {
				f = "session." + f
			}
			v, ok := "", false
			if f == "session.repo" {
				id, _ := fieldID(row)
				if _, seen := repos[id]; !seen {
					v, ok := repoOf(w, row)
					repos[id] = [2]any{v, ok}
				}
				v, ok = repos[id][0].(string), repos[id][1].(bool)
			} else {
				v, ok = fieldOf(row, f)
			}
			if !ok {
				v = "[missing]"
			}
			keys = append(keys, v)
		}
		key := strings.Join(keys, "\x00")
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, naiveGroup{keys: keys})
		}
		out[i].rows = append(out[i].rows, row)
	}
	return out
}

func fieldID(row any) (string, bool) {
	switch row := row.(type) {
	case *MessageItem:
		return row.SessionID, true
	case *ActionItem:
		return row.SessionID, true
	}
	return "", false
}

func checkCount(t *testing.T, w *world, unit, expression, by string, rows []any) {
	t.Helper()
	type line struct {
		Key   string
		Count int64
	}
	var want []line
	fields := strings.Split(strings.ReplaceAll(strings.ReplaceAll(","+by, ",repo", ",session.repo"), ",origin", ",session.origin")[1:], ",")
	groups := naiveGroups(w, by, rows)
	switch {
	case by == "":
		want = append(want, line{"all", int64(len(rows))})
	case len(fields) == 1:
		for _, g := range groups {
			k := g.keys[0]
			if k == "[missing]" {
				k = "unknown"
			}
			want = append(want, line{k, int64(len(g.rows))})
		}
		slices.SortFunc(want, func(a, b line) int {
			if a.Count != b.Count {
				return int(b.Count - a.Count)
			}
			return strings.Compare(a.Key, b.Key)
		})
	default:
		slices.SortFunc(groups, func(a, b naiveGroup) int {
			if len(a.rows) != len(b.rows) {
				return len(b.rows) - len(a.rows)
			}
			return -slices.Compare(a.keys, b.keys)
		})
		for _, g := range groups {
			m := map[string]string{}
			for i, f := range fields {
				m[f] = g.keys[i]
			}
			b, _ := json.Marshal(m)
			want = append(want, line{string(b), int64(len(g.rows))})
		}
	}
	env := w.units(UnitRequest{Expression: expression, Limit: MaxLimit})
	var got []line
	for _, item := range env.Items {
		g := item.(*GroupItem)
		if g.Metrics != nil || (g.GroupBy == nil) != (by == "") {
			t.Errorf("%s: item %+v", expression, g)
		}
		got = append(got, line{*g.GroupKey, g.Count})
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", expression, d)
	}
	if env.Mode != "query-unit-aggregate" || env.Total != len(want) || !env.Exact {
		t.Errorf("%s: mode %s, total %d of %d, exact %v", expression, env.Mode, env.Total, len(want), env.Exact)
	}
	if s := env.Pipeline.Result.SeveralCount; (s != nil) != (len(fields) > 1) || s != nil && (s.N != int64(len(rows)) || len(s.Groups) != len(want)) {
		t.Errorf("%s: several %+v", expression, s)
	}
}

func checkAgg(t *testing.T, w *world, unit, expression, by, metrics string, rows []any) {
	t.Helper()
	groups := naiveGroups(w, by, rows)
	slices.SortFunc(groups, func(a, b naiveGroup) int { return slices.Compare(a.keys, b.keys) })
	env := w.units(UnitRequest{Expression: expression, Limit: MaxLimit})
	if len(env.Items) != len(groups) {
		t.Errorf("%s: %d groups, want %d", expression, len(env.Items), len(groups))
		return
	}
	for i, item := range env.Items {
		g := item.(*GroupItem)
		if g.Count != int64(len(groups[i].rows)) {
			t.Errorf("%s: group %d counts %d, want %d", expression, i, g.Count, len(groups[i].rows))
		}
		for _, m := range strings.Split(metrics, ", ") {
			fn, field, _ := strings.Cut(m, ":")
			label := fn
			if field != "" {
				label += "_" + field
			}
			want, known := naiveMetric(fn, field, groups[i].rows)
			got := g.Metrics[label]
			if (got != nil) != known || known && *got != want {
				t.Errorf("%s: group %d: %s is %v, want %v (%v)", expression, i, label, got, want, known)
			}
		}
	}
	if n := env.Pipeline.Result.Sampled; n == nil || *n != int64(len(rows)) || !*env.Pipeline.Result.Exact {
		t.Errorf("%s: result %+v", expression, env.Pipeline.Result)
	}
}

func naiveMetric(fn, field string, rows []any) (float64, bool) {
	if fn == "count" {
		return float64(len(rows)), true
	}
	var v []float64
	sum := 0.0
	for _, row := range rows {
		if s, ok := fieldOf(row, field); ok {
			x, err := strconv.ParseFloat(s, 64)
			if err != nil {
				panic(err)
			}
			v = append(v, x)
			sum += x
		}
	}
	if len(v) == 0 {
		return 0, false
	}
	slices.Sort(v)
	switch fn {
	case "sum":
		return sum, true
	case "avg":
		return sum / float64(len(v)), true
	case "min":
		return v[0], true
	case "max":
		return v[len(v)-1], true
	}
	p, err := strconv.ParseFloat(fn[1:], 64)
	if err != nil {
		panic(err)
	}
	i := int(math.Ceil(p/100*float64(len(v)))) - 1
	return v[min(max(i, 0), len(v)-1)], true
}

// TestGroupOrder checks the stages behind an aggregate: sort, limit, offset, pages.
func TestGroupOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 3))
	w := newWorld(t, Options{})
	w.put(randomScripts(r, 40)...)
	w.load()
	const base = "actions where NOT tool:zzz | group by tool | count"
	keys := func(expression string, limit, offset int) []string {
		out := []string{}
		for _, item := range w.units(UnitRequest{Expression: expression, Limit: limit, Offset: offset}).Items {
			g := item.(*GroupItem)
			out = append(out, fmt.Sprintf("%s=%d", *g.GroupKey, g.Count))
		}
		return out
	}
	all := keys(base, 100, 0)
	if len(all) < 4 {
		t.Fatalf("only %v", all)
	}
	byKey := keys(base+" | sort by key", 100, 0)
	if !slices.IsSorted(byKey) {
		t.Errorf("sort by key: %v", byKey)
	}
	down := keys(base+" | sort by key desc", 100, 0)
	slices.Reverse(down)
	for name, d := range map[string]string{
		"sort by key desc":   cmp.Diff(byKey, down),
		"limit and offset":   cmp.Diff(all[1:3], keys(base+" | limit 2 | offset 1", 100, 0)),
		"page":               cmp.Diff(all[1:2], keys(base, 1, 1)),
		"page inside a cap":  cmp.Diff(all[2:3], keys(base+" | limit 2 | offset 1", 5, 1)),
		"page behind a cap":  cmp.Diff([]string{}, keys(base+" | limit 2", 5, 2)),
		"sort by count desc": cmp.Diff(all, keys(base+" | sort by count desc", 100, 0)),
		"nothing counted":    cmp.Diff([]string{"all=0"}, keys("actions where tool:zzz | count", 5, 0)),
		"nothing grouped":    cmp.Diff([]string{}, keys("actions where tool:zzz | group by tool | count", 5, 0)),
	} {
		if d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	env := w.units(UnitRequest{Expression: "actions where NOT tool:zzz | group by tool | agg avg:is_error, count | sort by avg_is_error desc", Limit: 100})
	last := math.Inf(1)
	for _, item := range env.Items {
		v := item.(*GroupItem).Metrics["avg_is_error"]
		if v == nil {
			last = math.Inf(-1)
			continue
		}
		if *v > last {
			t.Errorf("sort by avg_is_error: %v after %v", *v, last)
		}
		last = *v
	}
}
