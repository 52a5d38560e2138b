package claudecode

import (
	"strings"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

// provenance decides who made a record of type user: the person only on positive
// evidence, since most of what bears that type was put there by the program.
func (s *session) provenance(p *pending, v jsonx.Value, k kinds) {
	m := &p.m
	if m.Type != "" {
		return
	}
	text := archive.MessageText(m)
	m.Type = archive.ClassifyText(text)
	origin := originKind(v)
	switch {
	case m.Type != "":
	case strings.HasPrefix(text, "[Request interrupted"):
		m.Type = archive.TypeProtocol
	case strings.HasPrefix(text, "<ide_opened_file>"), strings.HasPrefix(text, "<ide_selection>"):
		if rest := archive.TitleFromPrompt(text); rest == "" || len(m.Blocks) == 1 && strings.HasSuffix(strings.TrimSpace(text), ">") {
			m.Type = archive.TypeContext
		}
	}
	switch {
	case m.Type != "":
	case v.Get("isMeta").True():
		m.Type = archive.TypeContext
	case v.Get("isCompactSummary").True():
		m.Type = archive.TypeSummary
	case origin != "" && origin != "human":
		m.Type = archive.TypeProtocol
	case m.Role == archive.RoleSystem:
		m.Type = archive.TypeContext
	default:
		m.Type = archive.ClassifyBlocks(m.Blocks)
	}
	m.Material = archive.ClassifyMaterial(m.Role, m.Type, m.Blocks, text)
	if m.Material != archive.UnknownMaterial || m.Role != archive.RoleUser || m.Type != archive.TypeMessage {
		return
	}
	switch {
	case v.Get("isMeta").True(), v.Get("isCompactSummary").True(), v.Get("isVisibleInTranscriptOnly").True(),
		v.Get("toolUseResult").Exists(), k.results > 0:
	case origin == "human":
		m.Material = archive.HumanAuthored
	case s.g.agent || v.Get("isSidechain").True():
		m.Material = archive.GeneratedContextPack // the task that the parent wrote
	default:
		m.Material = archive.HumanAuthored
	}
}

// originKind is who a record says put it there; empty when it does not say.
func originKind(v jsonx.Value) string {
	o := v.Get("origin")
	if kind := o.Get("kind").Str(); kind != "" {
		return kind
	}
	return o.Str()
}

// classify completes a message that is not a user record when it is sent, since a
// reply's blocks are only then all there.
func (s *session) classify(p *pending) {
	m := &p.m
	if m.Type == "" {
		if m.Role != archive.RoleAssistant {
			m.Type = archive.ClassifyText(archive.MessageText(m))
		}
		if m.Type == "" {
			m.Type = archive.ClassifyBlocks(m.Blocks)
		}
	}
	if m.Material == "" {
		m.Material = archive.ClassifyMaterial(m.Role, m.Type, m.Blocks, archive.MessageText(m))
	}
}
