//go:build unix

package store

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestDoor: whatever lies under a name, opening it as a file or as a folder ends, and
// says what it is.
func TestDoor(t *testing.T) {
	const c = vfs.WriteCategoryUnspecified
	asFile := map[string]func(path string) error{
		"open":      func(path string) error { return opened(Disk.Open(path)) },
		"append":    func(path string) error { return opened(Disk.OpenReadWrite(path, c)) },
		"read":      func(path string) error { _, err := ReadFile(path, 100); return err },
		"lock":      func(path string) error { return opened(lockPath(path, false)) },
		"read lock": func(path string) error { return opened(lockPath(path, true)) },
	}
	asFolder := map[string]func(path string) error{
		"open folder": func(path string) error { return opened(Disk.OpenDir(path)) },
		"list":        func(path string) error { _, err := Disk.List(path); return err },
		"make folder": func(path string) error { return Disk.MkdirAll(path, 0o700) },
	}
	for _, k := range []struct {
		kind         string
		make         func(path string) error
		file, folder bool // it is one
	}{
		{"a pipe", func(path string) error { return syscall.Mkfifo(path, 0o600) }, false, false},
		{"a folder", func(path string) error { return os.Mkdir(path, 0o700) }, false, true},
		{"a file", func(path string) error { return os.WriteFile(path, nil, 0o600) }, true, false},
		{"a link to a device", func(path string) error { return os.Symlink("/dev/zero", path) }, false, false},
		{"a link that leads nowhere", func(path string) error { return os.Symlink("no/where", path) }, false, false},
		{"a link that leads nowhere", func(path string) error { return os.Symlink(filepath.Base(path), path) }, false, false},
		{"a link to a pipe", func(path string) error {
			return errors.Join(syscall.Mkfifo(path+".pipe", 0o600), os.Symlink(path+".pipe", path))
		}, false, false},
		{"a link to a file", func(path string) error {
			return errors.Join(os.WriteFile(path+".file", nil, 0o600), os.Symlink(path+".file", path))
		}, true, false},
		{"a socket", leaveSocket, false, false},
	} {
		path := filepath.Join(t.TempDir(), "x")
		must(t, k.make(path))
		for name, do := range asFile {
			judge(t, k.kind, name, path, soon(t, func() error { return do(path) }), k.file)
		}
		for name, do := range asFolder {
			judge(t, k.kind, name, path, soon(t, func() error { return do(path) }), k.folder)
		}
	}
}

// leaveSocket makes a socket at which nobody listens. The system takes short paths only:
// the folder, whose path may be long, is entered.
func leaveSocket(path string) (err error) {
	here, err := os.Getwd()
	if err == nil {
		err = os.Chdir(filepath.Dir(path))
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Chdir(here)) }()
	l, err := net.Listen("unix", filepath.Base(path))
	if err != nil {
		return err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	return l.Close()
}

func opened[T interface{ Close() error }](f T, err error) error {
	if err != nil {
		return err
	}
	return f.Close()
}

// soon runs what must not hang.
func soon(t *testing.T, do func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Minute):
		t.Fatal("it hangs")
		return nil
	}
}

func judge(t *testing.T, kind, op, path string, err error, ok bool) {
	t.Helper()
	var other *KindError
	switch {
	case ok && err != nil:
		t.Errorf("%s of %s: %v", op, kind, err)
	case !ok && (!errors.As(err, &other) || other.Kind != kind || other.Path != path || strings.Count(err.Error(), path) != 1):
		t.Errorf("%s of %s: %v", op, kind, err)
	}
}

// TestReplaceFile: a small file takes the place of whatever was there, unless that is a
// folder with something in it.
func TestReplaceFile(t *testing.T) {
	for _, suffix := range []string{"", ".new"} {
		for name, put := range map[string]func(path string) error{
			"nothing": func(string) error { return nil },
			"file":    func(path string) error { return os.WriteFile(path, []byte("old"), 0o600) },
			"pipe":    func(path string) error { return syscall.Mkfifo(path, 0o600) },
			"loop":    func(path string) error { return os.Symlink(filepath.Base(path), path) },
			"nowhere": func(path string) error { return os.Symlink("no/where", path) },
		} {
			path := filepath.Join(t.TempDir(), "owner.json")
			must(t, put(path+suffix))
			must(t, soon(t, func() error { return ReplaceFile(path, []byte("text")) }))
			if b, err := ReadFile(path, 100); err != nil || string(b) != "text" {
				t.Errorf("in the place of a %s%s: %q, %v", name, suffix, b, err)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "owner.json")
	must(t, os.MkdirAll(filepath.Join(path, "x"), 0o700))
	if err := ReplaceFile(path, nil); !errors.As(err, new(*KindError)) {
		t.Errorf("in the place of a folder: %v", err)
	}
}
