package codex

import (
	"context"
	"fmt"
	"strings"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/jsonx"
	"github.com/hansard-search/hansard/engine/source"
)

// A reader is the second pass: it turns records into the session's messages.
type reader struct {
	sink    source.Sink
	survey  *survey
	file    string
	session archive.Session
	out     source.SessionSink

	headed  bool
	pos     int
	seq     int
	parent  string // native id of the last message
	shares  []share
	setting setting
	meter   meter
	ledger  ledger

	loose  int    // calls without an id so far
	open   string // made-up id of the last such call that has no result
	prompt prompt
	last   int64 // time of the latest own message
}

func (r *reader) run(ctx context.Context, f source.File, lim source.Limits) (source.Records, error) {
	r.session = archive.Session{Origin: origin, Native: r.survey.own, Created: archive.NoTime, Updated: archive.NoTime}
	if r.session.Native == "" {
		r.session.Native = nameOfFile(f.Path)
	}
	r.shares, r.ledger, r.last = r.survey.bill.shares, ledger{}, archive.NoTime
	r.meter.fork = r.survey.meter.fork
	if r.survey.seen {
		out, err := r.sink.Session(origin, r.session.Native)
		if err != nil {
			return source.Records{}, fmt.Errorf("session %s of %s: %w", r.session.Native, f.Path, err)
		}
		r.out = out
	}
	return eachRecord(ctx, f, lim, r.take, r.sink.Problem)
}

// take handles one record and reports whether anything of it was stored.
func (r *reader) take(rec record) (bool, error) {
	switch rec.kind {
	case kindMeta:
		return r.takeHead(rec), nil
	case kindTurn:
		return r.takeTurn(rec), nil
	case kindItem:
		return r.takeItem(rec)
	case kindEvent:
		return r.takeEvent(rec)
	case kindCompact:
		return r.takeCompacted(rec)
	}
	return false, nil
}

// takeHead takes the first head for the session; a later one is only evidence of
// where the session comes from.
func (r *reader) takeHead(rec record) bool {
	if !r.headed {
		r.headed = rec.body.Get("id").Str() != ""
		takeHead(&r.session, rec)
		return true
	}
	p := r.survey.replay
	if r.session.Parent != "" || p.parent == "" || rec.body.Get("id").Str() != p.parent {
		return false
	}
	r.session.Parent, r.session.Branch = p.parent, archive.Continuation
	r.session.Links = append(r.session.Links, archive.Link{Parent: p.parent, Type: "continuation", Method: "second session_meta"})
	return true
}

func (r *reader) takeTurn(rec record) bool {
	now := settingOf(rec.body)
	if r.inherited(rec) {
		r.setting = now
		return false
	}
	addDir(&r.session, now.dir)
	if r.session.Instructions == "" {
		r.session.Instructions = rec.body.Get("user_instructions").Str()
	}
	if now != r.setting {
		r.session.Events = append(r.session.Events, now.event(rec.when()))
	}
	r.setting = now
	return true
}

func (r *reader) inherited(rec record) bool { return r.survey.inherited.holds(rec.ord) }

func (r *reader) takeItem(rec record) (bool, error) {
	switch classOf(rec.typ) {
	case itemMessage:
		m := r.readMessage(rec)
		return r.emit(rec, &m)
	case itemReasoning:
		m := readReasoning(rec)
		return r.emit(rec, &m)
	case itemCall:
		return r.takeCall(rec)
	case itemOutput:
		return r.takeOutput(rec)
	}
	return false, nil
}

func (r *reader) takeCall(rec record) (bool, error) {
	c := readCall(rec.body, rec.typ)
	if c.id == "" && rec.typ == "tool_call" {
		// A shape without ids: its result is the next one without an id.
		r.loose++
		c.id = fmt.Sprintf("call-without-id-%d", r.loose)
		r.open = c.id
	}
	if _, err := r.emitCall(rec, rec.body.Get("id").Str(), c); err != nil {
		return false, err
	}
	pic := rec.body.Get("result").Str()
	if rec.typ != "image_generation_call" || pic == "" {
		return true, nil
	}
	p, ok := parseDataURL(pic)
	if !ok {
		p = pictureOf("image/png", pic)
	}
	return r.emitOutput(rec, "", c.id, output{text: p.note(), pictures: []picture{p}})
}

func (r *reader) takeOutput(rec record) (bool, error) {
	b := rec.body
	id := b.Get("call_id").Str()
	if id == "" {
		id, r.open = r.open, ""
	}
	from := b.Get("output")
	for _, k := range []string{"result", "tools", "content"} {
		if !from.Exists() {
			from = b.Get(k)
		}
	}
	o := readOutput(from)
	if b.Get("status").Is("failed") && o.failed == archive.Unknown {
		o.failed = archive.True
	}
	k := callKey(id)
	o.join(r.survey.calls[k], r.survey.paths[k])
	return r.emitOutput(rec, b.Get("id").Str(), id, o)
}

func (r *reader) takeEvent(rec record) (bool, error) {
	if rec.typ == "token_count" {
		u, ok := r.meter.add(rec.body)
		if !ok || r.inherited(rec) {
			return false, nil
		}
		r.ledger.add(r.setting.model, u)
		return true, nil
	}
	if sp, ok := speechEvent(rec); ok {
		if r.survey.copies.has(rec.ord) {
			return false, nil
		}
		m := r.readSpoken(rec, sp)
		return r.emit(rec, &m)
	}
	if end, ok := endingOf(rec); ok {
		return r.takeEnding(rec, end)
	}
	e, ok := readEvent(rec)
	if !ok || r.inherited(rec) {
		return false, nil
	}
	r.session.Events = append(r.session.Events, e)
	return true, nil
}

// takeEnding makes up what the item stream lacks of a call that ended. Where both
// items are there, the event has given its outcome in the survey.
func (r *reader) takeEnding(rec record, end ending) (stored bool, err error) {
	k := callKey(end.id)
	facts := r.survey.calls[k]
	joined := facts.called && (facts.exit.Known || facts.failed != archive.Unknown)
	if end.make == nil || end.id == "" || facts.called && facts.answered || end.resultOnly && !facts.called {
		return joined, nil
	}
	c, o := end.make()
	if end.resultOnly && o.text == "" {
		return joined, nil
	}
	if !facts.called {
		if _, err := r.emitCall(rec, "", c); err != nil {
			return false, err
		}
	}
	if !facts.answered && rec.typ != "tool_call" {
		o.join(facts, r.survey.paths[k])
		o.conclude()
		if _, err := r.emitOutput(rec, "", end.id, o); err != nil {
			return false, err
		}
		facts.answered = true
	}
	facts.called = true
	r.survey.calls[k] = facts
	return true, nil
}

// takeCompacted keeps the summary that replaced the history. The history itself
// was written before and is not read again.
func (r *reader) takeCompacted(rec record) (bool, error) {
	text := rec.body.Get("message").Str()
	if !r.inherited(rec) {
		o := object{}
		if h := rec.body.Get("replacement_history"); h.Type() == jsonx.Array {
			o["replaced"] = fmt.Sprint(h.Len())
		}
		r.session.Events = append(r.session.Events, archive.Event{Kind: "compacted", Time: rec.when(), Summary: shorten(text, summaryBytes), Payload: o.String()})
	}
	if strings.TrimSpace(text) == "" {
		return true, nil
	}
	m := archive.Message{
		Time: rec.when(), Role: archive.RoleSystem, Type: archive.TypeSummary, Material: archive.GeneratedContextPack,
		Blocks: []archive.Block{{Type: archive.BlockText, Text: text}},
	}
	return r.emit(rec, &m)
}
