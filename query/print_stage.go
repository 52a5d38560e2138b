package query

import (
	"strconv"
	"strings"
)

// String prints s in canonical form.
func (s Stage) String() string {
	switch s.Kind {
	case StageSort:
		if s.Desc {
			return "sort by " + s.By + " desc"
		}
		return "sort by " + s.By + " asc"
	case StageGroup:
		return "group by " + strings.Join(s.Fields, ",")
	case StageAgg:
		parts := make([]string, len(s.Metrics))
		for i, m := range s.Metrics {
			parts[i] = m.String()
		}
		return "agg " + strings.Join(parts, ", ")
	case StageLimit, StageOffset:
		return string(s.Kind) + " " + strconv.FormatInt(s.N, 10)
	}
	return string(s.Kind)
}

// String prints m as it is written behind agg.
func (m Metric) String() string {
	if m.Field == "" {
		return m.Fn
	}
	return m.Fn + ":" + m.Field
}
