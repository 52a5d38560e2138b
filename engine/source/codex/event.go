package codex

import (
	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

// kept are the events that become events of the session, with the member that
// says in a line what happened. The others say nothing that the items do not.
var kept = map[string][]string{
	"turn_aborted":                 {"reason"},
	"error":                        {"message"},
	"stream_error":                 {"message"},
	"warning":                      {"message"},
	"thread_name_updated":          {"thread_name"},
	"thread_rolled_back":           {"num_turns"},
	"thread_goal_updated":          {"goal", "objective"},
	"entered_review_mode":          {"user_facing_hint"},
	"exited_review_mode":           {"review_output", "overall_explanation"},
	"undo_completed":               {"message"},
	"collab_agent_spawn_end":       {"new_thread_id"},
	"collab_agent_interaction_end": {"receiver_thread_id"},
	"collab_waiting_end":           {"sender_thread_id"},
	"collab_close_end":             {"receiver_thread_id"},
	"sub_agent_activity":           {"kind"},
	"guardian_assessment":          {"status"},
	"model_reroute":                {"to_model"},
}

const summaryBytes = 400

// readEvent makes an event of the session from an event record that is kept.
func readEvent(rec record) (archive.Event, bool) {
	path, ok := kept[rec.typ]
	if !ok {
		return archive.Event{}, false
	}
	v := rec.body.Get(path...)
	summary := v.Str()
	if summary == "" && v.Type() == jsonx.Number {
		summary = string(v.Raw())
	}
	if summary == "" {
		summary = rec.body.Get("error", "message").Str()
	}
	return archive.Event{Kind: rec.typ, Time: rec.when(), Summary: shorten(summary, summaryBytes), Payload: brief(rec.body)}, true
}

// setting is what a turn_context sets for the turns that follow it.
type setting struct{ dir, model, effort, approval, sandbox string }

func settingOf(b jsonx.Value) setting {
	s := setting{
		dir: b.Get("cwd").Str(), model: b.Get("model").Str(), effort: b.Get("effort").Str(),
		approval: firstStr(b, "approval_policy"),
	}
	if s.effort == "" {
		s.effort = firstStr(b, "reasoning_effort")
	}
	if s.sandbox = b.Get("sandbox_policy").Str(); s.sandbox == "" {
		s.sandbox = firstStr(b.Get("sandbox_policy"), "type", "mode")
	}
	return s
}

func (s setting) event(t int64) archive.Event {
	o := object{}
	o.text("cwd", s.dir)
	o.text("model", s.model)
	o.text("effort", s.effort)
	o.text("approval_policy", s.approval)
	o.text("sandbox_policy", s.sandbox)
	return archive.Event{Kind: "turn_context", Time: t, Summary: s.model, Payload: o.String()}
}
