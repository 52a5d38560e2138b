package query

// The fields of the units that are derived from sessions. This build knows their names,
// so that a query which uses them is refused for what it is.

var assertionFields = laterFields("author", "author_kind", "author_ref", "body", "context", "evidence", "key", "kind",
	"scope", "scope_ref", "status", "target", "target_ref", "text", "time", "value", "visibility")

var runFields = laterFields("agent", "agent_ref", "branch", "confidence", "context_snapshot", "context_snapshot_ref", "cwd",
	"evidence", "git_branch", "harness", "lineage_ref", "native_parent_session_id", "native_session_id", "origin", "parent",
	"parent_run_ref", "provider_origin", "role", "run", "run_ref", "status", "text", "title", "transcript", "transcript_ref")

var eventFields = laterFields("delivery_state", "evidence", "handler", "kind", "object", "object_ref", "status", "subject",
	"subject_ref", "summary", "text", "tool")

var snapshotFields = laterFields("boundary", "evidence", "inheritance_mode", "metadata", "run", "run_ref", "segment",
	"segment_ref", "text")

var delegationFields = laterFields("basis", "child", "child_model", "dispatch_model", "exit_code", "inheritance", "instruction",
	"is_error", "link_method", "mapping_state", "parent", "requested_model", "result_status", "text")

func laterFields(names ...string) []FieldSpec {
	out := make([]FieldSpec, len(names))
	for i, n := range names {
		out[i] = later(n, "", "")
	}
	return out
}
