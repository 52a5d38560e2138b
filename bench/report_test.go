package main

import (
	"strings"
	"testing"
)

func TestRatiosAreAboveOneWhereOursIsBetter(t *testing.T) {
	for _, c := range []struct {
		name         string
		larger       bool
		ours         float64
		fts5, xapian float64
		peer         string
		ratio        float64
	}{
		{"a time, ours better", false, 10, 100, 50, "xapian", 5},
		{"a time, ours worse", false, 100, 1000, 50, "xapian", 0.5},
		{"a rate, ours better", true, 60, 30, 5, "fts5", 2},
		{"a rate, ours worse", true, 10, 5, 40, "xapian", 0.25},
		{"a size", false, 0.25, 0.5, 2, "fts5", 2},
		{"one peer", false, 10, -1, 50, "xapian", 5},
	} {
		r := newCase(c.name, "", c.larger).ours(c.ours).theirs("fts5", c.fts5).theirs("xapian", c.xapian).finish()
		if r.Peer != c.peer || r.Ratio == nil || *r.Ratio != c.ratio {
			t.Errorf("%s: ratio %v to %s, want %g to %s", c.name, figure(r.Ratio), r.Peer, c.ratio, c.peer)
		}
	}
}

func TestMet(t *testing.T) {
	for _, c := range []struct {
		name string
		row  *row
		want string
	}{
		{"best and single peers", newRow("Q1", "us", false).ours(1).theirs("xapian", 40).theirs("bleve", 60).theirs("fts5", 1000), "yes"},
		{"one peer too near", newRow("Q1", "us", false).ours(1).theirs("xapian", 40).theirs("bleve", 60).theirs("fts5", 999), "no"},
		{"best peer too near", newRow("Q1", "us", false).ours(1).theirs("xapian", 39).theirs("bleve", 60).theirs("fts5", 1000), "no"},
		{"missing peers do not count", newRow("Q1", "us", false).ours(1).theirs("xapian", 40).missing("fts5", "missing"), "yes"},
		{"no peer", newRow("Q1", "us", false).ours(1).missing("fts5", "missing"), "-"},
		{"a limit", newRow("I5", "MiB", false).ours(500).missing("fts5", "missing"), "yes"},
		{"over a limit", newRow("I5", "MiB", false).ours(513).theirs("fts5", 9000), "no"},
		{"no goal", newRow("Search", "us", false).ours(1).theirs("fts5", 9), "-"},
		{"later", newRow("V1", "", false), "-"},
	} {
		c.row.finish()
		met := "-"
		if c.row.Met != nil {
			met = map[bool]string{true: "yes", false: "no"}[*c.row.Met]
		}
		if met != c.want {
			t.Errorf("%s: met %s, want %s", c.name, met, c.want)
		}
		if c.row.Ratio == nil && c.row.Reason == "" {
			t.Errorf("%s: no ratio and no reason", c.name)
		}
	}
}

func TestACaseThatMissesItsTargetMissesTheRow(t *testing.T) {
	r := newRow("Q3", "us", false).ours(1).theirs("xapian", 5)
	four := 4.0
	part := newCase("p95", "us", false).ours(1).theirs("xapian", 3)
	part.Target = &four
	r.Cases = append(r.Cases, part.finish())
	if r.finish(); r.Met == nil || *r.Met {
		t.Errorf("met %v", r.Met)
	}
}

func TestEveryGoalHasARow(t *testing.T) {
	measured := queryIDs()
	for _, b := range buildTable {
		measured = append(measured, b.id)
	}
	measured = append(measured, "Search", "Q14", "Q15", "P1", "I3", "I4", "I7")
	for _, g := range goals {
		found := strings.Contains(" "+strings.Join(measured, " ")+" ", " "+g.id+" ")
		if found == (g.later != "") {
			t.Errorf("%s is measured: %t, and its reason not to be is %q", g.id, found, g.later)
		}
	}
}
