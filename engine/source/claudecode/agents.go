package claudecode

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

const (
	// maxMeta is the longest file of agent facts that is read.
	maxMeta = 64 << 10
	// maxProgress is how many calls of agents are followed per session.
	maxProgress = 4096
)

// agentFacts reads the small file beside an agent's transcript, if it is there.
func (s *session) agentFacts() {
	if s.r.file.Sidecar == nil {
		return
	}
	base := path.Base(strings.ReplaceAll(s.r.file.Path, `\`, "/"))
	for _, ext := range []string{".zst", ".jsonl"} {
		base = strings.TrimSuffix(base, ext)
	}
	raw, err := s.r.file.Sidecar(base+".meta.json", maxMeta)
	if err != nil {
		return // not there, as with every older version
	}
	v, err := s.r.jsonp.Parse(raw)
	if err != nil || v.Type() != jsonx.Object {
		return
	}
	s.title.described = v.Get("description").Str()
	s.eventAt("agent_meta", v.Get("agentType").Str(), archive.NoTime, payload(v))
	if tool := cmp.Or(v.Get("toolUseId").Str(), v.Get("toolUseID").Str()); tool != "" {
		s.link(archive.Link{Parent: s.g.parent, Type: string(s.head.Branch), Method: "agent-file", ToolUse: tool})
	}
}

// agentResult notes, on the parent's side, which agent a call started: the agent's
// own file does not name the call.
func (s *session) agentResult(v jsonx.Value, p *pending) {
	r := v.Get("toolUseResult")
	agent := r.Get("agentId").Str()
	if agent == "" {
		return
	}
	b := appendMember([]byte{'{'}, "agentId", string(jsonx.AppendQuoted(nil, clip(agent, maxScalar))))
	facts := func(keys ...string) {
		for _, key := range keys {
			if e := r.Get(key); e.Exists() {
				b = appendMember(b, key, string(bounded(nil, e, maxNesting+1)))
			}
		}
	}
	facts("agentType", "status")
	if i := slices.IndexFunc(p.m.Blocks, isResult); i >= 0 && results(v) == 1 {
		b = appendMember(b, "toolUseId", string(jsonx.AppendQuoted(nil, clip(p.m.Blocks[i].ToolID, maxScalar))))
	}
	facts("totalDurationMs", "totalTokens", "totalToolUseCount")
	s.eventAt("agent_result", agent, p.m.Time, string(append(b, '}')))
}

func isResult(b archive.Block) bool { return b.Type == archive.BlockToolResult }

// progress sums up what agents reported while they worked, one entry per call.
type progress struct {
	calls map[string]*call
	order []string
}

type call struct {
	agent       string
	count       int64
	first, last int64
}

// progressed counts the progress of an agent. Other progress repeats output that a
// result holds later.
func (s *session) progressed(v jsonx.Value) bool {
	data := v.Get("data")
	if !data.Get("type").Is("agent_progress") {
		return false
	}
	id := cmp.Or(v.Get("parentToolUseID").Str(), v.Get("toolUseID").Str())
	c := s.progress.calls[id]
	if c == nil {
		if len(s.progress.calls) == maxProgress {
			return false
		}
		if s.progress.calls == nil {
			s.progress.calls = make(map[string]*call)
		}
		c = &call{first: archive.NoTime, last: archive.NoTime}
		s.progress.calls[id] = c
		s.progress.order = append(s.progress.order, id)
	}
	c.count++
	c.agent = cmp.Or(c.agent, data.Get("agentId").Str())
	if t := archive.ParseTime(v.Get("timestamp").Str()); t != archive.NoTime {
		if c.first == archive.NoTime {
			c.first = t
		}
		c.last = max(c.last, t)
	}
	return true
}

// events gives one event per call, in the order of their first progress.
func (p *progress) events() []archive.Event {
	var out []archive.Event
	for _, id := range p.order {
		c := p.calls[id]
		b := []byte{'{'}
		if c.agent != "" {
			b = appendMember(b, "agentId", string(jsonx.AppendQuoted(nil, clip(c.agent, maxScalar))))
		}
		b = appendMember(b, "count", itoa(c.count))
		if c.last != archive.NoTime {
			b = appendMember(b, "lastSeen", itoa(c.last))
		}
		b = appendMember(b, "toolUseId", string(jsonx.AppendQuoted(nil, clip(id, maxScalar))))
		out = append(out, archive.Event{Kind: "agent_progress", Time: c.first, Summary: c.agent, Payload: string(append(b, '}'))})
	}
	return slices.Clip(out)
}
