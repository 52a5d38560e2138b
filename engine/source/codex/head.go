package codex

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

// lineage is what a head records of where its session comes from.
type lineage struct {
	subagent  bool
	spawnedBy string // thread that started this one as its agent
	forkedOf  string // thread whose history this one began with
}

func lineageOf(meta jsonx.Value) lineage {
	agent := meta.Get("source", "subagent")
	l := lineage{
		subagent:  agent.Exists() || meta.Get("thread_source").Is("subagent"),
		spawnedBy: agent.Get("thread_spawn", "parent_thread_id").Str(),
		forkedOf:  meta.Get("forked_from_id").Str(),
	}
	if l.spawnedBy == "" {
		l.spawnedBy = meta.Get("parent_thread_id").Str()
	}
	return l
}

// parent is the thread that a replayed history comes from.
func (l lineage) parent() string {
	if l.spawnedBy != "" {
		return l.spawnedBy
	}
	return l.forkedOf
}

// apply records the lineage in s.
func (l lineage) apply(s *archive.Session) {
	s.Parent = l.parent()
	if s.Parent == s.Native {
		s.Parent = ""
	}
	if l.subagent {
		s.Branch = archive.Subagent
	}
	link := func(parent, typ, method string) {
		if parent != "" && parent != s.Native {
			s.Links = append(s.Links, archive.Link{Parent: parent, Type: typ, Method: method})
		}
	}
	spawn := "branch"
	if l.subagent {
		spawn = "subagent"
	}
	link(l.spawnedBy, spawn, "session_meta.parent_thread_id")
	if l.forkedOf != l.spawnedBy {
		typ := "branch"
		if l.subagent && l.spawnedBy == "" {
			typ = "subagent"
		}
		link(l.forkedOf, typ, "session_meta.forked_from_id")
	}
}

// headTime is when the head's session was created.
func headTime(rec record) int64 {
	if t := timeOf(rec.body.Get("timestamp")); t != archive.NoTime {
		return t
	}
	return rec.when()
}

// place is where a session ran, for telling a resume from a foreign head.
type place struct{ dir, repo string }

func placeOf(meta jsonx.Value) place {
	return place{meta.Get("cwd").Str(), meta.Get("git", "repository_url").Str()}
}

func (p place) meets(q place) bool {
	return p.dir != "" && p.dir == q.dir || p.repo != "" && p.repo == q.repo
}

// takeHead fills the session from its own head.
func takeHead(s *archive.Session, rec record) {
	m := rec.body
	s.Created = headTime(rec)
	git := m.Get("git")
	s.GitBranch = git.Get("branch").Str()
	s.RepoURL = git.Get("repository_url").Str()
	s.Commit = git.Get("commit_hash").Str()
	if s.Instructions = m.Get("instructions").Str(); s.Instructions == "" {
		s.Instructions = firstStr(m.Get("base_instructions"), "text")
	}
	s.Version = m.Get("cli_version").Str()
	agent := m.Get("source", "subagent", "thread_spawn")
	if s.DisplayName = m.Get("agent_nickname").Str(); s.DisplayName == "" {
		s.DisplayName = agent.Get("agent_nickname").Str()
	}
	addDir(s, m.Get("cwd").Str())
	lineageOf(m).apply(s)
	o := object{}
	for _, k := range []string{"originator", "model_provider", "agent_nickname", "agent_role", "agent_path", "source", "thread_source"} {
		if v := m.Get(k); v.Type() != jsonx.Null && v.Exists() {
			o[k] = string(appendBrief(nil, v, briefDepth))
		}
	}
	if len(o) > 0 {
		s.Events = append(s.Events, archive.Event{Kind: "agent_identity", Time: s.Created, Summary: m.Get("originator").Str(), Payload: o.String()})
	}
}

func addDir(s *archive.Session, dir string) {
	if dir != "" && !slices.Contains(s.WorkDirs, dir) {
		s.WorkDirs = append(s.WorkDirs, dir)
	}
}

var uuidEnd = regexp.MustCompile(`[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$`)

// nameOfFile is the id that a rollout without a head gets: the one in its name,
// else the name.
func nameOfFile(file string) string {
	base := path.Base(strings.ReplaceAll(file, `\`, "/"))
	for _, ext := range []string{".zst", ".jsonl", ".json"} {
		base = strings.TrimSuffix(base, ext)
	}
	if id := uuidEnd.FindString(base); id != "" {
		return id
	}
	return base
}
