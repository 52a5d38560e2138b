package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The program calls itself for builds: under test that is the test binary.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childCommand {
		if err := run(context.Background(), os.Args[1:]); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func small(t *testing.T) config {
	return config{blocks: 1200, queries: 6, rounds: 1, seed: 7, peers: peerNames, dir: t.TempDir(), log: t.Logf}
}

// Every engine that is here answers every question as the oracle does; compare
// fails otherwise.
func TestEnginesAnswerAsTheOracle(t *testing.T) {
	c := small(t)
	c.rows = append(queryIDs(), "Search", "I2", "S1", "Q13")
	r, err := compare(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append([]string{ourName}, peerNames...) {
		version, n := r.Machine.Engines[name], r.Checked.Answers[name]
		t.Logf("%s (%s): %d answers", name, version, n)
		if missing := strings.HasPrefix(version, errMissing.Error()); missing == (n > 0) {
			t.Errorf("%s: %d answers were compared, and it is %q", name, n, version)
		}
	}
	if r.Checked.Answers[ourName] < 14*c.queries {
		t.Errorf("only %d of our answers were compared", r.Checked.Answers[ourName])
	}
	for _, row := range r.Rows {
		if row.Ours == nil && row.ID != "Q13" {
			t.Errorf("%s: ours was not measured: %s", row.ID, row.Reason)
		}
		if (row.Ratio == nil) == (row.Reason == "") {
			t.Errorf("%s: ratio %v with reason %q", row.ID, row.Ratio, row.Reason)
		}
	}
	checkShape(t, r, c.rows)
	var table bytes.Buffer
	if err := r.writeText(&table); err != nil {
		t.Fatal(err)
	}
	for _, id := range c.rows {
		if !strings.Contains(table.String(), id+" ") {
			t.Errorf("row %s is not in the table", id)
		}
	}
}

// checkShape reads the report as a program would.
func checkShape(t *testing.T, r *report, want []string) {
	var b bytes.Buffer
	if err := r.writeJSON(&b); err != nil {
		t.Fatal(err)
	}
	var doc struct{ Rows []map[string]any }
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, row := range doc.Rows {
		for _, key := range []string{"id", "name", "ours", "best_peer", "peer", "ratio", "target", "floor", "met", "reason"} {
			if _, ok := row[key]; !ok {
				t.Errorf("row %v has no %s", row["id"], key)
			}
		}
		ids = append(ids, row["id"].(string))
	}
	slices.Sort(ids)
	want = slices.Sorted(slices.Values(want))
	if !slices.Equal(ids, want) {
		t.Errorf("rows %v, want %v", ids, want)
	}
	path := filepath.Join(t.TempDir(), "out.jsonl")
	if err := r.appendLines(path); err != nil {
		t.Fatal(err)
	}
	lines, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(lines, []byte("\n")); n != 1+len(r.Rows) {
		t.Errorf("%d lines, want one for the run and one for each of %d rows", n, len(r.Rows))
	}
}

func TestRowsWithoutPeers(t *testing.T) {
	c := small(t)
	c.blocks, c.peers, c.rows = 300, nil, []string{"Q1", "I2", "I7", "V1"}
	r, err := compare(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Rows {
		if row.Ratio != nil || row.Met != nil || row.Reason == "" {
			t.Errorf("%s: ratio %v, met %v, reason %q", row.ID, row.Ratio, row.Met, row.Reason)
		}
		if (row.Ours == nil) != (row.ID == "V1") {
			t.Errorf("%s: ours is %v", row.ID, row.Ours)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(c.dir, "scratch-*")); len(left) > 0 {
		t.Errorf("%v were left", left)
	}
}

func TestKeptFolderOfAnotherCorpus(t *testing.T) {
	c := small(t)
	c.blocks, c.peers, c.rows = 50, nil, []string{"I2"}
	if _, err := compare(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	c.seed++
	if _, err := compare(t.Context(), c); err == nil || !strings.Contains(err.Error(), "another corpus") {
		t.Errorf("error %v", err)
	}
}
