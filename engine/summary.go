package engine

import (
	"strings"
	"time"

	"github.com/hansard-search/hansard/engine/archive"
)

// summarise makes the row of a session.
func summarise(s *archive.Session, tags []string) SessionSummary {
	id := string(s.ID())
	sum := SessionSummary{
		ID: id, Ref: "session:" + id, Origin: string(s.Origin), Title: s.Title,
		TitleSource: text(s.TitleSource), TitleRef: text(s.TitleRef),
		TargetRef: sessionTarget(id), Anchor: anchor("session", id), Actions: sessionActions(),
		CreatedAt: timestamp(s.Created), UpdatedAt: timestamp(s.Updated),
		MessageCount: s.Counters.Messages, Words: s.Counters.Words, Tags: tags, Repo: text(repoDisplay(s)),
		Flags: Flags{
			HasToolUse: s.Counters.ToolUseMessages > 0, HasThinking: s.Counters.ThinkingMessages > 0,
			HasPasteEvidence: s.Counters.PasteMessages > 0,
		},
	}
	if s.TitleSource != "" {
		sum.TitleConfidence = &s.TitleConfidence
	}
	if len(s.WorkDirs) > 0 {
		sum.CwdDisplay = &s.WorkDirs[0]
	}
	if sum.Tags == nil {
		sum.Tags = []string{}
	}
	return sum
}

// repoDisplay is "owner/name" when the owner is known, else the name.
func repoDisplay(s *archive.Session) string {
	if full := repoFull(s); full != "" {
		return full
	}
	return s.RepoName
}

func sessionTarget(id string) TargetRef {
	return TargetRef{TargetType: "session", TargetID: id, SessionID: &id, IdentityKey: "session:" + id}
}

// blockTarget points at a block, or at its message when block is negative.
func blockTarget(session, message string, block int) TargetRef {
	t := TargetRef{TargetType: "message", TargetID: message, SessionID: &session, MessageID: &message,
		IdentityKey: "message:" + session + ":" + message}
	if block >= 0 {
		t.BlockIndex = &block
	}
	return t
}

func sessionActions() map[string]Affordance {
	return map[string]Affordance{"open": enabled(), "copy_link": enabled()}
}

func messageActions() map[string]Affordance {
	return map[string]Affordance{"copy_text": enabled(), "copy_link": enabled()}
}

func enabled() Affordance { return Affordance{Enabled: true, State: "available"} }

// anchor is an id that can stand in a URL fragment: characters outside letters,
// digits, '.', '_' and '-' become '-'.
func anchor(kind, id string) string {
	return kind + "-" + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return '-'
	}, id)
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// timestamp spells a time as RFC 3339 in UTC with milliseconds; nil when unknown.
func timestamp(ms int64) *string {
	if ms == archive.NoTime {
		return nil
	}
	s := time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
	return &s
}
