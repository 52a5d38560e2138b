package store

import "github.com/hansard-search/hansard/engine/archive"

// headVersion is the first byte of an encoded head.
const headVersion = 1

// appendHead encodes a head without its content hash.
func appendHead(e *encoder, s *archive.Session) {
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
	e.str(s.Instructions)
	e.str(s.Version)
	e.maybe(s.ReportedMS)
	e.float(s.ReportedCost)
	e.bool(s.CostKnown)
	e.strs(s.Tags)
	e.time(s.Created)
	e.time(s.Updated)
	appendHeadLists(e, s)
	appendCounters(e, &s.Counters)
	e.strs(s.Models)
	e.str(s.RepoName)
	e.str(s.RepoOwner)
	e.str(s.RepoPath)
	e.strs(s.Duplicates)
	e.uint(uint64(len(s.Actions)))
	for i := range s.Actions {
		appendAction(e, &s.Actions[i])
	}
}

func appendHeadLists(e *encoder, s *archive.Session) {
	e.uint(uint64(len(s.Usage)))
	for _, u := range s.Usage {
		e.str(u.Model)
		e.int(u.Input)
		e.int(u.Output)
		e.int(u.CacheRead)
		e.int(u.CacheWrite)
		e.int(u.Reasoning)
	}
	e.uint(uint64(len(s.Events)))
	for _, v := range s.Events {
		e.str(v.Kind)
		e.time(v.Time)
		e.str(v.Summary)
		e.str(v.Payload)
	}
	e.uint(uint64(len(s.Refs)))
	for _, r := range s.Refs {
		e.str(r.Kind)
		e.str(r.URL)
		e.str(r.Repo)
		e.str(r.Number)
	}
	e.uint(uint64(len(s.Links)))
	for _, l := range s.Links {
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

func appendAction(e *encoder, a *archive.Action) {
	e.int(int64(a.UseMessage))
	e.int(int64(a.UseBlock))
	e.int(int64(a.ResultMessage))
	e.int(int64(a.ResultBlock))
	e.int(int64(a.Use))
	e.int(int64(a.Result))
	e.str(a.ToolName)
	e.str(a.Family)
	e.str(a.Semantic)
	e.str(a.Command)
	e.strs(a.Paths)
	e.tri(a.IsError)
	e.maybe(a.ExitCode)
	e.str(string(a.State))
	e.str(a.Followup)
	e.int(int64(a.FollowupMessage))
	e.time(a.Time)
	e.bool(a.Inherited)
}

// decodeHead decodes a head; the strings are parts of b.
func decodeHead(b string) (*archive.Session, error) {
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
		Instructions:    d.str(),
		Version:         d.str(),
		ReportedMS:      d.maybe(),
		ReportedCost:    d.float(),
		CostKnown:       d.bool(),
		Tags:            d.strs(),
		Created:         d.time(),
		Updated:         d.time(),
	}
	decodeHeadLists(&d, s)
	for _, v := range counters(&s.Counters) {
		*v = d.int()
	}
	s.Models = d.strs()
	s.RepoName = d.str()
	s.RepoOwner = d.str()
	s.RepoPath = d.str()
	s.Duplicates = d.strs()
	if n := d.count(18); n > 0 {
		s.Actions = make([]archive.Action, n)
		for i := range s.Actions {
			decodeAction(&d, &s.Actions[i])
		}
	}
	if err := d.end(); err != nil {
		return nil, corruptf("head: %w", err)
	}
	return s, nil
}

func decodeHeadLists(d *decoder, s *archive.Session) {
	if n := d.count(6); n > 0 {
		s.Usage = make([]archive.ModelUsage, n)
		for i := range s.Usage {
			s.Usage[i] = archive.ModelUsage{Model: d.str(), Input: d.int(), Output: d.int(),
				CacheRead: d.int(), CacheWrite: d.int(), Reasoning: d.int()}
		}
	}
	if n := d.count(4); n > 0 {
		s.Events = make([]archive.Event, n)
		for i := range s.Events {
			s.Events[i] = archive.Event{Kind: d.str(), Time: d.time(), Summary: d.str(), Payload: d.str()}
		}
	}
	if n := d.count(4); n > 0 {
		s.Refs = make([]archive.ExternalRef, n)
		for i := range s.Refs {
			s.Refs[i] = archive.ExternalRef{Kind: d.str(), URL: d.str(), Repo: d.str(), Number: d.str()}
		}
	}
	if n := d.count(5); n > 0 {
		s.Links = make([]archive.Link, n)
		for i := range s.Links {
			s.Links[i] = archive.Link{Parent: d.str(), Type: d.str(), Method: d.str(), BranchPoint: d.str(), ToolUse: d.str()}
		}
	}
}

func decodeAction(d *decoder, a *archive.Action) {
	*a = archive.Action{
		UseMessage:      d.intn(),
		UseBlock:        d.intn(),
		ResultMessage:   d.intn(),
		ResultBlock:     d.intn(),
		Use:             d.intn(),
		Result:          d.intn(),
		ToolName:        d.str(),
		Family:          d.str(),
		Semantic:        d.str(),
		Command:         d.str(),
		Paths:           d.strs(),
		IsError:         d.tri(),
		ExitCode:        d.maybe(),
		State:           archive.ResultState(d.str()),
		Followup:        d.str(),
		FollowupMessage: d.intn(),
		Time:            d.time(),
		Inherited:       d.bool(),
	}
}
