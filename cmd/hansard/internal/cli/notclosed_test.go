package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
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

// TestAnswersSurviveTheClose: whatever is asked, a failed close takes no answer away and
// changes no exit code; and an error is told alone.
func TestAnswersSurviveTheClose(t *testing.T) {
	home := t.TempDir()
	writeHostile(t, filepath.Join(home, ".claude", "projects", "-src", "s.jsonl"), "5e550001-0000-4000-8000-000000000001", "harbor")
	dir := filepath.Join(t.TempDir(), "archive")
	closed := 0
	run := func(fails bool, args ...string) (code int, stdout, stderr string) {
		var out, errs bytes.Buffer
		w := World{Stdout: &out, Stderr: &errs, Home: func() (string, error) { return home, nil },
			Getenv: func(string) string { return "" }, Environ: func() []string { return nil }, Now: func() time.Time { return time.Unix(1772355600, 0) }}
		if fails {
			w.close = func(e io.Closer) error {
				closed++
				return errors.Join(e.Close(), errors.New("the disk went away"))
			}
		}
		code = Run(context.Background(), append([]string{"--archive", dir}, args...), w)
		duration := regexp.MustCompile(`"(took|duration)_ms": \d+|\(\d+m?s\)`)
		return code, duration.ReplaceAllString(out.String(), "TIME"), errs.String()
	}
	if code, _, errs := run(false, "import"); code != exitOK {
		t.Fatalf("import: %d: %s", code, errs)
	}
	const warning = "warning: the archive was not closed as it should be: the disk went away\n"
	for _, args := range [][]string{
		{"marker"}, {"--json", "marker"}, {"-e", "zebra"},
		{"read", "session:5e550001"}, {"--json", "read", "session:5e550001"}, {"read", "session:5e550001", "--view", "raw"}, {"read", "session:nobody"},
		{"status"}, {"--json", "status"}, {"check"}, {"--json", "check"}, {"check", "--deep"},
	} {
		code, out, errs := run(false, args...)
		closed = 0
		gotCode, gotOut, gotErrs := run(true, args...)
		if closed != 1 {
			t.Errorf("%v: closed %d times", args, closed)
		}
		if gotCode != code || gotOut != out {
			t.Errorf("%v: exit %d, want %d; it says\n%s\nwant\n%s", args, gotCode, code, gotOut, out)
		}
		if want := code == exitOK || code == exitNoMatch; strings.Contains(gotErrs, warning) != want || strings.Replace(gotErrs, warning, "", 1) != errs {
			t.Errorf("%v: stderr says\n%s\nwithout the fault\n%s", args, gotErrs, errs)
		}
	}
}
