package store

import "github.com/hansard-search/hansard/engine/archive"

// A head is stored in two parts: the brief, which is small and has a value of its
// own, and the rest, which grows with the session: instructions, events, references
// out of the archive and actions. What lists sessions reads the brief alone.

// headVersion is the first byte of an encoded brief; it stands for the rest too.
const headVersion = 1

// appendBrief encodes the brief, without the content hash.
func appendBrief(e *encoder, s *archive.Session) {
	e.byte(headVersion)
	e.str(string(s.Origin))
	e.str(s.Native)
	e.str(s.Title)
	e.str(s.TitleSource)
	e.str(s.TitleRef)
	e.float(s.TitleConfidence)
	e.str(s.DisplayName)
	e.str(s.Kind)
	e.str(string(s.Branch))
	e.str(s.Parent)
	e.strs(s.WorkDirs)
	e.str(s.GitBranch)
	e.str(s.RepoURL)
	e.str(s.Commit)
	e.str(s.Project)
	e.str(s.Version)
	e.maybe(s.ReportedMS)
	e.float(s.ReportedCost)
	e.bool(s.CostKnown)
	e.strs(s.Tags)
	e.time(s.Created)
	e.time(s.Updated)
	appendUsage(e, s.Usage)
	appendLinks(e, s.Links)
	appendCounters(e, &s.Counters)
	e.strs(s.Models)
	e.strs(s.Has)
	e.str(s.RepoName)
	e.str(s.RepoOwner)
	e.str(s.RepoPath)
	e.strs(s.Duplicates)
	e.str(s.Status)
}

func appendUsage(e *encoder, list []archive.ModelUsage) {
	e.uint(uint64(len(list)))
	for _, u := range list {
		e.str(u.Model)
		e.int(u.Input)
		e.int(u.Output)
		e.int(u.CacheRead)
		e.int(u.CacheWrite)
		e.int(u.Reasoning)
	}
}

func appendLinks(e *encoder, list []archive.Link) {
	e.uint(uint64(len(list)))
	for _, l := range list {
		e.str(l.Parent)
		e.str(l.Type)
		e.str(l.Method)
		e.str(l.BranchPoint)
		e.str(l.ToolUse)
	}
}

// counters lists the fields of the counters in the order they are stored.
func counters(c *archive.Counters) [18]*int64 {
	return [18]*int64{
		&c.Messages, &c.Words, &c.UserMessages, &c.UserWords,
		&c.AuthoredUserMessages, &c.AuthoredUserWords, &c.AssistantMessages, &c.AssistantWords,
		&c.SystemMessages, &c.ToolMessages, &c.ToolUseMessages, &c.ThinkingMessages, &c.PasteMessages,
		&c.Blocks, &c.InputTokens, &c.OutputTokens, &c.CacheRead, &c.CacheWrite,
	}
}

func appendCounters(e *encoder, c *archive.Counters) {
	for _, v := range counters(c) {
		e.int(*v)
	}
}

// decodeBrief decodes a brief into a head that lacks the rest; the strings are parts
// of b.
func decodeBrief(b string) (*archive.Session, error) {
	d := decoder{s: b}
	if v := d.byte(); d.err == nil && v != headVersion {
		return nil, corruptf("head: %w: %d", errVersion, v)
	}
	s := &archive.Session{
		Origin:          archive.Origin(d.str()),
		Native:          d.str(),
		Title:           d.str(),
		TitleSource:     d.str(),
		TitleRef:        d.str(),
		TitleConfidence: d.float(),
		DisplayName:     d.str(),
		Kind:            d.str(),
		Branch:          archive.BranchType(d.str()),
		Parent:          d.str(),
		WorkDirs:        d.strs(),
		GitBranch:       d.str(),
		RepoURL:         d.str(),
		Commit:          d.str(),
		Project:         d.str(),
		Version:         d.str(),
		ReportedMS:      d.maybe(),
		ReportedCost:    d.float(),
		CostKnown:       d.bool(),
		Tags:            d.strs(),
		Created:         d.time(),
		Updated:         d.time(),
		Usage:           decodeUsage(&d),
		Links:           decodeLinks(&d),
	}
	for _, v := range counters(&s.Counters) {
		*v = d.int()
	}
	s.Models = d.strs()
	s.Has = d.strs()
	s.RepoName = d.str()
	s.RepoOwner = d.str()
	s.RepoPath = d.str()
	s.Duplicates = d.strs()
	s.Status = d.str()
	if err := d.end(); err != nil {
		return nil, corruptf("head: %w", err)
	}
	return s, nil
}

func decodeUsage(d *decoder) []archive.ModelUsage {
	n := d.count(6)
	if n == 0 {
		return nil
	}
	list := make([]archive.ModelUsage, n)
	for i := range list {
		list[i] = archive.ModelUsage{Model: d.str(), Input: d.int(), Output: d.int(),
			CacheRead: d.int(), CacheWrite: d.int(), Reasoning: d.int()}
	}
	return list
}

func decodeLinks(d *decoder) []archive.Link {
	n := d.count(5)
	if n == 0 {
		return nil
	}
	list := make([]archive.Link, n)
	for i := range list {
		list[i] = archive.Link{Parent: d.str(), Type: d.str(), Method: d.str(), BranchPoint: d.str(), ToolUse: d.str()}
	}
	return list
}
