package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// writeText prints the report as a table: a line for each row and case, gaps as
// dashes, their reasons below.
func (r *report) writeText(w io.Writer) error {
	m, c := r.Machine, r.Corpus
	fmt.Fprintf(w, "%d blocks, %.1f MB of text, %d sessions, %d tokens, %d terms, seed %d\n", c.Blocks, float64(c.Bytes)/1e6, c.Sessions, c.Tokens, c.Terms, c.Seed)
	fmt.Fprintf(w, "%s, %d CPUs, %s, %s, commit %s, load %.1f to %.1f, %.0f s\n", m.CPU, m.CPUs, m.OS, m.Go, m.Commit, m.LoadBefore, m.LoadAfter, m.Seconds)
	for _, name := range append([]string{ourName}, peerNames...) {
		if v, ok := m.Engines[name]; ok {
			fmt.Fprintf(w, "%s: %s; %d answers compared\n", name, v, r.Checked.Answers[name])
		}
	}
	fmt.Fprintf(w, "%d queries, %d answers differ from the oracle's\n", r.Checked.Queries, len(r.Checked.Differences))
	for _, d := range r.Checked.Differences[:min(20, len(r.Checked.Differences))] {
		fmt.Fprintln(w, "  "+d)
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "id\tours\t"+strings.Join(peerNames, "\t")+"\tunit\tratio\ttarget\tmet\t")
	for _, row := range r.Rows {
		line(t, row, row.ID)
		for _, k := range row.Cases {
			line(t, k, k.Name)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, row := range r.Rows {
		fmt.Fprintf(w, "%s: %s\n", row.ID, row.Name)
		for _, s := range []string{row.Reason, row.Note} {
			if s != "" {
				fmt.Fprintf(w, "    %s\n", s)
			}
		}
	}
	return nil
}

func line(w io.Writer, r *row, name string) {
	cells := []string{name, figure(r.Ours)}
	for _, p := range peerNames {
		var v *float64
		if s := r.Peers[p]; s != nil {
			v = s.Value
		}
		cells = append(cells, figure(v))
	}
	met := "-"
	if r.Met != nil {
		met = map[bool]string{true: "yes", false: "no"}[*r.Met]
	}
	target := figure(r.Target)
	if r.Limit != nil {
		target += " (" + figure(r.Limit) + " " + r.Unit + ")"
	}
	cells = append(cells, r.Unit, figure(r.Ratio), target, met)
	fmt.Fprintln(w, strings.Join(cells, "\t")+"\t")
}

// figure prints three significant digits, and a dash for what is unknown.
func figure(f *float64) string {
	switch {
	case f == nil:
		return "-"
	case *f >= 100:
		return fmt.Sprintf("%.0f", *f)
	}
	return fmt.Sprintf("%.3g", *f)
}
