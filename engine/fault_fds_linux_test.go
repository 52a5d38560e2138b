package engine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hansard-search/hansard/engine/internal/faultfs"
	"github.com/hansard-search/hansard/engine/store"
)

const fewFilesVariable = "HANSARD_TEST_FEW_FILES"

// TestFewFiles lets a process have only so many open files: it works, or it says
// what is wrong, and the archive is whole afterwards.
func TestFewFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	for _, limit := range []int{64, 24, 16, 12} {
		dir := t.TempDir()
		cmd := exec.Command(os.Args[0], "-test.run=^TestFewFilesChild$", "-test.count=1")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d:%s", fewFilesVariable, limit, dir))
		said, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%d files: %v: %s", limit, err, said)
			continue
		}
		s := &stage{t: t, may: ledger{}}
		acks, err := s.hear(string(said))
		if err != nil {
			t.Errorf("%d files: %v", limit, err)
			continue
		}
		if err := inspectDir(filepath.Join(dir, "archive"), stageOptions, s.may); err != nil {
			t.Errorf("%d files: %v", limit, err)
		}
		end := "works"
		if _, why, ok := strings.Cut(string(said), "kill error "); ok {
			end, _, _ = strings.Cut(why, "\n")
		}
		t.Logf("%d files: %d acknowledgements; %s", limit, acks, end)
	}
}

// TestFewFilesChild is the process that has few files.
func TestFewFilesChild(t *testing.T) {
	var limit uint64
	var dir string
	if _, err := fmt.Sscanf(strings.Replace(os.Getenv(fewFilesVariable), ":", " ", 1), "%d %s", &limit, &dir); err != nil {
		t.Skip("only as a child of TestFewFiles")
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
		t.Fatal(err)
	}
	o := stageOptions
	o.Create, o.NoMerge, o.Now = true, false, func() time.Time { return testNow }
	s := &stage{t: t, fs: faultfs.New(store.Disk), src: filepath.Join(dir, "src"), may: ledger{}}
	if err := os.MkdirAll(s.src, 0o700); err != nil {
		t.Fatal(err)
	}
	err := s.manyFiles(dir, o)
	if err == nil {
		return
	}
	fmt.Println("kill error", err)
	if text := err.Error(); !strings.Contains(text, "too many open files") {
		t.Errorf("the cause is not named: %v", err)
	}
	var known *Error
	if !errors.As(err, &known) || known.Code != CodeTooManyFiles || !strings.Contains(known.Hint, "ulimit -n") || strings.Contains(known.Hint, "disk") {
		t.Errorf("not told as too many open files: %+v", known)
	}
}

// manyFiles makes many segments, one after each import.
func (s *stage) manyFiles(dir string, o Options) (err error) {
	if s.e, err = Open(filepath.Join(dir, "archive"), o); err != nil {
		return err
	}
	for i := range 20 {
		name := string(rune('a' + i))
		fmt.Println("kill begin", name, 1)
		if err := s.load(map[string]int{name: 1}); err != nil {
			return fmt.Errorf("%w; close: %v", err, s.e.Close())
		}
		fmt.Println("kill end", name, 1)
		if err := s.e.index.flushNow(s.t.Context()); err != nil {
			return fmt.Errorf("%w; close: %v", err, s.e.Close())
		}
	}
	return s.e.Close()
}
