//go:build unix

package owner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// startAs starts a job, as another user if so asked. The test binary is copied to where
// that user can run it.
func startAs(t *testing.T, j job, other bool) *process {
	t.Helper()
	if !other {
		return start(t, j)
	}
	text, err := json.Marshal(j)
	check(t, err)
	dir, err := os.MkdirTemp("", "hansard-test-")
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	check(t, os.Chmod(dir, 0o755))
	bin := dir + "/test"
	copyFile(t, os.Args[0], bin)
	p := &process{Cmd: exec.Command(bin)}
	p.Dir = "/"
	p.Env = append(os.Environ(), helperEnv+"="+string(text))
	p.Stdout, p.Stderr = &p.out, &p.err
	p.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: unprivileged, Gid: unprivileged}}
	if err := p.Start(); errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EACCES) {
		t.Skip("no process of another user: ", err)
	} else {
		check(t, err)
	}
	return p
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	check(t, err)
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	check(t, err)
	_, err = io.Copy(out, in)
	check(t, err)
	check(t, out.Close())
}

func failureCode(t *testing.T, p *process) string {
	t.Helper()
	var f failure
	if err := json.Unmarshal(p.err.Bytes(), &f); err != nil {
		t.Fatalf("%v: %s", err, p.err.String())
	}
	return f.Code
}

func contains(text string, pid int) bool { return strings.Contains(text, fmt.Sprint(pid)) }
