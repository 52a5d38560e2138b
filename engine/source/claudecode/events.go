package claudecode

import (
	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

// others are the records that are no turns, by type. A type that is not here is
// skipped: the program adds one every few weeks. Each reports whether anything of
// the record was kept.
var others = map[string]func(s *session, v jsonx.Value) bool{
	"system":                (*session).system,
	"summary":               (*session).summary,
	"attachment":            (*session).attachment,
	"progress":              (*session).progressed,
	"pr-link":               (*session).pullRequest,
	"relocated":             (*session).relocated,
	"queue-operation":       (*session).queueOperation,
	"last-prompt":           event("last_prompt", "lastPrompt"),
	"permission-mode":       event("permission_mode", "permissionMode"),
	"bridge-session":        event("bridge_session", ""),
	"worktree-state":        event("worktree_state", ""),
	"frame-link":            event("frame_link", "title"),
	"file-history-delta":    event("file_history_delta", "trackingPath"),
	"file-history-snapshot": (*session).snapshot,
	"custom-title":          named("custom_title", "customTitle", func(t *titles, s string) { t.custom = s }),
	"ai-title":              named("ai_title", "aiTitle", func(t *titles, s string) { t.ai = s }),
	"agent-name":            named("agent_name", "agentName", func(t *titles, s string) { t.agent = s }),
}

// knownTypes are the record types that tell the format together with a sessionId.
var knownTypes = map[string]bool{
	"user": true, "assistant": true, "system": true, "attachment": true, "progress": true, "pr-link": true,
	"queue-operation": true, "last-prompt": true, "permission-mode": true, "mode": true, "bridge-session": true,
	"worktree-state": true, "frame-link": true, "file-history-delta": true, "custom-title": true, "ai-title": true,
	"agent-name": true, "relocated": true, "atis-latch": true,
}

// event makes a taker that keeps a record as an event; the field gives its summary.
func event(kind, field string) func(*session, jsonx.Value) bool {
	return func(s *session, v jsonx.Value) bool {
		summary := ""
		if field != "" {
			summary = v.Get(field).Str()
		}
		return s.event(kind, summary, v)
	}
}

// named makes a taker of a title.
func named(kind, field string, set func(*titles, string)) func(*session, jsonx.Value) bool {
	return func(s *session, v jsonx.Value) bool {
		title := v.Get(field).Str()
		if title == "" {
			return false
		}
		set(&s.title, title)
		s.event(kind, title, v)
		return true
	}
}

// event keeps an event with the bounded facts of v, unless there are too many.
func (s *session) event(kind, summary string, v jsonx.Value) bool {
	return s.eventAt(kind, summary, archive.ParseTime(v.Get("timestamp").Str()), payload(v, "content", "summary"))
}

func (s *session) eventAt(kind, summary string, time int64, payload string) bool {
	if len(s.head.Events) >= maxEvents {
		return false
	}
	s.head.Events = append(s.head.Events, archive.Event{
		Kind: kind, Time: time, Summary: clip(summary, maxSummary), Payload: payload,
	})
	return true
}

// summary keeps a summary as a message, and as the title if it speaks of this
// conversation: at the head of a file stand summaries of others.
func (s *session) summary(v jsonx.Value) bool {
	text := v.Get("summary").Str()
	if text == "" {
		return false
	}
	if v.Get("leafUuid").Str() == "" || s.r.sv.ownSum[s.r.now] {
		s.title.summary = text
	}
	p := s.add(v, s.r.now)
	p.m.Role, p.m.Type = archive.RoleSystem, archive.TypeSummary
	s.text(p, text)
	if len(p.m.Blocks) == 0 {
		s.drop(p)
		return false
	}
	s.event("summary", text, v)
	return true
}

// system takes a record of the program itself: the end of a context window, an
// error, a hook, a note.
func (s *session) system(v jsonx.Value) bool {
	switch sub := v.Get("subtype").Str(); sub {
	case "init":
		return false
	case "compact_boundary":
		s.event("compaction", v.Get("content").Str(), v)
		p := s.add(v, s.r.now)
		p.m.Role, p.m.Type = archive.RoleSystem, archive.TypeSummary
		s.content(p, v)
		return true
	case "microcompact_boundary":
		return s.event("micro_compaction", v.Get("content").Str(), v)
	default:
		p := s.add(v, s.r.now)
		p.m.Role = archive.RoleSystem
		s.content(p, v)
		p.m.Type = archive.ClassifyText(archive.MessageText(&p.m))
		if p.m.Type == "" {
			p.m.Type = archive.TypeContext
		}
		said := len(p.m.Blocks) > 0
		if !said {
			s.drop(p)
		}
		if sub == "" {
			return said
		}
		return s.event("system_"+sub, v.Get("error", "message").Str(), v) || said
	}
}

// queueOperation keeps what was done to the queue of prompts. An enqueued prompt
// may never become a turn, so more of it is kept than of other texts.
func (s *session) queueOperation(v jsonx.Value) bool {
	b := []byte{'{'}
	if text := v.Get("content").Str(); text != "" {
		b = appendMember(b, "content", string(jsonx.AppendQuoted(nil, clip(text, maxPrompt))))
	}
	if op := v.Get("operation").Str(); op != "" {
		b = appendMember(b, "operation", string(jsonx.AppendQuoted(nil, clip(op, maxScalar))))
	}
	return s.eventAt("queue_operation", v.Get("content").Str(), archive.ParseTime(v.Get("timestamp").Str()), string(append(b, '}')))
}

func (s *session) pullRequest(v jsonx.Value) bool {
	ref := archive.ExternalRef{Kind: "pull-request", URL: v.Get("prUrl").Str(), Repo: v.Get("prRepository").Str()}
	if n := v.Get("prNumber"); n.Type() == jsonx.Number {
		ref.Number = string(n.Raw())
	} else {
		ref.Number = n.Str()
	}
	if ref.URL == "" && ref.Number == "" {
		return false
	}
	for _, old := range s.head.Refs {
		if old == ref {
			return s.event("pr_link", ref.URL, v)
		}
	}
	if len(s.head.Refs) < maxListed {
		s.head.Refs = append(s.head.Refs, ref)
	}
	s.event("pr_link", ref.URL, v)
	return true
}

func (s *session) relocated(v jsonx.Value) bool {
	s.workDir(v.Get("relocatedCwd").Str())
	return s.event("relocated", v.Get("relocatedCwd").Str(), v)
}

// snapshot keeps that files were saved, and how many; their contents lie elsewhere.
func (s *session) snapshot(v jsonx.Value) bool {
	snap := v.Get("snapshot")
	b := appendMember([]byte{'{'}, "files", itoa(snap.Get("trackedFileBackups").Len()))
	if id := v.Get("messageId").Str(); id != "" {
		b = appendMember(b, "messageId", string(jsonx.AppendQuoted(nil, clip(id, maxScalar))))
	}
	return s.eventAt("file_history_snapshot", "", archive.ParseTime(snap.Get("timestamp").Str()), string(append(b, '}')))
}
