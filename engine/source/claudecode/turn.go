package claudecode

import (
	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

// syntheticModel is what the program writes as the model of its own error texts.
const syntheticModel = "<synthetic>"

// assistant takes one record of a reply: the first opens the message, later ones
// add to it.
func (s *session) assistant(v jsonx.Value) bool {
	s.facts(v)
	id, request := v.Get("message", "id").Str(), v.Get("requestId").Str()
	if p := s.open[id]; id != "" && p != nil && p.last >= s.r.now && sameRequest(p.request, request) {
		p.records++
		if p.request == "" {
			p.request = request
		}
		if uuid := v.Get("uuid").Str(); uuid != "" && uuid != p.m.Native {
			p.m.Aliases = append(p.m.Aliases, uuid)
		}
		s.content(p, v)
		s.reply(p, v)
		return true
	}
	last, streamed := s.r.sv.last[s.r.now]
	if !streamed {
		last = s.r.now
	}
	p := s.add(v, last)
	p.m.Role = role(v, archive.RoleAssistant)
	p.id, p.request = id, request
	if streamed {
		s.open[id] = p
	}
	s.content(p, v)
	s.reply(p, v)
	return true
}

// reply notes what a record says of the whole reply; the last word counts, and a
// record that is silent takes nothing back.
func (s *session) reply(p *pending, v jsonx.Value) {
	m, msg := &p.m, v.Get("message")
	if model := msg.Get("model").Str(); model != "" && model != syntheticModel {
		m.Model = model
	}
	if reason := msg.Get("stop_reason").Str(); reason != "" {
		m.StopReason = reason
	}
	if effort := v.Get("effort").Str(); effort != "" {
		m.Effort = effort
	}
	if u := msg.Get("usage"); u.Type() == jsonx.Object && !s.ended[p.id] {
		m.Tokens = archive.Tokens{
			Input: number(u.Get("input_tokens")), Output: number(u.Get("output_tokens")),
			CacheRead: number(u.Get("cache_read_input_tokens")), CacheWrite: number(u.Get("cache_creation_input_tokens")),
		}
	}
	s.spent(p, v)
	if v.Get("isApiErrorMessage").True() {
		m.Type, m.Material = archive.TypeProtocol, archive.RuntimeProtocol
	}
}

// spent notes a record's duration and cost, which a reply's records repeat.
func (s *session) spent(p *pending, v jsonx.Value) {
	if d := v.Get("durationMs"); d.Type() == jsonx.Number {
		p.m.Duration = archive.IntOf(number(d))
	}
	if c, ok := v.Get("costUSD").Float(); ok && c >= 0 {
		p.cost = c
		s.head.CostKnown = true
	}
}

// number is a count that a record states; what is no number or below zero is zero.
func number(v jsonx.Value) int64 {
	if n, ok := v.Int(); ok {
		return max(n, 0)
	}
	if f, ok := v.Float(); ok && f > 0 && f < 1<<53 {
		return int64(f)
	}
	return 0
}

// user takes a record of type user: a prompt, tool results, or what the program put
// in their place.
func (s *session) user(v jsonx.Value) bool {
	s.facts(v)
	p := s.add(v, s.r.now)
	p.m.Role = role(v, archive.RoleUser)
	kinds := s.content(p, v)
	s.spent(p, v)
	if kinds.results > 0 && kinds.results == kinds.all {
		p.m.Role, p.m.Type, p.m.Material = archive.RoleTool, archive.TypeToolResult, archive.ToolResultMaterial
	}
	s.provenance(p, v, kinds)
	if len(p.m.Blocks) == 0 && p.m.Material != archive.HumanAuthored {
		s.drop(p)
		return false
	}
	if p.m.Material == archive.HumanAuthored {
		text := archive.MessageText(&p.m)
		p.m.Pastes = append(p.m.Pastes, archive.FindPastes(text)...)
		s.title.prompt(p.m.Native, text)
	}
	s.agentResult(v, p)
	return true
}

// role is the message's stated role, else the one of its record.
func role(v jsonx.Value, fallback archive.Role) archive.Role {
	for _, stated := range []string{v.Get("message", "role").Str(), v.Get("role").Str()} {
		if r := archive.ParseRole(stated); r != archive.RoleUnknown {
			return r
		}
	}
	return fallback
}
