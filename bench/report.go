package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"text/tabwriter"
	"time"
)

// A report is the result of one run.
type report struct {
	Rows    []row   `json:"rows"`
	Checked checked `json:"checked"`
	Machine machine `json:"machine"`
	Corpus  sizes   `json:"corpus"`
}

// A row is one measurement beside the best peer's. Ratio is above 1 where ours is
// better, whatever the unit; null figures were not measured, and Note says why.
type row struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Ours     *float64 `json:"ours"`
	BestPeer *float64 `json:"best_peer"`
	Peer     string   `json:"peer"`
	Ratio    *float64 `json:"ratio"`
	Unit     string   `json:"unit"`
	Note     string   `json:"note"`
}

// checked says how many queries were compared, and which answers differed.
type checked struct {
	Queries     int      `json:"queries"`
	Differences []string `json:"differences"`
}

type machine struct {
	CPUs       int     `json:"cpus"`
	OS         string  `json:"os"`
	Go         string  `json:"go"`
	Peer       string  `json:"sqlite"`
	Commit     string  `json:"commit,omitempty"`
	LoadBefore float64 `json:"load_before"`
	LoadAfter  float64 `json:"load_after"`
}

type sizes struct {
	Blocks   int    `json:"blocks"`
	Bytes    int64  `json:"bytes"` // of search text
	Sessions int    `json:"sessions"`
	Seed     uint64 `json:"seed"`
}

func newReport(c config) *report {
	r := &report{Rows: []row{}, Checked: checked{Differences: []string{}}, Corpus: sizes{Blocks: c.blocks, Seed: c.seed}}
	r.Machine = machine{CPUs: runtime.NumCPU(), OS: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(), LoadBefore: load()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				r.Machine.Commit = s.Value
			}
		}
	}
	return r
}

// smaller adds a row of which less is better; a negative figure is unknown.
func (r *report) smaller(id, name string, ours, theirs float64, unit, note string) {
	r.add(id, name, ours, theirs, theirs/ours, unit, note)
}

// larger adds a row of which more is better.
func (r *report) larger(id, name string, ours, theirs float64, unit, note string) {
	r.add(id, name, ours, theirs, ours/theirs, unit, note)
}

func (r *report) add(id, name string, ours, theirs, ratio float64, unit, note string) {
	out := row{ID: id, Name: name, Unit: unit, Note: note}
	if ours >= 0 {
		out.Ours = &ours
	}
	if theirs >= 0 {
		out.BestPeer, out.Peer = &theirs, r.Machine.Peer
	}
	if ours > 0 && theirs > 0 {
		out.Ratio = &ratio
	}
	r.Rows = append(r.Rows, out)
}

const unknown = -1

// index adds what making and keeping the index took.
func (r *report) index(ctx context.Context, o *ours, cost importCost, p peer, f *feeding) error {
	stats, err := o.Stats(ctx)
	if err != nil {
		return err
	}
	r.Machine.Peer, r.Corpus.Bytes = p.Name(), f.text
	text := float64(f.text)
	rate := func(d time.Duration) float64 { return text / 1e6 / d.Seconds() }
	r.larger("import.cpu", "import, text per CPU second", rate(cost.cpu), rate(f.cpu+f.optimize), "MB/s",
		"ours: parse the session files, keep their bytes and texts, durable, merges included; peer: index of ready texts, optimised, not durable")
	r.larger("import.cpu_raw", "the same before merges / optimize", rate(cost.cpu-cost.settle), rate(f.cpu), "MB/s", "")
	r.larger("import.wall", "import, text per second of wall time", rate(cost.wall), unknown, "MB/s", "the machine's other load included")
	r.smaller("import.rss", "peak resident memory of the import", float64(cost.peak)/1e6, unknown, "MB", "mapped files and the harness included")
	r.smaller("size.index", "index / text", float64(stats.IndexBytes)/text, float64(f.size)/text, "ratio",
		fmt.Sprintf("ours: %d segments, fields of blocks and sessions included", len(stats.Segments)))
	r.smaller("size.store", "store / text", float64(stats.StoreBytes)/text, unknown, "ratio", "texts, structure and source bytes; the peer keeps none")
	r.smaller("size.all", "index and store / text", (float64(stats.IndexBytes)+float64(stats.StoreBytes))/text, unknown, "ratio", "")
	return nil
}

// queries adds the latencies of each class.
func (r *report) queries(queries []query, times []timing) {
	for _, c := range classes {
		var ours, theirs []time.Duration
		for i, q := range queries {
			if q.class == c.name {
				ours, theirs = append(ours, times[i].ours), append(theirs, times[i].theirs)
			}
		}
		if len(ours) == 0 {
			r.add("query."+c.name+".p50", c.about, unknown, unknown, 0, "us", "the corpus is too small for this class")
			continue
		}
		note := fmt.Sprintf("%d queries; ours with texts, snippets and session rows, the peer without", len(ours))
		for _, at := range []struct {
			name  string
			share float64
		}{{"p50", 0.5}, {"p95", 0.95}} {
			r.smaller("query."+c.name+"."+at.name, c.about+", "+at.name, micros(percentile(ours, at.share)), micros(percentile(theirs, at.share)), "us", note)
		}
	}
	r.add("query.blocks", "top 10 blocks, not grouped by session", unknown, unknown, 0, "us",
		"not measured: the engine's API has no ranked list of blocks")
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

func (r *report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

func (r *report) writeText(w io.Writer) error {
	m, c := r.Machine, r.Corpus
	fmt.Fprintf(w, "%d blocks, %.1f MB of text, %d sessions, seed %d; %d CPUs, %s, %s, %s, load %.1f to %.1f\n", c.Blocks,
		float64(c.Bytes)/1e6, c.Sessions, c.Seed, m.CPUs, m.OS, m.Go, m.Peer, m.LoadBefore, m.LoadAfter)
	fmt.Fprintf(w, "%d queries compared, %d answered differently\n", r.Checked.Queries, len(r.Checked.Differences))
	for _, d := range r.Checked.Differences[:min(20, len(r.Checked.Differences))] {
		fmt.Fprintln(w, "  "+d)
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "id\tours\tpeer\tratio\tunit\t")
	for _, row := range r.Rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t  %s\n", row.ID, figure(row.Ours), figure(row.BestPeer), figure(row.Ratio), row.Unit, row.Name)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, row := range r.Rows {
		if row.Ours == nil {
			fmt.Fprintf(w, "%s: %s\n", row.ID, row.Note)
		}
	}
	return nil
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

// differences are what the engines disagreed on; none of a report that is missing.
func (r *report) differences() []string {
	if r == nil {
		return nil
	}
	return r.Checked.Differences
}
