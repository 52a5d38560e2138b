package archive

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// A File is what the actions of one session did to one path.
type File struct {
	Path                string
	Actions             int64
	First, Last         int   // indices into Session.Actions, by time and then by file order
	FirstSeen, LastSeen int64 // of the action, else of the session; NoTime when neither is known
}

// Files groups the actions that keep accepts by path; a nil keep accepts all that
// are not inherited. An action with several paths counts for each. The files are
// sorted by path.
func Files(s *Session, keep func(*Action) bool) []File {
	if keep == nil {
		keep = func(a *Action) bool { return !a.Inherited }
	}
	index := map[string]int{}
	var files []File
	for i := range s.Actions {
		a := &s.Actions[i]
		if !keep(a) {
			continue
		}
		t := a.Time
		if t == NoTime {
			t = s.SortKey()
		}
		for _, p := range a.Paths {
			at, ok := index[p]
			if !ok {
				at = len(files)
				index[p] = at
				files = append(files, File{Path: p, First: i, Last: i, FirstSeen: t, LastSeen: t})
			}
			f := &files[at]
			f.Actions++
			if t < f.FirstSeen {
				f.First, f.FirstSeen = i, t
			}
			if t >= f.LastSeen {
				f.Last, f.LastSeen = i, t
			}
		}
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return files
}

// A Run is a session seen as one execution of an agent.
type Run struct {
	Ref        string // "run:<session>"
	Session    SessionID
	Parent     SessionID // empty without a recorded parent
	ParentRun  string
	Harness    string // codex, claude-code, gemini-cli, …; unknown for an unknown origin
	Role       string // subagent or main
	Agent      string // "agent:<harness>/<role>", with the agent's type behind when it is known
	Title      string
	Dir        string // first working directory
	GitBranch  string
	Status     string
	Confidence string
	Snapshot   string // reference of the context it began with
	Lineage    []string
	Evidence   []string
	SearchText string
	Time       int64
}

// RunOf is the session's run. The agent's type is what was asked for when the
// session is a subagent, for example "Explore"; empty when it is unknown.
func RunOf(s *Session, agentType string) Run {
	id := s.ID()
	r := Run{
		Ref: string(RefRun) + ":" + string(id), Session: id,
		Harness: Harness(s.Origin), Role: "main", Title: cmp.Or(s.Title, string(id)),
		GitBranch: s.GitBranch, Status: cmp.Or(s.Status, StatusUnknown), Confidence: "raw",
		Snapshot: snapshotRef(id, startBoundary(s)), Evidence: []string{string(id)}, Time: s.SortKey(),
	}
	if s.Parent != "" {
		r.Parent = MakeSessionID(s.Origin, s.Parent)
		r.ParentRun = string(RefRun) + ":" + string(r.Parent)
	}
	if s.Branch == Subagent {
		r.Role = "subagent"
	}
	r.Agent = "agent:" + r.Harness + "/" + r.Role
	if agentType != "" {
		r.Agent += "/" + agentType
	}
	if len(s.WorkDirs) > 0 {
		r.Dir = s.WorkDirs[0]
	}
	r.Lineage = []string{r.Ref}
	r.SearchText = joinParts(r.Title, s.Native, s.GitBranch)
	return r
}

// Harness is the program behind an origin, as runs name it.
func Harness(o Origin) string {
	switch o {
	case ClaudeCode:
		return "claude-code"
	case Codex:
		return "codex"
	case ChatGPT:
		return "chatgpt"
	case GeminiCLI, Hermes, Antigravity:
		return "local"
	case OpenCode:
		return "opencode"
	case Pi:
		return "pi"
	}
	return "unknown"
}

// A Snapshot is a point at which the context of a session was made anew: its
// start, and every compaction.
type Snapshot struct {
	Ref         string
	Session     SessionID
	Run         string
	Boundary    string // session_start, resume, subagent_start or compaction
	Inheritance string // prefix-sharing, spawned-fresh or none
	Segments    []string
	Evidence    []string
	SearchText  string
	Time        int64
}

// How a context came by what it holds.
const (
	PrefixSharing = "prefix-sharing"
	SpawnedFresh  = "spawned-fresh"
	NoInheritance = "none"
)

// Snapshots are the context snapshots of a session in order: that of its start,
// then one for each recorded compaction.
func Snapshots(s *Session) []Snapshot {
	id := s.ID()
	first := Snapshot{
		Session: id, Run: string(RefRun) + ":" + string(id), Boundary: startBoundary(s),
		Inheritance: inheritance(s), Segments: []string{string(RefSession) + ":" + string(id)},
		Evidence: []string{string(id)}, SearchText: joinParts(s.Title, s.Native), Time: s.SortKey(),
	}
	first.Ref = snapshotRef(id, first.Boundary)
	all := []Snapshot{first}
	for _, e := range s.Events {
		if e.Kind != BoundaryCompaction {
			continue
		}
		c := first
		c.Boundary, c.Inheritance = BoundaryCompaction, NoInheritance
		c.Ref = snapshotRef(id, BoundaryCompaction) + ":" + strconv.Itoa(len(all)-1)
		if e.Time != NoTime {
			c.Time = e.Time
		}
		c.SearchText = joinParts(first.SearchText, e.Summary)
		all = append(all, c)
	}
	return all
}

func snapshotRef(id SessionID, boundary string) string {
	return string(RefSnapshot) + ":" + string(id) + ":" + boundary
}

func startBoundary(s *Session) string {
	switch s.Branch {
	case Subagent:
		return BoundarySubagentStart
	case Continuation:
		return BoundaryResume
	}
	return BoundarySessionStart
}

func inheritance(s *Session) string {
	switch s.Branch {
	case Subagent, Sidechain:
		return SpawnedFresh
	case Continuation, Fork:
		return PrefixSharing
	}
	return NoInheritance
}

// joinParts joins what is not empty by spaces.
func joinParts(parts ...string) string {
	parts = slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return p == "" })
	return strings.Join(parts, " ")
}
