package engine

import (
	"encoding/json"

	"github.com/hansard-search/hansard/engine/archive"
)

// A RunRow is the run of a session as it is read.
type RunRow struct {
	Unit            string   `json:"unit"`
	Ref             string   `json:"run_ref"`
	SessionID       string   `json:"session_id"`
	Origin          string   `json:"origin"`
	Title           string   `json:"title"`
	ParentSessionID *string  `json:"native_parent_session_id"`
	ParentRunRef    *string  `json:"parent_run_ref"`
	AgentRef        string   `json:"agent_ref"`
	LineageRefs     []string `json:"lineage_refs"`
	Harness         string   `json:"harness"`
	Role            string   `json:"role"`
	Cwd             *string  `json:"cwd"`
	GitBranch       *string  `json:"git_branch"`
	Status          string   `json:"status"`
	Confidence      string   `json:"confidence"`
	EvidenceRefs    []string `json:"evidence_refs"`
	SnapshotRef     string   `json:"context_snapshot_ref"`
	OccurredAt      *string  `json:"occurred_at"`
}

// A SnapshotRow is a context snapshot as it is read.
type SnapshotRow struct {
	Unit            string   `json:"unit"`
	Ref             string   `json:"snapshot_ref"`
	SessionID       string   `json:"session_id"`
	Origin          string   `json:"origin"`
	Title           string   `json:"title"`
	RunRef          string   `json:"run_ref"`
	Boundary        string   `json:"boundary"`
	InheritanceMode string   `json:"inheritance_mode"`
	SegmentRefs     []string `json:"segment_refs"`
	EvidenceRefs    []string `json:"evidence_refs"`
	OccurredAt      *string  `json:"occurred_at"`
}

// An EventRow is an observed event as it is read.
type EventRow struct {
	Unit          string          `json:"unit"`
	Ref           string          `json:"event_ref"`
	SessionID     string          `json:"session_id"`
	Origin        string          `json:"origin"`
	Title         string          `json:"title"`
	Kind          string          `json:"kind"`
	Summary       string          `json:"summary"`
	DeliveryState string          `json:"delivery_state"`
	SubjectRef    string          `json:"subject_ref"`
	ObjectRefs    []string        `json:"object_refs"`
	EvidenceRefs  []string        `json:"evidence_refs"`
	Payload       json.RawMessage `json:"payload"`
	OccurredAt    *string         `json:"occurred_at"`
}

func runRow(s *archive.Session, r archive.Run) RunRow {
	return RunRow{Unit: "run", Ref: r.Ref, SessionID: string(r.Session), Origin: string(s.Origin), Title: r.Title,
		ParentSessionID: text(string(r.Parent)), ParentRunRef: text(r.ParentRun), AgentRef: r.Agent, LineageRefs: list(r.Lineage),
		Harness: r.Harness, Role: r.Role, Cwd: text(r.Dir), GitBranch: text(r.GitBranch), Status: r.Status, Confidence: r.Confidence,
		EvidenceRefs: list(r.Evidence), SnapshotRef: r.Snapshot, OccurredAt: timestamp(r.Time)}
}

func snapshotRow(s *archive.Session, c archive.Snapshot) SnapshotRow {
	return SnapshotRow{Unit: "context-snapshot", Ref: c.Ref, SessionID: string(c.Session), Origin: string(s.Origin), Title: s.Title,
		RunRef: c.Run, Boundary: c.Boundary, InheritanceMode: c.Inheritance, SegmentRefs: list(c.Segments), EvidenceRefs: list(c.Evidence),
		OccurredAt: timestamp(c.Time)}
}

func eventRow(s *archive.Session, e archive.ObservedEvent) EventRow {
	row := EventRow{Unit: "observed-event", Ref: e.Ref, SessionID: string(e.Session), Origin: string(s.Origin), Title: s.Title,
		Kind: e.Kind, Summary: e.Summary, DeliveryState: e.DeliveryState, SubjectRef: e.Subject, ObjectRefs: list(e.Objects),
		EvidenceRefs: list(e.Evidence), OccurredAt: timestamp(e.Time), Payload: json.RawMessage("{}")}
	if json.Valid([]byte(e.Payload)) {
		row.Payload = json.RawMessage(e.Payload)
	}
	return row
}

// list is never nil, so that JSON shows [] and not null.
func list(s []string) []string { return append([]string{}, s...) }
