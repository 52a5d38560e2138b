package segments

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var rewriteGoldens = flag.Bool("rewrite", false, "write the golden segment of the current format version")

// TestOldVersions opens a committed segment of every format version.
func TestOldVersions(t *testing.T) {
	model := plantModel()[:2]
	path := filepath.Join("testdata", "v1.seg")
	if *rewriteGoldens {
		if err := os.WriteFile(path, build(t, Options{Schema: testSchema, ID: testID}, model), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, b)
	if v := s.Info().Version; v != 1 {
		t.Errorf("version %d, want 1", v)
	}
	compare(t, "v1", s, model)
	if faults := Check(s); len(faults) > 0 {
		t.Errorf("Check = %v", faults)
	}
}
