package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAnswerOfAnArchiveThatDoesNotClose moves the folder of the archive away when a
// search has its answer: the answer is shown, and that the archive did not close is only
// a warning.
func TestAnswerOfAnArchiveThatDoesNotClose(t *testing.T) {
	home := t.TempDir()
	writeHostile(t, filepath.Join(home, ".claude", "projects", "-src", "s.jsonl"), "5e550001-0000-4000-8000-000000000001", "harbor")
	dir := filepath.Join(t.TempDir(), "archive")
	var out, errs bytes.Buffer
	asked, last := 0, -1 // how often the time was asked for, and when the folder goes
	w := World{Stdout: &out, Stderr: &errs, Home: func() (string, error) { return home, nil },
		Getenv: func(string) string { return "" }, Environ: func() []string { return nil },
		Now: func() time.Time {
			if asked++; asked == last {
				if err := os.Rename(dir, dir+".moved"); err != nil {
					t.Error(err)
				}
			}
			return time.Now()
		}}
	run := func(args ...string) int {
		out.Reset()
		errs.Reset()
		asked = 0
		return Run(context.Background(), append([]string{"--archive", dir}, args...), w)
	}
	if code := run("import"); code != exitOK {
		t.Fatalf("import: %d: %s", code, errs.String())
	}
	if code := run("marker"); code != exitOK || errs.Len() == 0 {
		t.Fatalf("search: %d: %s", code, errs.String())
	}
	want := out.String()
	last = asked // the answer is made
	if code := run("marker"); code != exitOK || out.String() != want || !strings.Contains(errs.String(), "warning: the archive was not closed") {
		t.Errorf("exit %d, want %d; it says\n%s%s\nwant\n%s", code, exitOK, out.String(), errs.String(), want)
	}
}
