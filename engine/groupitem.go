package engine

import (
	"encoding/json"
	"strings"

	"github.com/hansard-search/hansard/query"
)

// A GroupItem is one group of an answer that counts or reduces rows.
type GroupItem struct {
	Unit    string  `json:"unit"`
	GroupBy *string `json:"group_by"` // the fields, with commas; null if all rows are one group
	// GroupKey is the value of the field; of several, a JSON object. All rows counted are
	// "all", all rows reduced null.
	GroupKey *string             `json:"group_key"`
	Count    int64               `json:"count"`
	Metrics  map[string]*float64 `json:"metrics"` // by label; null where rows are only counted
}

// missing stands for rows without a value.
const missing = "[missing]"

// showGroups fills the items of an answer with groups.
func (r *rows) showGroups(env *UnitEnvelope) {
	env.Mode, env.Total = modeGroups, int(r.groups.Total)
	found := r.groups.Groups
	more := len(found) > r.req.Limit
	found = found[:min(len(found), r.req.Limit)]
	fields, metrics := r.plan.Reduction()
	for _, g := range found {
		env.Items = append(env.Items, groupItem(env.Unit, fields, metrics, g))
	}
	env.Returned = len(env.Items)
	r.confess(env)
	if more {
		seen := env.Offset + len(found)
		env.NextOffset = &seen
	}
	switch result := env.Pipeline.Result; {
	case metrics != nil:
		exact := !env.Partial
		result.Exact, result.Sampled = &exact, &r.groups.Rows
	case len(fields) > 1:
		result.GroupBy, result.Aggregate = fields, []string{"count", "proportion"}
		result.SeveralCount = several(fields, r.groups, found)
	}
}

func groupItem(unit string, fields []string, metrics []query.Metric, g query.Group) *GroupItem {
	item := &GroupItem{Unit: unit, Count: g.Count, GroupKey: groupKey(fields, metrics != nil, g)}
	if len(fields) > 0 {
		by := strings.Join(fields, ",")
		item.GroupBy = &by
	}
	if metrics == nil {
		return item
	}
	item.Metrics = map[string]*float64{}
	for i, m := range metrics {
		item.Metrics[m.Label] = nil
		if v := g.Metrics[i]; v.Known {
			item.Metrics[m.Label] = &v.Value
		}
	}
	return item
}

func groupKey(fields []string, reduced bool, g query.Group) *string {
	key := "all"
	switch {
	case len(fields) == 0 && reduced:
		return nil
	case len(fields) == 1:
		key = keyText(g.Keys[0])
	case len(fields) > 1:
		var b strings.Builder
		enc := json.NewEncoder(&b) // which sorts the keys of a map
		enc.SetEscapeHTML(false)
		if err := enc.Encode(keyMap(fields, g)); err != nil {
			panic(err) // strings always encode
		}
		key = strings.TrimSuffix(b.String(), "\n")
	}
	return &key
}

func keyText(k query.GroupKey) string {
	if k.Missing {
		return missing
	}
	return k.Value
}

func keyMap(fields []string, g query.Group) map[string]string {
	out := map[string]string{}
	for i, f := range fields {
		out[f] = keyText(g.Keys[i])
	}
	return out
}

// several is what a count by several fields says of all rows, and of the groups of the
// page.
func several(fields []string, r *query.GroupResult, found []query.Group) *SeveralCount {
	out := &SeveralCount{Denominator: Denominator{"all_matching_rows", r.Rows}, N: r.Rows,
		Missing: map[string]int64{}, Unknown: map[string]int64{}, Groups: []GroupShare{}}
	for i, f := range fields {
		out.Missing[f], out.Unknown[f] = r.Missing[i], r.Unknown[i]
	}
	for _, g := range found {
		share := GroupShare{Group: keyMap(fields, g), Count: g.Count}
		if r.Rows > 0 {
			share.Proportion = float64(g.Count) / float64(r.Rows)
		}
		out.Groups = append(out.Groups, share)
	}
	return out
}
