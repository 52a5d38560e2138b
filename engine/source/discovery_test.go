package source

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree writes files, given as "path" or "path -> link target", below a new folder.
func tree(t *testing.T, paths ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, p := range paths {
		name, target, link := strings.Cut(p, " -> ")
		full := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		var err error
		if link {
			err = os.Symlink(target, full)
		} else {
			err = os.WriteFile(full, []byte(p), 0o600)
		}
		if err != nil {
			if link && runtime.GOOS == "windows" {
				t.Skip("no symbolic links here")
			}
			t.Fatal(err)
		}
	}
	return root
}

// relative lists a discovery with paths below root.
func relative(root string, d Discovery) (out []string) {
	rel := func(p string) string {
		r, err := filepath.Rel(root, p)
		if err != nil {
			return p
		}
		return filepath.ToSlash(r)
	}
	for _, f := range d.Files {
		mark := ""
		if f.Named() {
			mark = " (named)"
		}
		out = append(out, rel(f.Path)+mark)
	}
	for _, s := range d.Skips {
		out = append(out, "skip "+rel(s.Path)+": "+strings.ReplaceAll(s.Reason, root+string(filepath.Separator), ""))
	}
	for _, err := range d.Errors {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			out = append(out, "error "+rel(pe.Path)+": "+pe.Err.Error())
		}
	}
	return out
}

func TestDiscoverHome(t *testing.T) {
	root := tree(t,
		".claude/projects/-w-shop/s-1.jsonl",
		".claude/projects/-w-shop/agent-7a.jsonl",
		".claude/projects/-w-shop/sessions-index.json",
		".claude/projects/-w-shop/s-1/subagents/agent-9c.jsonl",
		".claude/projects/-w-shop/s-1/subagents/agent-9c.meta.json",
		".claude/projects/-w-shop/s-1/subagents/workflows/w/agent-11.jsonl",
		".claude/projects/-w-shop/s-1/subagents/workflows/w/journal.jsonl",
		".claude/projects/-w-shop/s-1/tool-results/agent-fake.jsonl",
		".claude/projects/-w-shop/linked.jsonl -> s-1.jsonl",
		".claude/projects/stray.jsonl",
		".claude/history.jsonl",
		".codex/sessions/2026/01/02/rollout-a.jsonl",
		".codex/sessions/2026/01/02/rollout-a.jsonl.zst",
		".codex/sessions/2026/01/02/notes.jsonl",
		".codex/sessions/2026/01/03/rollout-b.jsonl.zst",
		".codex/archived_sessions/rollout-b.jsonl",
		".codex/archived_sessions/rollout-c.jsonl",
		".codex/history.jsonl",
	)
	d, err := DiscoverHome(context.Background(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		".claude/projects/-w-shop/agent-7a.jsonl",
		".claude/projects/-w-shop/s-1.jsonl",
		".claude/projects/-w-shop/s-1/subagents/agent-9c.jsonl",
		".claude/projects/-w-shop/s-1/subagents/workflows/w/agent-11.jsonl",
		".codex/archived_sessions/rollout-b.jsonl",
		".codex/archived_sessions/rollout-c.jsonl",
		".codex/sessions/2026/01/02/rollout-a.jsonl",
		"skip .claude/projects/-w-shop/linked.jsonl: symbolic link is not followed",
		"skip .codex/sessions/2026/01/02/rollout-a.jsonl.zst: same rollout as .codex/sessions/2026/01/02/rollout-a.jsonl",
		"skip .codex/sessions/2026/01/03/rollout-b.jsonl.zst: same rollout as .codex/archived_sessions/rollout-b.jsonl",
	}
	if diff := cmp.Diff(want, relative(root, d)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDiscoverEnvironment(t *testing.T) {
	root := tree(t,
		".claude/projects/p/default.jsonl",
		".config/claude/projects/p/config.jsonl",
		"elsewhere/projects/p/moved.jsonl",
		".codex/sessions/rollout-default.jsonl",
		"work/codex/sessions/rollout-moved.jsonl",
	)
	for _, tt := range []struct {
		env  map[string]string
		want []string
	}{
		{nil, []string{".claude/projects/p/default.jsonl", ".codex/sessions/rollout-default.jsonl", ".config/claude/projects/p/config.jsonl"}},
		{
			map[string]string{"CLAUDE_CONFIG_DIR": filepath.Join(root, "elsewhere"), "CODEX_HOME": filepath.Join(root, "work", "codex")},
			[]string{"elsewhere/projects/p/moved.jsonl", "work/codex/sessions/rollout-moved.jsonl"},
		},
		{map[string]string{"CLAUDE_CONFIG_DIR": filepath.Join(root, "none"), "CODEX_HOME": filepath.Join(root, "none")}, nil},
	} {
		d, err := DiscoverHome(context.Background(), root, tt.env)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, relative(root, d)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.env, diff)
		}
	}
}

func TestDiscoverPaths(t *testing.T) {
	root := tree(t,
		"in/a.jsonl", "in/b", "in/c.log", "in/deep/d.txt", "in/x.meta.json", "in/.git/config",
		"in/node_modules/m.jsonl", "in/s/tool-results/t.txt", "in/out.jsonl -> /etc/passwd", "named.weird",
	)
	d, err := DiscoverPaths(context.Background(), []string{
		filepath.Join(root, "in"), filepath.Join(root, "named.weird"), filepath.Join(root, "in", "a.jsonl"), filepath.Join(root, "missing"),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"in/a.jsonl (named)", "in/b", "in/c.log", "in/deep/d.txt", "named.weird (named)",
		"skip in/out.jsonl: symbolic link is not followed",
		"error missing: no such file or directory",
	}
	got := relative(root, d)
	if len(got) > 0 && runtime.GOOS == "windows" {
		got[len(got)-1] = want[len(want)-1]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := DiscoverPaths(ctx, []string{root}); !errors.Is(err, context.Canceled) {
		t.Errorf("under an ended context: %v", err)
	}
}
