package archive

import (
	"net/url"
	"regexp"
	"strings"
)

// A Repo is the name of a repository as a remote or a working directory gives it.
type Repo struct{ Name, Owner, Path string }

// RepoFromURL reads a remote: a URL of any scheme, "host:path" as ssh has it, or
// a local path. Path is the remote's path without its host, Name the last
// segment, Owner what stands before it; the ending .git is cut. A local path has
// only a name.
func RepoFromURL(remote string) Repo {
	remote = strings.TrimSpace(remote)
	path, local := "", false
	if scheme, rest, ok := strings.Cut(remote, "://"); ok {
		rest, _, _ = strings.Cut(rest, "?")
		rest, _, _ = strings.Cut(rest, "#")
		_, path, _ = strings.Cut(rest, "/")
		local = strings.EqualFold(scheme, "file")
		if p, err := url.PathUnescape(path); err == nil {
			path = CleanText(p)
		}
	} else if host, rest, ok := strings.Cut(remote, ":"); ok && len(host) > 1 && !strings.ContainsAny(host, `/\`) {
		path = rest
	} else {
		path, local = forward(remote), true
	}
	path = strings.Trim(path, "/")
	path = strings.TrimRight(strings.TrimSuffix(path, ".git"), "/")
	if path == "" || path == "." || path == ".." {
		return Repo{}
	}
	i := strings.LastIndexByte(path, '/')
	if local {
		return Repo{Name: path[i+1:]}
	}
	return Repo{Name: path[i+1:], Owner: path[:max(i, 0)], Path: path}
}

// worktreeDirs are folders that hold further work trees of the repository above.
var worktreeDirs = []string{"/.claude/worktrees/", "/.worktrees/", "/.git/worktrees/"}

// noRepo are folders that are nobody's repository: roots, homes and places for
// temporary files.
var noRepo = regexp.MustCompile(`^(?:/|/root|/tmp|/private/tmp|/var/tmp|/home|/Users|/(?:home|Users)/[^/]+|[A-Za-z]:/?|[A-Za-z]:/Users(?:/[^/]+)?)$`)

// RepoFromDir is the candidate that a working directory gives: the name of the
// folder, or of the repository when the folder is a work tree of the usual
// places. It is empty for roots, homes and temporary folders. No disk is asked.
func RepoFromDir(dir string) string {
	dir = forward(dir)
	for _, w := range worktreeDirs {
		if i := strings.Index(dir, w); i > 0 {
			dir = dir[:i]
		}
	}
	if dir != "/" {
		dir = strings.TrimRight(dir, "/")
	}
	if dir == "" || noRepo.MatchString(dir) {
		return ""
	}
	name := dir[strings.LastIndexByte(dir, '/')+1:]
	if name == "." || name == ".." || name == "~" {
		return ""
	}
	return name
}

// repoOf is the repository of a session: of its remote, else of the first of its
// working directories that gives one.
func repoOf(s *Session) Repo {
	if r := RepoFromURL(s.RepoURL); r.Name != "" {
		return r
	}
	for _, dir := range s.WorkDirs {
		if name := RepoFromDir(dir); name != "" {
			return Repo{Name: name}
		}
	}
	return Repo{}
}
