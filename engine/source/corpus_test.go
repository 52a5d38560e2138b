package source_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hansard-search/hansard/engine/source"
	"github.com/hansard-search/hansard/engine/source/claudecode"
)

// unsupported maps the corpus's names of formats to those of a reason.
var unsupported = map[string]string{
	"pi-agent": "pi", "other-agents": "", "opencode": "", "claude-code": "", "codex": "",
}

// No file of another agent is taken, and most are named.
func TestCorpusIdentify(t *testing.T) {
	root := os.Getenv("HANSARD_CORPUS")
	if root == "" {
		t.Skip("HANSARD_CORPUS is not set")
	}
	manifest, err := os.ReadFile(filepath.Join(root, "MANIFEST.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	seen, unnamed := 0, 0
	for line := range strings.Lines(string(manifest)) {
		f := strings.Split(line, "\t")
		if f[0] == "path" || f[1] == "claude-code" {
			continue
		}
		o, err := source.OpenFile(filepath.Join(root, f[0]))
		if err != nil {
			t.Fatal(err)
		}
		head, err := o.Head()
		if err != nil {
			t.Fatal(err)
		}
		seen++
		got, reason := source.Identify([]source.Format{claudecode.Format{}}, o.Path, head)
		if got != nil {
			t.Errorf("%s of format %s is taken", f[0], f[1])
		}
		if reason == "unknown format" {
			unnamed++
			t.Logf("%s: %s: %s", f[1], f[0], reason)
		}
		want, ok := unsupported[f[1]]
		if !ok {
			want = f[1]
		}
		if rest, named := strings.CutPrefix(reason, "unsupported format "); named && want != "" && rest != want && rest != "sqlite" {
			t.Errorf("%s of format %s: %s", f[0], f[1], reason)
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d files, %d without a name", seen, unnamed)
}
