package query

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
)

// A GroupKey is the value of one field that a group is made by.
type GroupKey struct {
	Value   string
	Missing bool // the rows have no value
}

// A Group is the rows that share their keys.
type Group struct {
	Keys    []GroupKey // in the order of the fields; empty: all rows
	Count   int64
	Metrics []Number // in the order of the metrics
}

// A Number is the value of a metric; it is not Known if no row of the group has one.
type Number struct {
	Value float64
	Known bool
}

// A GroupResult is an answer that counts or reduces rows.
type GroupResult struct {
	Groups []Group // of this page
	Total  int64   // groups, on this page or not; exact
	Rows   int64   // matching rows, all of which were reduced
	// Missing and Unknown count the rows without a value, and those whose value says
	// "unknown", by field.
	Missing, Unknown []int64
}

// GroupOptions say which groups are wanted.
type GroupOptions struct {
	Limit   int // most groups; 0 means DefaultLimit, below 0 all
	Offset  int
	Workers int
	Limits  Limits
}

// RunGroups answers a plan that counts or reduces rows, over every matching row. A
// failing source is returned as a *[SourceError].
func RunGroups(ctx context.Context, p *Plan, sources []Source, o GroupOptions) (*GroupResult, error) {
	if p.rows == nil || !p.pipe.reduce {
		return nil, errors.New("query: groups asked of a query for rows or sessions")
	}
	found := make([]*reducer, len(sources))
	err := eachSegment(ctx, p, sources, workersFor(sources, o.Workers), newBudget(ctx, p, o.Limits), nil, func(i int, x *segment) error {
		found[i] = &reducer{x: x, plan: p, groups: map[string]*tally{}}
		return found[i].run()
	})
	if err != nil {
		return nil, err
	}
	return p.gather(found, o), nil
}

// gather joins the groups of all segments and orders them.
func (p *Plan) gather(found []*reducer, o GroupOptions) *GroupResult {
	all := map[string]*tally{}
	out := &GroupResult{Groups: []Group{}, Missing: make([]int64, len(p.pipe.group)), Unknown: make([]int64, len(p.pipe.group))}
	for _, r := range found {
		for key, t := range r.groups {
			if all[key] == nil {
				all[key] = t
			} else {
				all[key].join(t)
			}
		}
	}
	if len(p.pipe.group) == 0 && p.pipe.agg == nil && len(all) == 0 {
		all[""] = &tally{} // to count nothing is an answer
	}
	for _, t := range all {
		out.Rows += t.count
		for i, k := range t.keys {
			switch {
			case k.Missing:
				out.Missing[i] += t.count
			case strings.EqualFold(k.Value, "unknown"):
				out.Unknown[i] += t.count
			}
		}
		out.Groups = append(out.Groups, Group{Keys: t.keys, Count: t.count, Metrics: t.numbers(p.pipe.agg)})
	}
	if p.pipe.agg == nil && len(p.pipe.group) == 1 {
		out.Groups = joinUnknown(out.Groups)
	}
	slices.SortFunc(out.Groups, p.pipe.order())
	n := p.pipe.cut(int64(len(out.Groups)))
	first := min(p.pipe.offset, int64(len(out.Groups)))
	out.Groups, out.Total = out.Groups[first:first+n], n
	out.Groups = out.Groups[min(max(o.Offset, 0), len(out.Groups)):]
	if o.Limit >= 0 {
		out.Groups = out.Groups[:min(cmp.Or(o.Limit, DefaultLimit), len(out.Groups))]
	}
	return out
}

// joinUnknown gives the rows without a value to the group "unknown": so a count by one
// field names them.
func joinUnknown(groups []Group) []Group {
	missing := slices.IndexFunc(groups, func(g Group) bool { return g.Keys[0].Missing })
	if missing < 0 {
		return groups
	}
	unknown := slices.IndexFunc(groups, func(g Group) bool { return !g.Keys[0].Missing && g.Keys[0].Value == "unknown" })
	if unknown < 0 {
		groups[missing].Keys = []GroupKey{{Value: "unknown"}}
		return groups
	}
	groups[unknown].Count += groups[missing].Count
	return slices.Delete(groups, missing, missing+1)
}

// order is the order of groups. It is total: keys are distinct.
func (p *pipeline) order() func(a, b Group) int {
	keys := func(a, b Group) int { return slices.CompareFunc(a.Keys, b.Keys, compareKeys) }
	by, down := p.by, p.down
	if by == "" && p.agg == nil {
		by, down = "count", true
	}
	flip := func(c int) int {
		if down {
			return -c
		}
		return c
	}
	return func(a, b Group) int {
		counts := cmp.Compare(a.Count, b.Count)
		switch {
		case by == "" || by == "key":
			return flip(keys(a, b))
		case by == "count" && p.several():
			return flip(cmp.Or(counts, keys(a, b)))
		case by == "count":
			return cmp.Or(flip(counts), keys(a, b))
		}
		i := slices.IndexFunc(p.agg, func(m Metric) bool { return m.Label == by })
		if i < 0 || p.agg[i].Fn == "count" {
			return cmp.Or(flip(counts), keys(a, b))
		}
		x, y := a.Metrics[i], b.Metrics[i]
		if x.Known != y.Known {
			if x.Known {
				return -1 // groups without the number come last, whatever the direction
			}
			return 1
		}
		return cmp.Or(flip(cmp.Compare(x.Value, y.Value)), keys(a, b))
	}
}

// compareKeys orders the rows without a value as if they had the value "[missing]",
// which is how they are shown.
func compareKeys(a, b GroupKey) int {
	if c := cmp.Compare(a.shown(), b.shown()); c != 0 || a.Missing == b.Missing {
		return c
	}
	if a.Missing {
		return 1 // behind a value that only looks so
	}
	return -1
}

func (k GroupKey) shown() string {
	if k.Missing {
		return "[missing]"
	}
	return k.Value
}
