package archive

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

// An ObservedEvent is something that happened in a session: its start, a tool
// that finished, or an event that the session records.
type ObservedEvent struct {
	Ref           string
	Session       SessionID
	Kind          string
	Summary       string
	DeliveryState string // always "observed"
	Subject       string
	Objects       []string
	Evidence      []string
	Payload       string // canonical JSON
	Tool          string // the rest is empty unless a tool finished
	Handler       string // mcp, shell, the semantic type, or tool_use
	Status        string // ok, failed or unknown
	Action        int    // index into Session.Actions; -1 unless a tool finished
	Inherited     bool
	Time          int64
}

// A MessageIDs gives the public id of the message at a position of a session.
type MessageIDs func(position int) string

// ObservedEvents are the events of a session: its start, then one for each
// action that has a result, in file order and at the time of the result, then
// the recorded ones. The tool id of an action is not kept, so toolID tells it; it
// may be nil.
func ObservedEvents(s *Session, ids MessageIDs, toolID func(*Action) string) []ObservedEvent {
	events := make([]ObservedEvent, 0, 1+len(s.Actions)+len(s.Events))
	events = append(events, startedEvent(s))
	for i := range s.Actions {
		if s.Actions[i].State == NoResult {
			continue
		}
		tool := ""
		if toolID != nil {
			tool = toolID(&s.Actions[i])
		}
		events = append(events, finishedEvent(s, i, ids, tool))
	}
	for i := range s.Events {
		events = append(events, recordedEvent(s, i))
	}
	return events
}

func startedEvent(s *Session) ObservedEvent {
	id := string(s.ID())
	t := s.Created
	if t == NoTime {
		t = s.Updated
	}
	return ObservedEvent{
		Ref:     string(RefEvent) + ":" + id + ":" + EventSessionStarted,
		Session: s.ID(), Kind: EventSessionStarted, Summary: cmp.Or(s.Title, id), DeliveryState: "observed",
		Subject: string(RefSession) + ":" + id, Objects: []string{string(RefSession) + ":" + id},
		Evidence: []string{id}, Action: -1, Time: t,
		Payload: object("native_id", s.Native, "origin", string(s.Origin)),
	}
}

func finishedEvent(s *Session, i int, ids MessageIDs, toolID string) ObservedEvent {
	a := &s.Actions[i]
	id := string(s.ID())
	use, result := ids(a.UseMessage), ids(a.ResultMessage)
	e := ObservedEvent{
		Ref:     string(RefEvent) + ":" + BlockID(use, a.UseBlock) + ":" + EventToolFinished,
		Session: s.ID(), Kind: EventToolFinished, DeliveryState: "observed",
		Subject: string(RefMessage) + ":" + use,
		Evidence: []string{
			id + "::" + use + "::" + strconv.Itoa(a.UseBlock),
			id + "::" + result + "::" + strconv.Itoa(a.ResultBlock),
		},
		Tool: a.ToolName, Handler: HandlerKind(a), Status: ActionStatus(a),
		Action: i, Inherited: a.Inherited, Time: a.ResultTime,
	}
	if e.Time == NoTime {
		e.Time = a.Time
	}
	if toolID != "" {
		e.Objects = []string{"tool-call:" + id + ":" + toolID}
	}
	e.Summary = a.ToolName + " [" + e.Handler + "] (" + e.Status + ")"
	if a.Command != "" {
		e.Summary += " - " + a.Command
	}
	e.Payload = object("command", a.Command, "handler_kind", e.Handler, "status", e.Status,
		"tool_id", toolID, "tool_name", a.ToolName)
	return e
}

func recordedEvent(s *Session, i int) ObservedEvent {
	id := string(s.ID())
	rec := &s.Events[i]
	return ObservedEvent{
		Ref:     string(RefEvent) + ":" + id + ":" + rec.Kind + ":" + strconv.Itoa(i),
		Session: s.ID(), Kind: rec.Kind, Summary: cmp.Or(rec.Summary, rec.Kind), DeliveryState: "observed",
		Subject: string(RefSession) + ":" + id, Objects: []string{string(RefSession) + ":" + id},
		Evidence: []string{id}, Payload: rec.Payload, Action: -1, Time: rec.Time,
	}
}

// HandlerKind is what ran an action: mcp, shell for commands (but not for an
// editor's verbs), else its semantic type, else tool_use.
func HandlerKind(a *Action) string {
	switch {
	case strings.HasPrefix(a.ToolName, "mcp__"):
		return "mcp"
	case a.Command != "" && (a.Semantic == "" || a.Semantic == ShellAction || a.Semantic == GitAction):
		return "shell"
	}
	return cmp.Or(a.Semantic, "tool_use")
}

// ActionStatus is ok or failed when the result tells, else unknown.
func ActionStatus(a *Action) string {
	switch a.State {
	case OutcomeError:
		return "failed"
	case OutcomeSuccess:
		return "ok"
	}
	return "unknown"
}

// object is a JSON object of the given names and texts, which must be sorted by
// name; empty texts are left out.
func object(pairs ...string) string {
	dst := []byte{'{'}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			continue
		}
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = jsonx.AppendQuoted(dst, pairs[i])
		dst = append(dst, ':')
		dst = jsonx.AppendQuoted(dst, pairs[i+1])
	}
	return string(append(dst, '}'))
}
