package query

// A Stage is one step of a pipeline behind a query for rows. Which fields are filled
// depends on Kind.
type Stage struct {
	Kind    StageKind
	By      string   // of a sort: time, count, key or the label of a metric
	Desc    bool     // of a sort
	Fields  []string // of a group, canonical
	Metrics []Metric // of agg
	N       int64    // of limit and offset
	At      Position
}

// StageKind is what a stage does.
type StageKind string

// The stages of a pipeline. A sort of rows comes before they are counted or reduced, a
// sort of groups behind.
const (
	StageSort   StageKind = "sort"
	StageGroup  StageKind = "group"
	StageCount  StageKind = "count"
	StageAgg    StageKind = "agg"
	StageLimit  StageKind = "limit"
	StageOffset StageKind = "offset"
)

// A Metric is one number that agg makes of the rows of a group.
type Metric struct {
	Fn    string // count, sum, avg, min, max, or pN for the nearest-rank percentile N
	Field string // canonical; empty for count
	Label string // its key in the answer
}
