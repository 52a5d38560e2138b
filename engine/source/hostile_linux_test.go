package source

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A watch tells whether anything in some folders was opened.
type watch struct {
	t  *testing.T
	fd int
}

func watchOpens(t *testing.T, dirs ...string) *watch {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	for _, d := range dirs {
		if _, err := unix.InotifyAddWatch(fd, d, unix.IN_OPEN|unix.IN_ACCESS|unix.IN_CREATE|unix.IN_MODIFY); err != nil {
			t.Fatal(err)
		}
	}
	return &watch{t, fd}
}

// touched reports whether there was an event since the last call.
func (w *watch) touched() bool {
	var buf [4096]byte
	n, err := unix.Read(w.fd, buf[:])
	return err == nil && n > 0
}

// hostileEntries are what lies in the root, and whether it is read: a name, and " -> "
// with a link's target, or " | " with what else it is. OUT is the folder outside.
var hostileEntries = []struct {
	entry string
	read  bool
}{
	{"to-file.jsonl -> OUT/secret.jsonl", false},
	{"to-relative.jsonl -> ../out/secret.jsonl", false},
	{"to-folder -> OUT", false},
	{"to-folder.jsonl -> OUT", false},
	{"to-folder-slash -> OUT/", false},
	{"to-root -> /", false},
	{"to-proc.jsonl -> /proc/self/environ", false},
	{"to-zero.jsonl -> /dev/zero", false},
	{"to-stdin.jsonl -> /dev/stdin", false},
	{"chain-1.jsonl -> chain-2.jsonl", false},
	{"chain-2.jsonl -> OUT/secret.jsonl", false},
	{"loop-1.jsonl -> loop-2.jsonl", false},
	{"loop-2.jsonl -> loop-1.jsonl", false},
	{"self.jsonl -> self.jsonl", false},
	{"dangling.jsonl -> nowhere", false},
	{"up.jsonl -> ..", false},
	{"inner.jsonl -> plain.jsonl", false},
	{"p/to-parent -> ../..", false},
	{"p/s/subagents -> OUT", false},
	{"pipe.jsonl | pipe", false},
	{"agent-pipe.jsonl | pipe", false},
	{"socket.jsonl | socket", false},
	{"device.jsonl | device", false},
	{"folder.jsonl | folder", false},
	{".git/config.jsonl", false},
	{"node_modules/x.jsonl", false},
	{"p/tool-results/x.jsonl", false},
	{"plain.jsonl", true},
	{"...jsonl", true},
	{"..hidden.jsonl", true},
	{".jsonl", true},
	{"-rf.jsonl", true},
	{"--archive=x.jsonl", true},
	{" .jsonl", true},
	{"a\nb.jsonl", true},
	{"\x1b[31mred\x1b]0;title\a.jsonl", true},
	{"\xff\xfe.jsonl", true},
	{"CON", true},
	{"NUL.jsonl", true},
	{"com1.jsonl", true},
	{`C:\temp\x.jsonl`, true},
	{`..\..\out\secret.jsonl`, true},
	{"%2e%2e%2fout%2fsecret.jsonl", true},
	{"$HOME.jsonl", true},
	{"`id`;rm.jsonl", true},
	{"*.jsonl", true},
	{"trailing.jsonl.", true},
	{"A.jsonl", true},
	{"a.jsonl", true},
	{"\u00e9.jsonl", true},
	{"e\u0301.jsonl", true},
	{"\u202etxt.jsonl", true},
	{"a\u200b.jsonl", true},
	{strings.Repeat("n", 249) + ".jsonl", true},
	{strings.Repeat("d/", 200) + "deep.jsonl", true},
}

func makeHostileRoot(t *testing.T) (root, out string) {
	t.Helper()
	base := t.TempDir()
	root, out = filepath.Join(base, "root"), filepath.Join(base, "out")
	for _, d := range []string{root, out} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"secret.jsonl", "agent-1.meta.json"} {
		write(t, filepath.Join(out, f), []byte(`{"secret":true}`))
	}
	for _, e := range hostileEntries {
		if err := makeHostileEntry(root, out, e.entry); err != nil {
			t.Fatalf("%q: %v", e.entry, err)
		}
	}
	return root, out
}

func makeHostileEntry(root, out, entry string) error {
	name, target, link := strings.Cut(entry, " -> ")
	name, kind, _ := strings.Cut(name, " | ")
	full := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		return err
	}
	if link {
		return os.Symlink(strings.Replace(target, "OUT", out, 1), full)
	}
	switch kind {
	case "pipe":
		return syscall.Mkfifo(full, 0o600)
	case "folder":
		return os.Mkdir(full, 0o700)
	case "device":
		if err := syscall.Mknod(full, syscall.S_IFCHR|0o600, 1<<8|5); !errors.Is(err, syscall.EPERM) {
			return err
		}
		return nil // only root makes devices
	case "socket":
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		defer syscall.Close(fd)
		dir, err := os.Open(root)
		if err != nil {
			return err
		}
		defer dir.Close()
		// The path of a socket is short; the root's may not be.
		return syscall.Bind(fd, &syscall.SockaddrUnix{Name: "/proc/self/fd/" + itoa(int(dir.Fd())) + "/" + name})
	}
	return os.WriteFile(full, []byte(`{"name":"x"}`), 0o600)
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

// TestHostileNames finds and reads a folder of hostile names, links and special files.
// Nothing outside is opened, nothing waits, and what is a plain file is read whatever
// its name is.
func TestHostileNames(t *testing.T) {
	root, out := makeHostileRoot(t)
	w := watchOpens(t, out, filepath.Join(out, "secret.jsonl"), filepath.Join(out, "agent-1.meta.json"))
	found := discoverSoon(t, []string{root})
	read := map[string]bool{}
	for _, c := range found.Files {
		o, err := c.Open()
		if err != nil {
			t.Errorf("%q: %v", c.Rel, err)
			continue
		}
		r, err := o.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil || strings.Contains(string(b), "secret") {
			t.Errorf("%q reads %q, %v", c.Rel, b, err)
		}
		read[c.Rel] = true
		o.Close()
		if w.touched() {
			t.Errorf("%q: something outside was opened", c.Rel)
		}
	}
	for _, e := range hostileEntries {
		name, _, _ := strings.Cut(e.entry, " -> ")
		name, _, _ = strings.Cut(name, " | ")
		if read[name] != e.read {
			t.Errorf("%q: read %v, want %v", e.entry, read[name], e.read)
		}
	}
	if len(hostileEntries) < 40 {
		t.Error("the table has shrunk")
	}
	if _, err := os.ReadFile(filepath.Join(out, "secret.jsonl")); err != nil || !w.touched() {
		t.Errorf("the watch sees nothing: %v", err)
	}
}

func discoverSoon(t *testing.T, paths []string) Discovery {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	found, err := DiscoverPaths(ctx, paths)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range found.Errors {
		t.Error(err)
	}
	return found
}

// TestHostileSwap puts a link, a folder or a pipe in the place of a file after it was
// found: what is opened is never outside, and opening never waits.
func TestHostileSwap(t *testing.T) {
	for _, entry := range []string{
		"p/x.jsonl -> OUT/secret.jsonl", "p/x.jsonl -> ../../out/secret.jsonl", "p/x.jsonl | pipe", "p/x.jsonl | folder", "p/x.jsonl -> /dev/zero",
		"p -> OUT", "p -> ../out", "p -> /",
	} {
		base := t.TempDir()
		root, out := filepath.Join(base, "root"), filepath.Join(base, "out")
		for _, f := range []string{filepath.Join(root, "p", "x.jsonl"), filepath.Join(out, "x.jsonl"), filepath.Join(out, "secret.jsonl")} {
			if err := os.MkdirAll(filepath.Dir(f), 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, f, []byte(`{"secret":true}`))
		}
		c := Candidate{Path: filepath.Join(root, "p", "x.jsonl"), Root: root, Rel: "p/x.jsonl"}
		w := watchOpens(t, out)
		name, _, _ := strings.Cut(entry, " ")
		if err := os.RemoveAll(filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
		if err := makeHostileEntry(root, out, entry); err != nil {
			t.Fatal(err)
		}
		if o, err := c.Open(); err == nil {
			o.Close()
			t.Errorf("%s: opened", entry)
		}
		if w.touched() {
			t.Errorf("%s: something outside was opened", entry)
		}
	}
}

// TestHostileSidecars asks for files beside a session by names that lead elsewhere.
func TestHostileSidecars(t *testing.T) {
	root, out := makeHostileRoot(t)
	w := watchOpens(t, out, filepath.Join(out, "secret.jsonl"))
	c := Candidate{Path: filepath.Join(root, "p", "s.jsonl"), Root: root, Rel: "p/s.jsonl"}
	write(t, c.Path, []byte("{}"))
	o, err := c.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	for _, side := range []string{
		"", ".", "..", "../plain.jsonl", "../../out/secret.jsonl", out + "/secret.jsonl", "/etc/passwd", "s/../../plain.jsonl", "to-parent/out/secret.jsonl",
		"to-parent/root/plain.jsonl", "s/subagents/secret.jsonl", "s/subagents/agent-1.meta.json", "x\x00y", "a//b", `..\plain.jsonl`, "./s.jsonl/..", "~/x",
		strings.Repeat("../", 50) + "etc/passwd", strings.Repeat("a/", 4000) + "x", "tool-results", "\xff",
	} {
		if b, err := o.Sidecar(side, 100); err == nil {
			t.Errorf("sidecar %q gives %q", side, b)
		}
		if w.touched() {
			t.Errorf("sidecar %q: something outside was opened", side)
		}
	}
}
