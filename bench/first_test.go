package main

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestFirst runs the whole benchmark small: it fails when an answer differs from
// the peer's.
func TestFirst(t *testing.T) {
	if !haveFTS5 {
		t.Skip("built without -tags sqlite_fts5")
	}
	c := config{blocks: 2000, queries: 25, rounds: 1, seed: 7, dir: t.TempDir(), log: t.Logf}
	r, err := first(t.Context(), c)
	if err != nil {
		for _, d := range r.differences() {
			t.Log(d)
		}
		t.Fatal(err)
	}
	if r.Checked.Queries < 5*25 || r.Corpus.Bytes == 0 || r.Corpus.Sessions == 0 {
		t.Errorf("%d queries over %+v", r.Checked.Queries, r.Corpus)
	}
	var out bytes.Buffer
	if err := r.writeJSON(&out); err != nil {
		t.Fatal(err)
	}
	var back report
	if err := json.Unmarshal(out.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, row := range back.Rows {
		if row.ID == "" || row.Name == "" || seen[row.ID] {
			t.Errorf("row %+v is nameless or twice there", row)
		}
		seen[row.ID] = true
		if row.Ours == nil && row.Note == "" {
			t.Errorf("row %s has neither a figure nor a reason", row.ID)
		}
	}
	for _, id := range []string{"import.cpu", "size.index", "query.term_freq.p50", "query.phrase.p95", "query.prefix.p50"} {
		if !seen[id] {
			t.Errorf("there is no row %s", id)
		}
	}
}

func TestDiffer(t *testing.T) {
	base := answer{3, []float64{-2, -1}}
	for _, tt := range []struct {
		theirs answer
		want   bool
	}{
		{answer{3, []float64{-2, -1}}, false},
		{answer{3, []float64{-2.0000001, -1}}, false},
		{answer{3, []float64{-2, -1.001}}, true},
		{answer{4, []float64{-2, -1}}, true},
		{answer{3, []float64{-2}}, true},
	} {
		if got := differ(base, tt.theirs); (got != "") != tt.want {
			t.Errorf("differ(%v, %v) = %q, want a difference: %v", base, tt.theirs, got, tt.want)
		}
	}
}
