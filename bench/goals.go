package main

import "math"

// A goal is one row of the table: what is measured, and how much better than the
// peers it is meant to be.
type goal struct {
	id, name string
	target   float64            // least ratio to the best peer; 0: none
	versus   map[string]float64 // least ratio to single peers
	limit    float64            // most that ours may be, whatever the peers; 0: none
	later    string             // why the engine cannot do it yet; empty if it can
}

const even = 1 // a ratio of 1: as good as the best peer

const (
	noSubstring  = "the engine has no substring index yet"
	noVectors    = "the engine has no vectors yet"
	noAggregates = "the engine has no aggregates yet"
	noSequences  = "the engine has no seq() yet"
)

// goals are the rows in their order.
var goals = []goal{
	{id: "Q1", name: "term in more than 5 % of the blocks, top 10, p50", target: 40, versus: map[string]float64{"bleve": 60, "fts5": 1000}},
	{id: "Q2", name: "AND of two frequent terms, top 10, p50", target: 10, versus: map[string]float64{"bleve": 20, "fts5": 100}},
	{id: "Q3", name: "AND of a frequent and a rare term, top 10, p50 and p95", target: 4, versus: map[string]float64{"bleve": 15, "fts5": 100}},
	{id: "Q4", name: "OR of two frequent terms, top 10, p50", target: 12, versus: map[string]float64{"bleve": 80, "fts5": 1000}},
	{id: "Q5", name: "OR of 5 mixed terms, top 10, p50", target: 20, versus: map[string]float64{"bleve": 130, "fts5": 1400}},
	{id: "Q6", name: "OR of 10 mixed terms, top 10, p50", target: 20, versus: map[string]float64{"bleve": 120, "fts5": 1300}},
	{id: "Q7", name: "phrase of 2, top 10, p50 (p95: a case)", target: 5, versus: map[string]float64{"fts5": 40}},
	{id: "Q8", name: "phrase of 3 with a frequent term, top 10, p95", target: 8, versus: map[string]float64{"fts5": 150}},
	{id: "Q9", name: "prefix of 3, top 10, p50 and p95", target: 12, versus: map[string]float64{"bleve": 40}},
	{id: "Q10", name: "count of OR of 10 terms, p50", target: 60},
	{id: "Q11", name: "count of AND of two frequent terms, p50", target: 25},
	{id: "Q12", name: "OR of 5 in 1 % of the sessions and a range of dates, top 10, p50", target: 60, versus: map[string]float64{"fts5": 300}},
	{id: "Q13", name: "rare literal, regex with a literal", target: 5, later: noSubstring},
	{id: "Q14", name: "p99 over p50 of a mixed log; p99 beside an import", limit: 10},
	{id: "Q15", name: "new process to its first 10 hits with snippets", target: 20, limit: 40},
	{id: "I1", name: "import: store, index, positions; text per CPU second", target: 2.2, versus: map[string]float64{"bleve": 10}},
	{id: "I2", name: "index only; text per CPU second", target: 3},
	{id: "I3", name: "I1 on two cores over one", target: 1.85},
	{id: "I4", name: "durable appends to one session per second, found when acknowledged", target: 20},
	{id: "I5", name: "peak resident memory of an import", limit: 512},
	{id: "I6", name: "bytes written over bytes kept", target: 2, limit: 2.5},
	{id: "I7", name: "index 1 % changed sessions again, CPU", target: 15},
	{id: "S1", name: "inverted index with positions over text", target: 1 / 0.72, versus: map[string]float64{"bleve": 1 / 0.18}},
	{id: "S2", name: "everything, texts included, over text", limit: 0.49, target: 1 / 0.33},
	{id: "S3", name: "substring index over text", target: 2.38 / 0.20, later: noSubstring},
	{id: "Search", name: "whole searches: ten sessions, total, texts, snippets; the peer: GROUP BY, no texts"},
	{id: "V1", name: "nearest 10 of 100 k vectors of 384, recall 0.95", target: 300, later: noVectors},
	{id: "V2", name: "vectors indexed per second at that recall", target: 8, later: noVectors},
	{id: "V3", name: "nearest 10 under a filter of 1 % and 10 %", target: 300, later: noVectors},
	{id: "V4", name: "flat nearest 10 of 1 M vectors, recall 0.995", target: 150, later: noVectors},
	{id: "V5", name: "open an index of 1 M vectors", target: 100, later: noVectors},
	{id: "A1", name: "count by 50 groups under a filter of 10 %", target: 150, later: noAggregates},
	{id: "A2", name: "exact p50, p95, p99 under a filter", target: 400, later: noAggregates},
	{id: "A3", name: "A then B within 5 blocks", target: 1000, later: noSequences},
	{id: "P1", name: "budgets of 100 ms a query, 300 ms a list, 200 ms facets", target: 50},
}

func goalOf(id string) *goal {
	for i := range goals {
		if goals[i].id == id {
			return &goals[i]
		}
	}
	return nil
}

func goalIDs() []string {
	var out []string
	for _, g := range goals {
		out = append(out, g.id)
	}
	return out
}

// floorOf is the ratio below which ours loses to the best peer: 1, but for rows that
// compare ours with itself or with a budget.
func (g *goal) floorOf() *float64 {
	if g.id == "I3" || g.id == "P1" {
		return nil
	}
	f := float64(even)
	return &f
}

// metBy says whether a row reaches the goal: nil if that is not known.
func (g *goal) metBy(r *row) *bool {
	if r.Ours == nil || g.target > 0 && r.Ratio == nil || g.target == 0 && g.limit == 0 {
		return nil
	}
	met := true
	if g.target > 0 {
		met = *r.Ratio >= g.target
	}
	if g.limit > 0 {
		met = met && *r.Ours <= g.limit
	}
	for name, least := range g.versus {
		if p, ok := r.Peers[name]; ok && p.Ratio != nil {
			met = met && *p.Ratio >= least
		}
	}
	for _, c := range r.Cases {
		if c.Met != nil {
			met = met && *c.Met
		}
	}
	return &met
}

// ratioOf is ours beside a peer, above 1 where ours is better.
func ratioOf(ours, theirs float64, larger bool) *float64 {
	q := theirs / ours
	if larger {
		q = ours / theirs
	}
	if math.IsNaN(q) || math.IsInf(q, 0) {
		return nil
	}
	return &q
}
