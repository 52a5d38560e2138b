package archive

import (
	"fmt"
	"strconv"
	"strings"
)

// RefKind is what a reference points at.
type RefKind string

const (
	RefSession  RefKind = "session"
	RefMessage  RefKind = "message"
	RefBlock    RefKind = "block"
	RefRun      RefKind = "run"
	RefSnapshot RefKind = "context-snapshot"
	RefEvent    RefKind = "observed-event"
)

// Names of observed events and context boundaries that references carry.
const (
	EventSessionStarted = "session_started"
	EventToolFinished   = "tool_finished"

	BoundarySessionStart  = "session_start"
	BoundaryResume        = "resume"
	BoundarySubagentStart = "subagent_start"
	BoundaryCompaction    = "compaction"
)

// A Ref is a parsed reference "<kind>:<id>". Which fields count depends on Kind:
//
//	session, run      Session
//	message           Session, Message
//	block             Session, Message, Block
//	context-snapshot  Session, Name; Index when Name is compaction
//	observed-event    Session, Name; Message and Block when Name is
//	                  tool_finished (they name the tool_use), Index when it is
//	                  the kind of a recorded event
type Ref struct {
	Kind    RefKind
	Session SessionID
	Message MessageKey
	Block   int
	Name    string
	Index   int // rank of the recorded event, or of the compaction from zero
}

// String is the reference as it is written; [ParseRef] reads it back.
func (r Ref) String() string {
	id := string(r.Session)
	switch r.Kind {
	case RefMessage:
		id = r.Message.ID(r.Session)
	case RefBlock:
		id = BlockID(r.Message.ID(r.Session), r.Block)
	case RefSnapshot:
		id += ":" + r.Name
		if r.Name == BoundaryCompaction {
			id += ":" + strconv.Itoa(r.Index)
		}
	case RefEvent:
		switch r.Name {
		case EventSessionStarted:
			id += ":" + r.Name
		case EventToolFinished:
			id = BlockID(r.Message.ID(r.Session), r.Block) + ":" + r.Name
		default:
			id += ":" + r.Name + ":" + strconv.Itoa(r.Index)
		}
	}
	return string(r.Kind) + ":" + id
}

// ParseRef reads a reference. Native ids are opaque and may hold colons, so an
// id can be read in several ways when one of them contains ":n:" or ":p:"; all
// of them are returned, the shortest session id first, and whoever resolves the
// reference takes the first that exists. Each of them prints as s. The error
// names what is wrong.
func ParseRef(s string) ([]Ref, error) {
	kind, id, ok := strings.Cut(s, ":")
	if !ok {
		return nil, fmt.Errorf("reference %q: no kind", s)
	}
	refs, known := parseRefID(RefKind(kind), id)
	if !known {
		return nil, fmt.Errorf("reference %q: unknown kind %q", s, kind)
	}
	if len(refs) == 0 {
		return nil, fmt.Errorf("reference %q: not the id of a %s", s, kind)
	}
	for i := range refs {
		refs[i].Kind = RefKind(kind)
	}
	return refs, nil
}

func parseRefID(kind RefKind, id string) (refs []Ref, known bool) {
	switch kind {
	case RefSession, RefRun:
		return sessionRef(id, Ref{}), true
	case RefMessage:
		return parseMessageID(id), true
	case RefBlock:
		return parseBlockID(id), true
	case RefSnapshot:
		return parseSnapshotID(id), true
	case RefEvent:
		return parseEventID(id), true
	}
	return nil, false
}

// sessionRef is r with the session id, or nothing if it is none.
func sessionRef(id string, r Ref) []Ref {
	r.Session = SessionID(id)
	if _, _, ok := r.Session.Split(); !ok {
		return nil
	}
	return []Ref{r}
}

func parseBlockID(id string) []Ref {
	head, n, ok := cutOrdinal(id)
	if !ok {
		return nil
	}
	refs := parseMessageID(head)
	for i := range refs {
		refs[i].Block = n
	}
	return refs
}

func parseSnapshotID(id string) []Ref {
	for _, b := range []string{BoundarySessionStart, BoundaryResume, BoundarySubagentStart} {
		if head, ok := strings.CutSuffix(id, ":"+b); ok {
			return sessionRef(head, Ref{Name: b})
		}
	}
	head, n, ok := cutOrdinal(id)
	if !ok {
		return nil
	}
	if head, ok = strings.CutSuffix(head, ":"+BoundaryCompaction); !ok {
		return nil
	}
	return sessionRef(head, Ref{Name: BoundaryCompaction, Index: n})
}

func parseEventID(id string) []Ref {
	if head, ok := strings.CutSuffix(id, ":"+EventSessionStarted); ok {
		return sessionRef(head, Ref{Name: EventSessionStarted})
	}
	if head, ok := strings.CutSuffix(id, ":"+EventToolFinished); ok {
		refs := parseBlockID(head)
		for i := range refs {
			refs[i].Name = EventToolFinished
		}
		return refs
	}
	head, n, ok := cutOrdinal(id)
	if !ok {
		return nil
	}
	i := strings.LastIndexByte(head, ':')
	if i < 0 || i+1 == len(head) {
		return nil
	}
	name := head[i+1:]
	if name == EventSessionStarted || name == EventToolFinished {
		return nil
	}
	return sessionRef(head[:i], Ref{Name: name, Index: n})
}

// cutOrdinal splits ":<n>" off the end of id.
func cutOrdinal(id string) (head string, n int, ok bool) {
	i := strings.LastIndexByte(id, ':')
	if i < 0 {
		return "", 0, false
	}
	n, ok = parseOrdinal(id[i+1:])
	return id[:i], n, ok
}
