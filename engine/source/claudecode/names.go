package claudecode

import (
	"strings"

	"github.com/hansard-search/hansard/engine/archive"
)

// nameGroups gives each group its native id and parent:
//
//	group                                             native id             parent
//	the file's own: sessionId equals the stem         stem                  -
//	an agent's: file agent-*, or all sidechains       <sid>:agent-<hex>     sid
//	another, before the own one starts                <sid>:<stem>          sid
//	another, after it, growing out of its records     <sid>:<stem>          sid
//	another, else                                     sid                   -
//	no sessionId in the file                          stem                  -
//
// A group with "<sid>:<stem>" holds copies, or a side branch, of that session in
// this file; the plain sid is left to the file of that name.
func (sv *survey) nameGroups() {
	lead := sv.groups[""]
	if len(sv.order) == 0 {
		if lead == nil {
			lead = &group{}
		}
		lead.native = sv.fallback()
		sv.order = []*group{lead}
		sv.groups[""] = lead
		return
	}
	own := sv.ownGroup()
	for _, g := range sv.order {
		if own != nil && g != own && sv.growsFrom(own, g) {
			own.resumes = g.sid
		}
	}
	before := true
	taken := make(map[string]bool)
	for _, g := range sv.order {
		switch {
		case g == own:
			before = false
			sv.nameOwn(g)
		case own == nil:
			sv.nameAlone(g)
		case before || sv.growsFrom(g, own):
			g.native, g.parent = g.sid+":"+sv.fallback(), g.sid
		default:
			g.native = g.sid
		}
		g.native = archive.NormalNative(g.native)
		g.parent = archive.NormalNative(g.parent)
		if g.native == "" {
			g.native = sv.fallback()
		}
		// Ids that differ in white space only, or that imitate ours, stay apart.
		for base, n := g.native, 2; taken[g.native]; n++ {
			g.native = base + ":" + itoa(n)
		}
		taken[g.native] = true
	}
}

func (sv *survey) fallback() string {
	if s := archive.NormalNative(sv.file); s != "" {
		return s
	}
	return "session"
}

// ownGroup is the group that the file is named after; in an agent's file it is the
// first.
func (sv *survey) ownGroup() *group {
	if strings.HasPrefix(sv.file, "agent-") {
		return sv.order[0]
	}
	return sv.groups[sv.file]
}

func (sv *survey) nameOwn(g *group) {
	if strings.HasPrefix(sv.file, "agent-") {
		g.agent = true
		g.native, g.parent = g.sid+":"+sv.file, g.sid
		return
	}
	g.native = g.sid
}

// nameAlone names a group of a file whose name says nothing. An agent's transcript
// under another name still marks every turn with one agent id.
func (sv *survey) nameAlone(g *group) {
	g.native = g.sid
	if g.messages > 0 && g.sidechain == g.messages && g.agentID != "" && !g.manyIDs {
		g.agent = true
		g.native, g.parent = g.sid+":agent-"+strings.TrimPrefix(g.agentID, "agent-"), g.sid
	}
}

// growsFrom reports whether the first turn of g that has a parent hangs on a record
// of own.
func (sv *survey) growsFrom(g, own *group) bool {
	if g.root == "" {
		return false
	}
	_, ok := sv.seen[uuidKey{own, g.root}]
	return ok
}

// branch is how the session hangs on its parent.
func (g *group) branch(file string) archive.BranchType {
	switch {
	case g.agent && strings.HasPrefix(file, "agent-acompact-"):
		return archive.Continuation
	case g.agent:
		return archive.Subagent
	case g.messages > 0 && g.sidechain == g.messages:
		return archive.Sidechain
	case g.parent != "" && g.sidechain > 0:
		return archive.Sidechain
	}
	return ""
}
