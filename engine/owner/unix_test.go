//go:build unix

package owner

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hansard-search/hansard/engine"
)

func setUmask(mask int) int { return syscall.Umask(mask) }

// unprivileged is a user who is not the one that runs the tests, when that is root.
const unprivileged = 65534

// asNobodyElse searches an archive whose folder cannot be written, as a user whom modes
// bind, twice at once, and tries to import.
func asNobodyElse(t *testing.T, dir string) {
	t.Helper()
	root := os.Getuid() == 0
	if root {
		check(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Chown(path, unprivileged, unprivileged)
		}))
		admitOthers(t, dir)
	}
	run := func(j job) *process { return startAs(t, j, root) }
	a, b := run(job{Dir: dir, Do: "search", Query: "needle"}), run(job{Dir: dir, Do: "search", Query: "needle"})
	for _, p := range []*process{a, b} {
		if env := finish[engine.SearchEnvelope](t, p); env.Total != 6 {
			t.Errorf("%d sessions, want 6", env.Total)
		}
	}
	p := run(job{Dir: dir, Do: "import", Paths: []string{dir}})
	if err := p.Wait(); err == nil {
		t.Error("an import into a folder that cannot be written ends well")
	} else if code := failureCode(t, p); code != engine.CodeArchiveUnreadable {
		t.Errorf("import: %s: %s", code, p.err.String())
	}
}

// admitOthers lets other users reach dir, as far as it lies in a folder of the test.
func admitOthers(t *testing.T, dir string) {
	t.Helper()
	for p := filepath.Dir(dir); p != filepath.Clean(os.TempDir()) && p != "/tmp" && p != "/"; p = filepath.Dir(p) {
		check(t, os.Chmod(p, 0o755))
	}
	for p := dir; p != "/"; p = filepath.Dir(p) {
		if fi, err := os.Stat(filepath.Dir(p)); err != nil || fi.Mode()&0o001 == 0 {
			t.Skipf("other users cannot reach %s: %v", p, err)
		}
	}
}

// TestForeignOwner: an archive that another user's process owns is not asked.
func TestForeignOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs two users")
	}
	own, client, dir := pair(t)
	check(t, client.Close())
	for _, path := range []string{dir, filepath.Join(dir, "LOCK"), filepath.Join(dir, socketFile), filepath.Join(dir, ownerFile), filepath.Join(dir, "FORMAT")} {
		check(t, os.Chmod(path, 0o777))
	}
	admitOthers(t, dir)
	begin := time.Now()
	p := startAs(t, job{Dir: dir, Do: "search", Query: "needle"}, true)
	if err := p.Wait(); err == nil {
		t.Errorf("another user's process is answered: %s", p.out.String())
	} else if code := failureCode(t, p); code != engine.CodeArchiveBusy {
		t.Errorf("%s: %s", code, p.err.String())
	}
	t.Logf("refused after %v", time.Since(begin))
	if _, err := own.Stats(t.Context()); err != nil {
		t.Error(err)
	}
}

// stop stops a process, and waits until it has stopped.
func (p *process) stop(t *testing.T) {
	t.Helper()
	check(t, p.Process.Signal(syscall.SIGSTOP))
	for {
		_, err := syscall.Wait4(p.Process.Pid, nil, syscall.WUNTRACED, nil)
		if err != syscall.EINTR {
			check(t, err)
			return
		}
	}
}

// TestStoppedOwner: an owner that is stopped is named after patience has ended, and
// answers when it goes on.
func TestStoppedOwner(t *testing.T) {
	own, client, dir := pair(t)
	check(t, client.Close())
	check(t, own.Close())
	p := start(t, job{Dir: dir, Do: "own"})
	client, err := Attach(t.Context(), dir, Options{})
	check(t, err)
	defer client.Close()
	patience := client.opts.Patience
	client.opts.Patience, client.spare.patience = 300*time.Millisecond, 300*time.Millisecond
	p.stop(t)
	begin := time.Now()
	for range 2 { // greeted before, and not
		_, err = client.Search(t.Context(), engine.SearchRequest{})
		f := failureOf(err)
		if codeOf(err) != engine.CodeArchiveBusy || !f.Retryable || !contains(string(f.Text), p.Process.Pid) {
			t.Errorf("search: %v", err)
		}
	}
	if d := time.Since(begin); d > atMost(time.Second) {
		t.Errorf("two searches waited %v", d)
	}
	client.opts.Patience = patience
	check(t, p.Process.Signal(syscall.SIGCONT))
	if env, err := client.Search(t.Context(), engine.SearchRequest{}); err != nil || env.Total != 6 {
		t.Errorf("search: %v", err)
	}
	check(t, p.in.Close())
	check(t, p.Wait())
}

// TestStoppedOwnerOfReplacedLock: an owner that sleeps while its lock is replaced keeps
// the archive: it would wake up in the middle of a write.
func TestStoppedOwnerOfReplacedLock(t *testing.T) {
	tmp := t.TempDir()
	for name, dir := range map[string]string{"": filepath.Join(tmp, "archive"), "long path": filepath.Join(tmp, strings.Repeat("long", 40), "archive")} {
		t.Run(name, func(t *testing.T) {
			check(t, os.MkdirAll(filepath.Dir(dir), 0o700))
			own := start(t, job{Dir: dir, Do: "feed"})
			own.stop(t)
			check(t, os.Remove(filepath.Join(dir, "LOCK")))
			_, err := Attach(t.Context(), dir, Options{Patience: 300 * time.Millisecond})
			if codeOf(err) != engine.CodeArchiveBusy || !strings.Contains(err.Error(), fmt.Sprint(own.Process.Pid)) {
				t.Errorf("attach: %v", err)
			}
			check(t, own.Process.Signal(syscall.SIGCONT))
			a, err := Attach(t.Context(), dir, Options{})
			check(t, err)
			if !a.Owned() {
				t.Error("somebody else owns the archive")
			}
			check(t, own.in.Close())
			check(t, own.Wait())
			check(t, a.Close())
		})
	}
}
