package engine

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestReplacedFolder: an archive whose folder was replaced says so to whoever wants to
// change it, also when nothing is new; searches go on with what they know, and say it
// too; and the process can open what is there now.
func TestReplacedFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the system keeps folders with open files where they are")
	}
	tmp := t.TempDir()
	dir, src := filepath.Join(tmp, "archive"), filepath.Join(tmp, "x.jsonl")
	line := `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"0f3b4c1e-0000-4000-8000-000000000001","timestamp":"2026-03-01T09:00:00.000Z","cwd":"/src/shop","version":"2.1.0","message":{"role":"user","content":"the basket rounds twice"}}` + "\n"
	if err := os.WriteFile(src, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	old, err := Open(dir, Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	req := ImportRequest{Paths: []string{src}}
	if _, err := old.Import(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	// The file is unchanged, and what is at the path does not have it.
	if r, err := old.Import(t.Context(), req); !isReplaced(err) || r != nil && !r.Stopped {
		t.Errorf("import: %+v, %v", r, err)
	}
	if _, err := old.Rebuild(t.Context(), nil); !isReplaced(err) {
		t.Errorf("rebuild: %v", err)
	}
	if err := old.Err(); !isReplaced(err) {
		t.Errorf("the state: %v", err)
	}
	env, err := old.Search(t.Context(), SearchRequest{Query: "basket"})
	if err != nil || env.Total != 1 || env.ReadOnly == nil || env.ReadOnly.Code != CodeArchiveReplaced {
		t.Errorf("search: %+v, %v", env, err)
	}
	next, err := Open(dir, Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := next.Import(t.Context(), req); err != nil || r.Added != 1 {
		t.Errorf("import into what is there now: %+v, %v", r, err)
	}
	if err := old.Close(); !isReplaced(err) {
		t.Errorf("close: %v", err)
	}
	for _, e := range []*Engine{next, mustOpen(t, dir+".old")} {
		r, err := e.Check(t.Context())
		if err != nil || len(r.Faults) > 0 || r.Sessions != 1 {
			t.Errorf("%s: %+v, %v", e.Dir(), r, err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

func mustOpen(t *testing.T, dir string) *Engine {
	t.Helper()
	e, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func isReplaced(err error) bool {
	var known *Error
	return errors.As(err, &known) && known.Code == CodeArchiveReplaced && known.Hint != ""
}
