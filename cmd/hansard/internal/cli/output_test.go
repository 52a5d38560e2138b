package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestLostOutput: an answer that could not be written is an error, one whose reader
// has seen enough is not.
func TestLostOutput(t *testing.T) {
	for _, args := range [][]string{{"explain", "timeout"}, {"--help"}, {"status"}, {"doctor"}} {
		for err, want := range map[error]int{errors.New("no space left"): exitBusy, syscall.EPIPE: exitOK} {
			var stderr bytes.Buffer
			dir := t.TempDir()
			w := World{Stdout: &stderr, Stderr: &stderr, Now: time.Now, Home: func() (string, error) { return dir, nil },
				Getenv: func(string) string { return "" }, Environ: func() []string { return nil }}
			if code := Run(context.Background(), []string{"--archive", dir, "import", "--home", dir}, w); code != exitOK {
				t.Fatalf("import: %d: %s", code, stderr.String())
			}
			stderr.Reset()
			w.Stdout = failing{&os.PathError{Op: "write", Path: "stdout", Err: err}}
			code := Run(context.Background(), append([]string{"--archive", dir}, args...), w)
			if code != want || want != exitOK && !strings.Contains(stderr.String(), err.Error()) {
				t.Errorf("%v with %v: exit %d, want %d; %s", args, err, code, want, stderr.String())
			}
		}
	}
}
