//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

var long = flag.Bool("long", false, "every command over every file and kind")

// kinds are what can lie under the name of a file. Each takes the path, where nothing
// is any more.
var kinds = []struct {
	name string
	make func(path string) error
}{
	{"pipe", func(path string) error { return syscall.Mkfifo(path, 0o600) }},
	{"folder", func(path string) error { return os.Mkdir(path, 0o700) }},
	{"full folder", func(path string) error { return os.MkdirAll(filepath.Join(path, "x", "y"), 0o700) }},
	{"link to nowhere", func(path string) error { return os.Symlink("/nowhere/at/all", path) }},
	{"link to itself", func(path string) error { return os.Symlink(filepath.Base(path), path) }},
	{"link to a pipe", func(path string) error {
		target := path + ".pipe"
		return errors.Join(syscall.Mkfifo(target, 0o600), os.Symlink(target, path))
	}},
	{"socket", leaveSocket},
	{"device", func(path string) error { return os.Symlink("/dev/zero", path) }},
	{"unreadable", func(path string) error { return os.WriteFile(path, nil, 0) }},
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

// files are the patterns of what an archive holds or takes by name, and the archive.
var files = []string{"FORMAT", "LOCK", "SEAL", "MARK", "MANIFEST-*", "OPTIONS-*", "marker.manifest.*", "*.log", "*.sst", "segments/*.seg",
	"owner.json", "owner.json.new", "FORMAT.new", "SEAL.new", "socket", "segments", "."}

// codes are what an archive of which a file is something else may answer with.
var codes = regexp.MustCompile(`^(ARCHIVE_UNREADABLE|ARCHIVE_DAMAGED|ARCHIVE_MISSING|ARCHIVE_READ_ONLY|INVALID_ARGUMENT)$`)

// TestOtherKinds: whatever kind of thing lies under the name of a file of the archive,
// every command ends soon, with an answer or with an error that has a code.
func TestOtherKinds(t *testing.T) {
	tmp := t.TempDir()
	src := filepath.Join(tmp, "src", "x.jsonl")
	line := `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"0f3b4c1e-0000-4000-8000-000000000001","timestamp":"2026-03-01T09:00:00.000Z","cwd":"/src/shop","version":"2.1.0","message":{"role":"user","content":"the basket rounds twice"}}` + "\n"
	if err := errors.Join(os.MkdirAll(filepath.Dir(src), 0o700), os.WriteFile(src, []byte(line), 0o600)); err != nil {
		t.Fatal(err)
	}
	master := filepath.Join(tmp, "master")
	if got := hansard(t, master, "import", src); got.exit != 0 {
		t.Fatalf("import: %+v", got)
	}
	commands := [][]string{{"basket"}, {"doctor"}, {"status"}, {"check"}, {"import", src}, {"import", "--force", src}}
	if !*long {
		commands = commands[:2]
	}
	for _, pattern := range files {
		for i, kind := range kinds {
			if testing.Short() && i != len(pattern)%2 || kind.name == "unreadable" && os.Getuid() == 0 {
				continue
			}
			t.Run(pattern+"/"+kind.name, func(t *testing.T) {
				for _, args := range commands {
					dir := filepath.Join(t.TempDir(), "archive")
					if err := os.CopyFS(dir, os.DirFS(master)); err != nil {
						t.Fatal(err)
					}
					if err := replace(dir, pattern, kind.make); err != nil {
						t.Fatal(err)
					}
					hansard(t, dir, args...).judge(t, args[0])
				}
			})
		}
	}
}

// replace puts a thing made by put in the place of the file of that pattern, or where
// one would be.
func replace(dir, pattern string, put func(path string) error) error {
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		return err
	}
	if len(found) == 0 {
		if strings.Contains(pattern, "*") {
			return fmt.Errorf("no file %s", pattern)
		}
		found = []string{filepath.Join(dir, pattern)}
	}
	path := found[len(found)-1]
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return put(path)
}

// An outcome is how one command ended.
type outcome struct {
	exit     int
	out, err string
	took     time.Duration
	hung     bool
}

// hansard runs the command, with JSON, for at most a minute.
func hansard(t *testing.T, dir string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, errs bytes.Buffer
	c := exec.CommandContext(ctx, "hansard", append([]string{"--archive", dir, "--json"}, args...)...)
	c.Stdout, c.Stderr = &out, &errs
	start := time.Now()
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{c.ProcessState.ExitCode(), out.String(), errs.String(), time.Since(start), ctx.Err() != nil}
}

// atMost is the limit d of a time: as it is in the long form, on a machine that does
// nothing else, and ten times that where others may have the processor.
func atMost(d time.Duration) time.Duration {
	if *long {
		return d
	}
	return 10 * d
}

// judge holds that a command ended as it should.
func (o outcome) judge(t *testing.T, command string) {
	t.Helper()
	var doc struct {
		Error struct{ Code, Message, Hint string }
	}
	said := o.err
	switch {
	case o.hung:
		t.Errorf("%s hangs", command)
		return
	case o.took > atMost(2*time.Second):
		t.Errorf("%s takes %v", command, o.took)
	case o.exit == 0 || o.exit == 7:
		return // the file is not needed, or the answer says what it lacks
	case command == "doctor" || o.err == "" && (command == "check" || command == "status"):
		said = o.out // these tell what is wrong, and that is their answer
	case json.Unmarshal([]byte(o.err), &doc) != nil || !codes.MatchString(doc.Error.Code) || doc.Error.Hint == "":
		t.Errorf("%s: exit %d: %s", command, o.exit, o.err)
	}
	t.Logf("%s: exit %d: %s", command, o.exit, said)
	if strings.Contains(said, "INTERNAL") || strings.Contains(said, "panic") || o.exit > 9 {
		t.Errorf("%s: exit %d: %s%s", command, o.exit, o.out, o.err)
	}
	for _, word := range strings.Fields(doc.Error.Message) {
		if strings.HasPrefix(word, "/") && strings.Count(doc.Error.Message, strings.TrimRight(word, ":")) > 1 {
			t.Errorf("%s says %s twice: %s", command, word, doc.Error.Message)
		}
	}
}

// TestImportLeavesPipes: a pipe among session files is reported and not read.
func TestImportLeavesPipes(t *testing.T) {
	tmp := t.TempDir()
	home := filepath.Join(tmp, "home")
	projects := filepath.Join(home, ".claude", "projects", "-src-shop")
	sessions := filepath.Join(home, ".codex", "sessions")
	err := errors.Join(os.MkdirAll(projects, 0o700), os.MkdirAll(sessions, 0o700))
	for _, path := range []string{filepath.Join(projects, "x.jsonl"), filepath.Join(sessions, "rollout-2026-03-01T09-00-00-x.jsonl"), filepath.Join(home, ".codex", "session_index.jsonl")} {
		err = errors.Join(err, syscall.Mkfifo(path, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"import", "--home", home}, {"import", home}, {"import", filepath.Join(projects, "x.jsonl")}} {
		got := hansard(t, filepath.Join(tmp, "archive"), args...)
		var doc struct {
			Skips    []struct{ Path, Reason string }
			Problems []struct{ Path, Reason string }
		}
		if got.hung || json.Unmarshal([]byte(got.out), &doc) != nil || !strings.Contains(got.out, "x.jsonl") || !strings.Contains(got.out, "not a regular file") {
			t.Errorf("%v: %+v", args, got)
		}
		t.Logf("%v: exit %d: %+v %s", args, got.exit, doc, got.err)
	}
}
