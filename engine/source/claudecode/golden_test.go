package claudecode

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hansard-search/hansard/engine/source"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// One idea per file; the dump beside it shows what it becomes.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !(Format{}).Sniff(name, content) {
				t.Errorf("%s is not recognised", name)
			}
			r, n := read(t, memFile(name, content), source.Limits{})
			if want := int64(len(content)); n.Consumed != want {
				t.Errorf("consumed %d of %d bytes", n.Consumed, want)
			}
			golden(t, strings.TrimSuffix(name, ".jsonl")+".txt", dump(r, n))
		})
	}
}

// A home folder: an agent's file with the facts beside it, and a result that was
// written to a file of its own.
func TestGoldenHome(t *testing.T) {
	found, err := source.DiscoverHome(context.Background(), filepath.Join("testdata", "home"), nil)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, c := range found.Files {
		o, err := c.Open()
		if err != nil {
			t.Fatal(err)
		}
		r, n := read(t, o.File, source.Limits{})
		b.WriteString("file " + c.Rel + "\n" + dump(r, n) + "\n")
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
	golden(t, filepath.Join("testdata", "home.txt"), b.String())
}
