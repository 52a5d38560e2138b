package claudecode

import (
	"bytes"

	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

// maxGap is the most message records of the same session that may lie between two
// records of one reply. Parallel tool calls put their results there; a reply id
// that comes again much later is a copy or a proxy's constant, not a stream.
const maxGap = 256

// A survey is what the first pass learns.
type survey struct {
	file   string // the file's stem
	groups map[string]*group
	order  []*group
	cur    *group          // where records without a sessionId go
	twins  map[int64]bool  // records whose uuid was seen before in their session
	last   map[int64]int64 // first record of a streamed reply -> its last record
	tasks  tasks
	ownSum map[int64]bool // summary records that speak of their own session

	leaves []leafOf
	open   map[replyKey]*reply // of the pass itself
	seen   map[uuidKey]struct{}
}

// A group is the records of one sessionId in the file.
type group struct {
	sid       string // the sessionId; empty when no record has one
	native    string
	parent    string
	agent     bool // an agent's transcript
	messages  int  // user and assistant records
	sidechain int  // those that are marked as sidechains
	agentID   string
	resumes   string // sessionId of the group that holds the parent of its first turn
	manyIDs   bool   // agent ids differ, or some record has none
	root      string // parentUuid of the first turn that has one
	s         *session
}

type replyKey struct {
	g  *group
	id string
}

type uuidKey struct {
	g    *group
	uuid string
}

// leafOf is a summary record and the message it names as its conversation's end.
type leafOf struct {
	n   int64
	key uuidKey
}

type reply struct {
	request string
	first   int64
	last    int64
	at      int // message records of the group when its last record came
}

func newSurvey(file string) *survey {
	return &survey{
		file:   file,
		groups: make(map[string]*group),
		twins:  make(map[int64]bool),
		last:   make(map[int64]int64),
		ownSum: make(map[int64]bool),
		tasks:  newTasks(),
		open:   make(map[replyKey]*reply),
		seen:   make(map[uuidKey]struct{}),
	}
}

// groupOf gives the session of a record. Records that name none belong to the
// session before them, and those at the file's start to the first one.
func (sv *survey) groupOf(v jsonx.Value) *group {
	sid := v.Get("sessionId").Str()
	if sid == "" {
		sid = v.Get("session_id").Str()
	}
	if sid == "" {
		if sv.cur == nil && len(sv.order) > 0 {
			return sv.order[0] // second pass, before the first named record
		}
		return sv.cur
	}
	g := sv.groups[sid]
	if g == nil {
		if g = sv.groups[""]; g == nil {
			g = &group{}
		}
		delete(sv.groups, "") // the leading records have found their name
		g.sid = sid
		sv.groups[sid] = g
		sv.order = append(sv.order, g)
	}
	sv.cur = g
	return g
}

// record surveys one record.
func (sv *survey) record(n int64, rec jsonx.Record) error {
	v := rec.Value
	if rec.Err != nil || v.Type() != jsonx.Object {
		return nil
	}
	g := sv.groupOf(v)
	if g == nil {
		g = sv.unnamed()
	}
	uuid := v.Get("uuid").Str()
	if uuid != "" {
		key := uuidKey{g, uuid}
		if _, again := sv.seen[key]; again {
			sv.twins[n] = true
			return nil
		}
		sv.seen[key] = struct{}{}
	}
	typ := v.Get("type").Str()
	if typ == "user" || typ == "assistant" {
		g.turn(v)
	}
	switch typ {
	case "assistant":
		sv.stream(n, g, v)
	case "summary":
		sv.leaves = append(sv.leaves, leafOf{n, uuidKey{g, v.Get("leafUuid").Str()}})
	}
	sv.tasks.survey(typ, v)
	return nil
}

// unnamed is the group of leading records without a sessionId, until a record names
// one.
func (sv *survey) unnamed() *group {
	if g := sv.groups[""]; g != nil {
		return g
	}
	g := &group{}
	sv.groups[""] = g
	return g
}

func (g *group) turn(v jsonx.Value) {
	if g.root == "" {
		g.root = v.Get("parentUuid").Str()
	}
	g.messages++
	if !v.Get("isSidechain").True() {
		return
	}
	g.sidechain++
	id := v.Get("agentId").Str()
	if id == "" || g.agentID != "" && g.agentID != id {
		g.manyIDs = true
	}
	g.agentID = id
}

// stream follows the records of a reply.
func (sv *survey) stream(n int64, g *group, v jsonx.Value) {
	id := v.Get("message", "id").Str()
	if id == "" {
		return
	}
	request := v.Get("requestId").Str()
	key := replyKey{g, id}
	r := sv.open[key]
	if r == nil || !sameRequest(r.request, request) || g.messages-r.at > maxGap {
		sv.open[key] = &reply{request: request, first: n, last: n, at: g.messages}
		return
	}
	r.last, r.at = n, g.messages
	if r.request == "" {
		r.request = request
	}
	sv.last[r.first] = n
}

// sameRequest tells whether two records of one reply id may be one reply. A missing
// request id contradicts nothing.
func sameRequest(a, b string) bool { return a == b || a == "" || b == "" }

// finish names the sessions and lets go of what only the pass needed.
func (sv *survey) finish() {
	sv.nameGroups()
	sv.tasks.join()
	for _, l := range sv.leaves {
		if _, here := sv.seen[l.key]; here {
			sv.ownSum[l.n] = true
		}
	}
	sv.open, sv.seen, sv.leaves, sv.cur = nil, nil, nil, nil
}

// hasTask is a cheap look for the mark of a background command's end.
func hasTask(v jsonx.Value) bool {
	raw := v.Raw()
	return bytes.Contains(raw, []byte("task-notification>"))
}
