package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestDocumentedRows runs the examples of docs/query.md that show rows, on the archive of
// the demo.
func TestDocumentedRows(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "hansard.exe")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command(bin, "demo", "--keep", filepath.Join(dir, "demo")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	examples := regexp.MustCompile("(?s)```\n\\$ hansard (-n [0-9]+ )?'([^\n]*)'\n(.*?)```").FindAllStringSubmatch(read(t, "../../docs/query.md"), -1)
	if len(examples) < 2 {
		t.Fatalf("docs/query.md has %d examples of rows", len(examples))
	}
	for _, e := range examples {
		args := []string{"--archive", filepath.Join(dir, "demo", "archive"), e[2]}
		if e[1] != "" {
			args = append(args, "-n"+e[1][3:len(e[1])-1])
		}
		cmd := exec.Command(bin, args...)
		cmd.Env = append(os.Environ(), "NO_COLOR=1")
		out, err := cmd.Output()
		if err != nil || string(out) != e[3] {
			t.Errorf("%s prints\n%s%v, not\n%s", e[2], out, err, e[3])
		}
	}
}
