package codex

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// TestGolden reads each small rollout of testdata and compares what was read with
// the file beside it. One rollout shows one idea.
func TestGolden(t *testing.T) {
	inputs, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(inputs) == 0 {
		t.Fatalf("%d inputs: %v", len(inputs), err)
	}
	for _, in := range inputs {
		name := strings.TrimSuffix(filepath.Base(in), ".jsonl")
		t.Run(name, func(t *testing.T) {
			f := diskFile(in)
			f.Path = "rollout-2026-01-05T08-00-00-" + name + ".jsonl"
			c, n := read(t, f)
			got := dump(c, n)
			golden := filepath.Join("testdata", name+".golden")
			if *rewrite {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); d != "" {
				t.Errorf("read differs (-want +got):\n%s", d)
			}
			if body, err := os.ReadFile(in); err != nil || !(Format{}).Sniff(f.Path, body) {
				t.Errorf("not recognised: %v", err)
			}
		})
	}
}
