package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/hansard-search/hansard"

// law lists, for each package or tree ("/..."), the packages of this module that
// its non-test code may import. A package without an entry may import nothing.
var law = map[string][]string{
	"lexer":                     {},
	"lexer/...":                 {"lexer"},
	"postings":                  {},
	"bm25":                      {},
	"segments":                  {"lexer", "postings"},
	"query":                     {"lexer", "postings", "bm25"},
	"engine/archive":            {"engine/internal/jsonx"},
	"engine/store":              {"engine/archive", "engine/internal/zstdx"},
	"engine/source":             {"engine/archive", "engine/internal/zstdx"},
	"engine/source/...":         {"engine/archive", "engine/source", "engine/internal/jsonx"},
	"engine/internal/...":       {},
	"engine/internal/oracle":    {"engine/archive", "lexer", "query"}, // used by tests only
	"engine":                    {"engine/archive", "engine/store", "engine/source", "engine/source/...", "lexer", "postings", "segments", "query"},
	"engine/owner":              {"engine", "engine/source", "engine/store", "query"},
	"cmd/hansard":               {"cmd/hansard/internal/cli"},
	"cmd/hansard/internal/term": {},
	"cmd/hansard/internal/demo": {},
	"cmd/hansard/internal/...":  {"engine", "engine/owner", "query", "cmd/hansard/internal/..."},
}

// doors lists, for each dependency, the only packages that may import it.
var doors = map[string][]string{
	"github.com/cockroachdb/pebble/v2":    {"engine/store", "segments", "engine/internal/faultfs"}, // the last for tests only
	"github.com/RoaringBitmap/roaring/v2": {"postings"},
	"github.com/klauspost/compress":       {"engine/internal/zstdx"},
	"github.com/blevesearch/segment":      {"lexer"},
	"github.com/spf13/pflag":              {"cmd/hansard/internal/cli"},
	"github.com/spf13/cobra":              {"cmd/hansard/internal/cli"},
	"github.com/mattn/go-isatty":          {"cmd/hansard/internal/term"},
	"github.com/adrg/xdg":                 {"cmd/hansard/internal/cli"},
	"golang.org/x/sys":                    {"segments", "engine/owner"},
	"github.com/cespare/xxhash/v2":        {"engine/internal/zstdx", "engine/source/codex", "engine/source/claudecode", "engine/store"},
	"modernc.org/sqlite":                  {"lexer/gen"}, // and tests
	"net":                                 {"engine/owner"},
	"net/http":                            {},
	"github.com/cockroachdb/datadriven":   {},
	"github.com/google/go-cmp":            {},
	"go.uber.org/goleak":                  {},
	"github.com/rogpeppe/go-internal":     {},
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

func TestImportLaw(t *testing.T) {
	for _, p := range list(t) {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		allowed, known := lookup(law, name)
		if !known {
			t.Errorf("package %s has no entry in the import law", name)
		}
		for _, imp := range p.Imports {
			inner, ours := strings.CutPrefix(imp, module+"/")
			if ours && !matches(allowed, inner) {
				t.Errorf("%s imports %s, which the law does not allow", name, inner)
			}
			if !ours && !throughDoor(name, imp) {
				t.Errorf("%s imports %s, which has another door", name, imp)
			}
		}
	}
}

// TestDependenciesAreKnown fails on a dependency that nobody decided about.
func TestDependenciesAreKnown(t *testing.T) {
	for _, p := range list(t) {
		for _, imp := range p.Imports {
			if strings.Contains(strings.Split(imp, "/")[0], ".") && !strings.HasPrefix(imp, module) && door(imp) == "" {
				t.Errorf("%s imports %s, which has no door", p.ImportPath, imp)
			}
		}
	}
}

// TestEngineOpensNoSocket holds that embedding the engine links no network code of
// ours: no package of it imports net, but for owner, which the engine does not import.
func TestEngineOpensNoSocket(t *testing.T) {
	for _, p := range list(t) {
		if p.ImportPath == module+"/engine/owner" {
			continue
		}
		if strings.HasPrefix(p.ImportPath, module+"/engine") && slices.ContainsFunc(p.Imports, func(i string) bool { return door(i) == "net" || door(i) == "net/http" }) {
			t.Errorf("%s imports the network", p.ImportPath)
		}
	}
}

func list(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// lookup finds the entry of name: its own, else that of the nearest tree above.
func lookup(m map[string][]string, name string) ([]string, bool) {
	if v, ok := m[name]; ok {
		return v, true
	}
	for dir := name; dir != "."; dir = filepath.Dir(dir) {
		if v, ok := m[filepath.Dir(dir)+"/..."]; ok {
			return v, true
		}
	}
	return nil, false
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		tree, isTree := strings.CutSuffix(p, "/...")
		return p == name || isTree && strings.HasPrefix(name, tree+"/")
	})
}

// door is the dependency that imp belongs to, or "".
func door(imp string) string {
	for d := range doors {
		if imp == d || strings.HasPrefix(imp, d+"/") && imp != "net/url" { // parsing, no network
			return d
		}
	}
	return ""
}

func throughDoor(name, imp string) bool {
	d := door(imp)
	return d == "" || slices.Contains(doors[d], name)
}
