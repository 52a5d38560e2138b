package source

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A Candidate is a file that may hold sessions.
type Candidate struct {
	Path string // absolute
	Root string // folder the search was confined to; empty for a file that the caller named
	Rel  string // path below Root with forward slashes
}

// Named reports whether the caller named the file itself: then it matters when its
// format is unknown.
func (c Candidate) Named() bool { return c.Root == "" }

// A Skip is something that was found and left out.
type Skip struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// A Discovery is what a search found, each list sorted by path.
type Discovery struct {
	Files []Candidate
	Skips []Skip
	// Errors are folders and files that cannot be read, each a *fs.PathError. A
	// default folder that does not exist is no error; a named path is.
	Errors []error
}

// DiscoverHome finds the session files of the known agents below a home folder.
// CLAUDE_CONFIG_DIR and CODEX_HOME in env replace the agents' default folders.
func DiscoverHome(ctx context.Context, home string, env map[string]string) (Discovery, error) {
	w := walker{ctx: ctx}
	for _, r := range homeRoots(home, env) {
		w.folder(r.dir, r.keep, true)
	}
	return w.finish()
}

// DiscoverPaths finds session files at paths that the caller names. A file is taken
// whatever its name is; of a folder, every regular file but sidecars and the
// folders of tools is.
func DiscoverPaths(ctx context.Context, paths []string) (Discovery, error) {
	w := walker{ctx: ctx}
	for _, p := range paths {
		abs, err := filepath.Abs(p)
		if err != nil {
			w.fail("open", p, err)
			continue
		}
		fi, err := os.Stat(abs)
		switch {
		case err != nil:
			w.fail("open", p, err)
		case fi.IsDir():
			w.folder(abs, keepAny, false)
		case fi.Mode().IsRegular():
			w.found.Files = append(w.found.Files, Candidate{Path: abs})
		default:
			w.fail("open", p, ErrNotRegular)
		}
	}
	return w.finish()
}

// CodexHome is the folder where Codex keeps what is the user's.
func CodexHome(home string, env map[string]string) string {
	return cmp.Or(env["CODEX_HOME"], filepath.Join(home, ".codex"))
}

// HomeFolders are the folders in which DiscoverHome looks.
func HomeFolders(home string, env map[string]string) []string {
	var dirs []string
	for _, r := range homeRoots(home, env) {
		dirs = append(dirs, r.dir)
	}
	return dirs
}

type homeRoot struct {
	dir  string
	keep func(rel string) bool
}

func homeRoots(home string, env map[string]string) []homeRoot {
	claude := []string{filepath.Join(home, ".claude"), filepath.Join(cmp.Or(env["XDG_CONFIG_HOME"], filepath.Join(home, ".config")), "claude")}
	if dir := env["CLAUDE_CONFIG_DIR"]; dir != "" {
		claude = []string{dir}
	}
	codex := CodexHome(home, env)
	var roots []homeRoot
	for _, dir := range claude {
		roots = append(roots, homeRoot{filepath.Join(dir, "projects"), keepClaude})
	}
	return append(roots,
		homeRoot{filepath.Join(codex, "sessions"), keepCodex},
		homeRoot{filepath.Join(codex, "archived_sessions"), keepCodex})
}

// keepClaude takes "<project>/<file>.jsonl" and agents' files at any depth.
func keepClaude(rel string) bool {
	if path.Ext(rel) != ".jsonl" || sidecar(rel) {
		return false
	}
	return strings.Count(rel, "/") == 1 || strings.HasPrefix(path.Base(rel), "agent-")
}

func keepCodex(rel string) bool { return isRollout(path.Base(rel)) }

func isRollout(base string) bool {
	return strings.HasPrefix(base, "rollout-") &&
		(strings.HasSuffix(base, ".jsonl") || strings.HasSuffix(base, ".jsonl.zst"))
}

func keepAny(rel string) bool { return !sidecar(rel) }

// sidecar reports whether a file is a part of another one's session: its facts are
// read with that session, never as one.
func sidecar(rel string) bool {
	return strings.HasSuffix(rel, ".meta.json") || strings.Contains("/"+rel, "/tool-results/")
}

// skippedFolders hold no sessions, and may hold very many files.
var skippedFolders = []string{".git", "node_modules", "__pycache__", "tool-results"}

type walker struct {
	ctx   context.Context // the walk's own; it does not outlive the call
	found Discovery
}

func (w *walker) fail(op, name string, err error) {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	w.found.Errors = append(w.found.Errors, &fs.PathError{Op: op, Path: name, Err: err})
}

// folder walks one folder. It follows no symbolic link below it; the folder itself
// may be one.
func (w *walker) folder(dir string, keep func(rel string) bool, mayMiss bool) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		w.fail("open", dir, err)
		return
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		if !mayMiss || !errors.Is(err, fs.ErrNotExist) {
			w.fail("open", abs, err)
		}
		return
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(rel string, d fs.DirEntry, err error) error {
		if e := w.ctx.Err(); e != nil {
			return e
		}
		name := filepath.Join(abs, filepath.FromSlash(rel))
		switch {
		case err != nil:
			w.fail("read", name, err)
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
		case d.IsDir():
			if rel != "." && slices.Contains(skippedFolders, d.Name()) {
				return fs.SkipDir
			}
		case d.Type()&fs.ModeSymlink != 0:
			if keep(rel) || path.Ext(rel) == "" {
				w.found.Skips = append(w.found.Skips, Skip{name, "symbolic link is not followed"})
			}
		case !keep(rel):
		case d.Type().IsRegular():
			w.found.Files = append(w.found.Files, Candidate{Path: name, Root: abs, Rel: rel})
		default:
			w.found.Skips = append(w.found.Skips, Skip{name, ErrNotRegular.Error()})
		}
		return nil
	})
	if err != nil && w.ctx.Err() == nil {
		w.fail("read", abs, err)
	}
}

func (w *walker) finish() (Discovery, error) {
	if err := w.ctx.Err(); err != nil {
		return Discovery{}, err
	}
	byPath := func(a, b Candidate) int {
		// A file that was named and found is kept as named.
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Root, b.Root))
	}
	slices.SortFunc(w.found.Files, byPath)
	w.found.Files = slices.CompactFunc(w.found.Files, func(a, b Candidate) bool { return a.Path == b.Path })
	w.dropTwins()
	slices.SortFunc(w.found.Skips, func(a, b Skip) int { return strings.Compare(a.Path, b.Path) })
	w.found.Skips = slices.Compact(w.found.Skips)
	return w.found, nil
}

// dropTwins keeps one of the files that hold the same Codex rollout while it is
// being compressed or moved to the archive: a plain file before a compressed one,
// the sessions folder before the archive, then by path. Only copies that lie in one
// Codex home are twins; elsewhere equal names may be different sessions.
func (w *walker) dropTwins() {
	best := make(map[string]Candidate)
	for _, c := range w.found.Files {
		key := twinKey(c.Path)
		if old, ok := best[key]; key != "" && (!ok || rankTwin(c) < rankTwin(old)) {
			best[key] = c
		}
	}
	w.found.Files = slices.DeleteFunc(w.found.Files, func(c Candidate) bool {
		kept, ok := best[twinKey(c.Path)]
		if !ok || kept == c {
			return false
		}
		w.found.Skips = append(w.found.Skips, Skip{c.Path, "same rollout as " + kept.Path})
		return true
	})
}

// twinKey names the rollout in its Codex home, or is empty for other files.
func twinKey(name string) string {
	slash := filepath.ToSlash(name)
	base := path.Base(slash)
	if !isRollout(base) {
		return ""
	}
	home := path.Dir(slash)
	for _, dir := range []string{"/archived_sessions/", "/sessions/"} {
		if i := strings.LastIndex(slash, dir); i >= 0 {
			home = slash[:i]
			break
		}
	}
	return home + "\x00" + strings.TrimSuffix(base, ".zst")
}

func rankTwin(c Candidate) int {
	rank := 0
	if strings.HasSuffix(c.Path, ".zst") {
		rank += 2
	}
	if strings.Contains(filepath.ToSlash(c.Path), "/archived_sessions/") {
		rank++
	}
	return rank
}
