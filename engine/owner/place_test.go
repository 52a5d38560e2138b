package owner

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hansard-search/hansard/engine"
)

// TestLeftovers: whatever lies where the socket goes, the next owner is reached.
func TestLeftovers(t *testing.T) {
	for name, leave := range map[string]func(t *testing.T, path string){
		"stale socket": func(t *testing.T, path string) {
			l, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			l.(*net.UnixListener).SetUnlinkOnClose(false)
			l.Close()
		},
		"plain file":   func(t *testing.T, path string) { put(t, path, "not a socket") },
		"broken link":  func(t *testing.T, path string) { check(t, os.Symlink("/nowhere/at/all", path)) },
		"empty folder": func(t *testing.T, path string) { check(t, os.Mkdir(path, 0o700)) },
		"full folder": func(t *testing.T, path string) {
			check(t, os.Mkdir(path, 0o700))
			put(t, filepath.Join(path, "x"), "in the way")
		},
		"garbage owner file": func(t *testing.T, path string) { put(t, filepath.Join(filepath.Dir(path), ownerFile), "{\"pid\":") },
		"foreign owner file": func(t *testing.T, path string) {
			put(t, filepath.Join(filepath.Dir(path), ownerFile), `{"pid":1,"socket":"/etc/passwd"}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(socketDir(t), "archive")
			first := attach(t, dir, Options{})
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}
			leave(t, filepath.Join(dir, socketFile))
			own := attach(t, dir, Options{})
			client := attach(t, dir, Options{})
			if !own.Owned() || client.Owned() {
				t.Error("the second attached is not a client")
			}
			if _, err := client.Stats(t.Context()); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat("/etc/passwd"); err != nil {
				t.Error(err)
			}
		})
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	check(t, os.WriteFile(path, []byte(text), 0o600))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestSocketTakenAway: an owner whose socket is removed or replaced makes a new one.
func TestSocketTakenAway(t *testing.T) {
	if testing.Short() {
		t.Skip("waits until the owner looks")
	}
	if runtime.GOOS == "windows" {
		t.Skip("sockets have no identity")
	}
	own, client, dir := pair(t)
	if _, err := client.Stats(t.Context()); err != nil { // on the connection of Attach
		t.Fatal(err)
	}
	path := filepath.Join(dir, socketFile)
	for _, spoil := range []func(){
		func() { check(t, os.Remove(path)) },
		func() { check(t, os.Remove(path)); put(t, path, "not a socket") },
	} {
		spoil()
		if _, err := client.Stats(t.Context()); err != nil {
			t.Errorf("stats: %v", err)
		}
	}
	check(t, own.Close())
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("after close the socket is there: %v", err)
	}
	if _, ok := readOwner(dir); ok {
		t.Error("after close somebody owns the archive")
	}
}

// TestLongPath: where the archive's path is too long for a socket, it lies in a folder
// of its own, which goes with the owner, or with the next one if that was killed.
func TestLongPath(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes")
	}
	tmp := t.TempDir()
	dir := filepath.Join(tmp, strings.Repeat("long", 40), "archive")
	check(t, os.MkdirAll(filepath.Dir(dir), 0o700))
	src := write(t, tmp, "src", 2, 2, 1)
	for _, killed := range []bool{true, false} {
		p := start(t, job{Dir: dir, Do: "import", Paths: []string{src}})
		finish[engine.Report](t, p)
		own := start(t, job{Dir: dir, Do: "own"})
		id, ok := readOwner(dir)
		if !ok || len(id.Socket) > maxSocketPath || checkFolder(filepath.Dir(id.Socket)) != nil {
			t.Fatalf("owner %+v", id)
		}
		client := attach(t, dir, Options{})
		if env, err := client.Search(t.Context(), engine.SearchRequest{}); err != nil || env.Total != 2 || client.Owned() {
			t.Errorf("search: %v, owned %v", err, client.Owned())
		}
		check(t, client.Close())
		if killed {
			check(t, own.Process.Kill())
			_ = own.Wait()
			checked(t, dir) // the next owner
		} else {
			check(t, own.in.Close())
			check(t, own.Wait())
		}
		if _, err := os.Stat(filepath.Dir(id.Socket)); !os.IsNotExist(err) {
			t.Errorf("killed %v: the folder of the socket is still there: %v", killed, err)
		}
	}
}

// TestLongPathAndTempDir: where the folder for sockets is no use for one either, the
// socket lies in /tmp.
func TestLongPathAndTempDir(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no /tmp")
	}
	tmp := t.TempDir()
	long := filepath.Join(tmp, strings.Repeat("long", 40))
	check(t, os.MkdirAll(long, 0o700))
	for name, temp := range map[string]string{"too long": long, "not there": filepath.Join(tmp, "nowhere")} {
		dir := filepath.Join(long, name)
		own, client := attach(t, dir, Options{TempDir: temp}), attach(t, dir, Options{TempDir: temp})
		if _, err := client.Stats(t.Context()); err != nil || !own.Owned() || client.Owned() {
			t.Errorf("%s: a client of the owner: %v", name, err)
		}
		id, ok := readOwner(dir)
		if !ok || len(id.Socket) > maxSocketPath {
			t.Errorf("%s: owner %+v", name, id)
		}
		check(t, client.Close())
		check(t, own.Close())
		if _, err := os.Stat(filepath.Dir(id.Socket)); !os.IsNotExist(err) {
			t.Errorf("%s: the folder of the socket is still there: %v", name, err)
		}
	}
	if left, err := os.ReadDir(long); err != nil || len(left) != 2 {
		t.Errorf("beside two archives there is more: %v, %v", left, err)
	}
}

// TestModes: whatever the umask, nobody else can read or ask.
func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	defer setUmask(setUmask(0))
	own, _, dir := pair(t)
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		check(t, err)
		fi, err := d.Info()
		check(t, err)
		if fi.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, fi.Mode())
		}
		return nil
	})
	check(t, own.Close())
}

// TestUnwritable: who may not write an archive can still search it while nobody owns
// it, and neither imports nor changes a byte.
func TestUnwritable(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	own, client, dir := pair(t)
	check(t, client.Close())
	check(t, own.Close())
	before := listing(t, dir)
	for _, sub := range []string{filepath.Join(dir, "segments"), dir} {
		check(t, os.Chmod(sub, 0o500))
		defer os.Chmod(sub, 0o700)
	}
	asNobodyElse(t, dir)
	if after := listing(t, dir); after != before {
		t.Errorf("the folder changed:\n%s\n%s", before, after)
	}
}

func listing(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	check(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		out.WriteString(path + " " + string(b[:min(len(b), 64)]) + "\n")
		return err
	}))
	return out.String()
}

// TestCopyOfOwnedArchive: who attaches to a copy of an archive that somebody owns takes
// nothing from that owner, although the copy names their socket.
func TestCopyOfOwnedArchive(t *testing.T) {
	tmp := t.TempDir()
	dir := filepath.Join(tmp, strings.Repeat("long", 40), "archive")
	check(t, os.MkdirAll(filepath.Dir(dir), 0o700))
	own := attach(t, dir, Options{})
	id, ok := readOwner(dir)
	if !ok || filepath.Dir(id.Socket) == dir {
		t.Skip("the path is not too long here")
	}
	twin := dir + "2"
	check(t, os.CopyFS(twin, os.DirFS(dir)))
	other := attach(t, twin, Options{})
	if !other.Owned() || !own.Owned() {
		t.Errorf("owned: %v, %v", own.Owned(), other.Owned())
	}
	if _, err := os.Stat(id.Socket); err != nil {
		t.Errorf("the first owner's socket: %v", err)
	}
	client := attach(t, dir, Options{})
	if _, err := client.Stats(t.Context()); err != nil || client.Owned() {
		t.Errorf("a client of the first: %v", err)
	}
}

// TestNoLeftoverName: an owner.json.new of a process that was killed, or that found the
// disk full, is gone as soon as the next one owns the archive, whether or not that one can
// write its name.
func TestNoLeftoverName(t *testing.T) {
	for name, hinder := range map[string]func(path string) error{
		"it can be named": func(string) error { return nil },
		"it cannot":       func(path string) error { return os.MkdirAll(filepath.Join(path, "in the way"), 0o700) },
	} {
		dir := filepath.Join(t.TempDir(), "archive")
		own := attach(t, dir, Options{Engine: engine.Options{Create: true}})
		check(t, own.Close())
		left := filepath.Join(dir, ownerFile+".new")
		check(t, os.WriteFile(left, nil, 0o600))
		check(t, hinder(filepath.Join(dir, ownerFile)))
		own = attach(t, dir, Options{})
		if _, err := os.Lstat(left); !errors.Is(err, fs.ErrNotExist) || !own.Owned() {
			t.Errorf("%s: owned %v, what was left stays: %v", name, own.Owned(), err)
		}
		check(t, own.Close())
		if _, err := os.Lstat(left); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: after the end it stays: %v", name, err)
		}
	}
}
