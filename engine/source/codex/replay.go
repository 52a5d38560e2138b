package codex

import (
	"strconv"
	"strings"

	"github.com/hansard-search/hansard/engine/archive"
)

// A span is a run of records, from inclusive, to exclusive.
type span struct{ from, to int64 }

func (s span) holds(ord int64) bool { return s.from <= ord && ord < s.to }

// A replay finds the records that a fork copied from its parent. It asks for
// evidence at both ends and marks nothing without it.
//
// The start is a session_meta that names the recorded parent, or, where the parent
// is recorded, the first record older than this session.
//
// The end is the first of
//   - a session_meta that names this session,
//   - a record not older than this session, if older ones came before: such a
//     replay keeps its times,
//   - a turn whose id is a UUIDv7 not older than this session, if the replay was
//     stamped with the time of the copy. What stands directly before such a turn
//     and may already belong to it (prompts, context) is left to this session.
//
// A replay that reaches the end of the file counts only if it kept its times or
// its turns have ids older than this session. Old versions wrote neither turn ids
// nor the parent's times; there nothing is marked.
type replay struct {
	own     string
	parent  string
	created int64
	place   place

	open, done bool
	kept       bool  // records of the replay are older than this session
	oldTurn    bool  // turns of the replay are
	lead       int64 // first of the trailing records that may open a turn, -1 for none
	found      span
}

// head takes a later session_meta and reports whether it began the replay.
func (r *replay) head(rec record) {
	id := rec.body.Get("id").Str()
	switch {
	case r.done || r.parent == "":
	case !r.open && id == r.parent:
		r.begin(rec.ord)
	case r.open && id == r.own:
		r.end(rec.ord)
	}
	r.see(rec)
}

// resumes reports whether a later head is that of a session which this one
// continues: not younger, and of the same place. Old versions resumed into a new
// file and recorded no parent.
func (r *replay) resumes(rec record) bool {
	t := headTime(rec)
	return t != archive.NoTime && t <= r.created && rec.body.Get("id").Str() != r.own && r.place.meets(placeOf(rec.body))
}

func (r *replay) begin(ord int64) { r.open, r.lead, r.found.from = true, -1, ord }

func (r *replay) end(ord int64) { r.open, r.done, r.found.to = false, true, ord }

// see takes every record behind the file's own head.
func (r *replay) see(rec record) {
	if r.done || r.parent == "" || r.created == archive.NoTime {
		return
	}
	now := rec.when()
	old := now != archive.NoTime && now < r.created
	if !r.open {
		if !old {
			return
		}
		r.begin(rec.ord)
	}
	if old {
		r.kept = true
	} else if r.kept && now != archive.NoTime {
		r.end(rec.ord)
		return
	}
	if at, ok := turnTime(rec); ok {
		if at >= r.created {
			end := rec.ord
			if r.lead >= 0 {
				end = r.lead
			}
			r.end(end)
			return
		}
		r.oldTurn = true
	}
	switch {
	case !mayOpenTurn(rec):
		r.lead = -1
	case r.lead < 0 && rec.kind != kindMeta:
		r.lead = rec.ord
	}
}

// settle ends the file, which has n records.
func (r *replay) settle(n int64) span {
	if r.open && (r.kept || r.oldTurn) {
		r.end(n)
	}
	if !r.done {
		return span{}
	}
	return r.found
}

// mayOpenTurn reports whether a turn can write the record before its own mark.
func mayOpenTurn(rec record) bool {
	switch rec.kind {
	case kindTurn, kindState, kindMeta, kindOther:
		return true
	case kindItem:
		role := rec.body.Get("role").Str()
		return rec.typ == "message" && role != "assistant"
	case kindEvent:
		switch rec.typ {
		case "user_message", "task_started", "thread_settings_applied", "thread_name_updated":
			return true
		}
	}
	return false
}

// turnTime is the time inside the id of the turn that the record begins.
func turnTime(rec record) (int64, bool) {
	if rec.kind == kindTurn || rec.kind == kindEvent && rec.typ == "task_started" {
		return uuidTime(rec.body.Get("turn_id").Str())
	}
	return 0, false
}

// uuidTime is the Unix time in milliseconds that a UUIDv7 carries.
func uuidTime(id string) (int64, bool) {
	if len(id) != 36 || id[14] != '7' || strings.Count(id, "-") != 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(id[:8]+id[9:13], 16, 64)
	return int64(n), err == nil
}
