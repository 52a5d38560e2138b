package store

import "github.com/hansard-search/hansard/engine/archive"

// appendRest encodes what of a head is not in its brief.
func appendRest(e *encoder, s *archive.Session) {
	e.str(s.Instructions)
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
	e.uint(uint64(len(s.Actions)))
	for i := range s.Actions {
		appendAction(e, &s.Actions[i])
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
	e.time(a.ResultTime)
	e.bool(a.Inherited)
}

// decodeRest completes a head; the strings are parts of b.
func decodeRest(s *archive.Session, b string) error {
	d := decoder{s: b}
	s.Instructions = d.str()
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
	if n := d.count(actionLeast); n > 0 {
		s.Actions = make([]archive.Action, n)
		for i := range s.Actions {
			decodeAction(&d, &s.Actions[i])
		}
	}
	if err := d.end(); err != nil {
		return corruptf("head: %w", err)
	}
	return nil
}

// actionLeast is how many bytes an action takes at least, one for each field.
const actionLeast = 19

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
		ResultTime:      d.time(),
		Inherited:       d.bool(),
	}
}
