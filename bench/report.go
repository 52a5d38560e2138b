package main

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// A report is the result of one run.
type report struct {
	Rows    []*row  `json:"rows"`
	Checked checked `json:"checked"`
	Machine machine `json:"machine"`
	Corpus  sizes   `json:"corpus"`
}

// A row is one goal: ours beside the best peer. Ratio is above 1 where ours is
// better, whatever the unit. What is null was not measured, and Reason says why.
type row struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Ours     *float64 `json:"ours"`
	BestPeer *float64 `json:"best_peer"`
	Peer     string   `json:"peer"`
	Ratio    *float64 `json:"ratio"`
	Target   *float64 `json:"target"`
	Floor    *float64 `json:"floor"`
	Met      *bool    `json:"met"`
	Reason   string   `json:"reason"`

	Unit  string           `json:"unit"`
	Limit *float64         `json:"limit,omitempty"` // most that Ours may be
	Peers map[string]*side `json:"peers,omitempty"` // by name
	Cases []*row           `json:"cases,omitempty"`
	Note  string           `json:"note,omitempty"`

	larger bool // more is better
}

// A side is what one peer did in a row.
type side struct {
	Value  *float64 `json:"value"`
	Ratio  *float64 `json:"ratio"`
	Target *float64 `json:"target,omitempty"`
	Reason string   `json:"reason,omitempty"`
}

// checked says how many answers were compared, and which differ.
type checked struct {
	Queries     int            `json:"queries"`
	Answers     map[string]int `json:"answers"` // by engine: how many were compared with the oracle
	Differences []string       `json:"differences"`
}

type machine struct {
	CPU        string            `json:"cpu"`
	CPUs       int               `json:"cpus"`
	OS         string            `json:"os"`
	Go         string            `json:"go"`
	Engines    map[string]string `json:"engines"` // versions; or why a peer is missing
	Commit     string            `json:"commit,omitempty"`
	Start      time.Time         `json:"start"`
	Seconds    float64           `json:"seconds"`
	LoadBefore float64           `json:"load_before"`
	LoadAfter  float64           `json:"load_after"`
}

type sizes struct {
	Blocks   int    `json:"blocks"`
	Bytes    int64  `json:"bytes"` // of search text
	Sessions int    `json:"sessions"`
	Tokens   int64  `json:"tokens"`
	Terms    int    `json:"terms"`
	Seed     uint64 `json:"seed"`
}

func newReport(c config) *report {
	r := &report{Rows: []*row{}, Corpus: sizes{Blocks: c.blocks, Seed: c.seed}}
	r.Checked = checked{Answers: map[string]int{}, Differences: []string{}}
	r.Machine = machine{CPU: processor(), CPUs: runtime.NumCPU(), OS: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(),
		Engines: map[string]string{}, Commit: commit(), Start: time.Now().UTC().Truncate(time.Second), LoadBefore: load()}
	return r
}

// commit is the revision that is measured, "-dirty" added if files differ from it.
func commit() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	head, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return ""
	}
	out := strings.TrimSpace(string(head))
	if changed, err := exec.Command("git", "status", "--porcelain").Output(); err == nil && len(changed) > 0 {
		out += "-dirty"
	}
	return out
}

// newRow begins the row of a goal.
func newRow(id, unit string, larger bool) *row {
	g := goalOf(id)
	r := &row{ID: id, Name: g.name, Unit: unit, Floor: g.floorOf(), Reason: g.later, larger: larger}
	if g.target > 0 {
		r.Target = &g.target
	}
	if g.limit > 0 {
		r.Limit = &g.limit
	}
	return r
}

// newCase begins a part of a row.
func newCase(name, unit string, larger bool) *row {
	return &row{ID: name, Name: name, Unit: unit, larger: larger}
}

// ours sets our figure; a negative one is unknown.
func (r *row) ours(v float64) *row {
	if v >= 0 {
		r.Ours = &v
	}
	return r
}

// theirs sets the figure of a peer; a negative one is unknown.
func (r *row) theirs(name string, v float64) *row {
	s := r.side(name)
	if v >= 0 {
		s.Value = &v
	}
	return r
}

// missing says why there is no figure of a peer.
func (r *row) missing(name, why string) *row {
	r.side(name).Reason = why
	return r
}

func (r *row) side(name string) *side {
	if r.Peers == nil {
		r.Peers = map[string]*side{}
	}
	if r.Peers[name] == nil {
		r.Peers[name] = &side{}
	}
	return r.Peers[name]
}

// finish finds the best peer and fills in ratios.
func (r *row) finish() *row {
	for _, name := range peerNames {
		p := r.Peers[name]
		if p == nil || p.Value == nil {
			continue
		}
		if r.Ours != nil {
			p.Ratio = ratioOf(*r.Ours, *p.Value, r.larger)
		}
		if r.BestPeer == nil || (*p.Value > *r.BestPeer) == r.larger && *p.Value != *r.BestPeer {
			r.BestPeer, r.Peer, r.Ratio = p.Value, name, p.Ratio
		}
	}
	if g := goalOf(r.ID); g != nil {
		for name, least := range g.versus {
			if p := r.Peers[name]; p != nil {
				p.Target = &least
			}
		}
		r.Met = g.metBy(r)
	} else if r.Target != nil && r.Ratio != nil {
		met := *r.Ratio >= *r.Target
		r.Met = &met
	}
	if r.Ratio == nil && r.Reason == "" {
		r.Reason = r.why()
	}
	return r
}

// why says what keeps a row from a ratio.
func (r *row) why() string {
	if r.Ours == nil {
		return "ours was not measured"
	}
	var out []string
	for _, name := range peerNames {
		if p := r.Peers[name]; p != nil && p.Reason != "" {
			out = append(out, name+": "+p.Reason)
		}
	}
	if len(out) == 0 {
		return "no peer was measured"
	}
	return strings.Join(out, "; ")
}

func (r *report) add(rows ...*row) { r.Rows = append(r.Rows, rows...) }

func (r *report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// appendLines appends the report to a file: a line for the run, a line for each row.
func (r *report) appendLines(path string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	e := json.NewEncoder(f)
	e.SetEscapeHTML(false)
	head := *r
	head.Rows = nil
	err = e.Encode(struct {
		Kind string `json:"kind"`
		report
	}{"run", head})
	for _, row := range r.Rows {
		if err == nil {
			err = e.Encode(row)
		}
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
