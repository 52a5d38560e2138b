package owner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hansard-search/hansard/engine"
	"github.com/hansard-search/hansard/engine/store"
)

// replacements are what can happen to the folder of an archive that somebody owns.
var replacements = []struct {
	name string
	do   func(t *testing.T, dir, backup string)
	keep int // of the sessions of the backup, how many are at the path then
}{
	{"moved away", func(t *testing.T, dir, _ string) { check(t, os.Rename(dir, dir+".old")) }, 0},
	{"moved away and made anew", func(t *testing.T, dir, _ string) {
		check(t, os.Rename(dir, dir+".old"))
		check(t, os.Mkdir(dir, 0o700))
	}, 0},
	{"removed", func(t *testing.T, dir, _ string) { removeAll(t, dir) }, 0},
	{"restored from a backup", func(t *testing.T, dir, backup string) {
		check(t, os.Rename(dir, dir+".old"))
		check(t, os.CopyFS(dir, os.DirFS(backup)))
	}, 2},
	{"lock removed", func(t *testing.T, dir, _ string) { check(t, os.Remove(filepath.Join(dir, "LOCK"))) }, -1},
}

func removeAll(t *testing.T, dir string) {
	t.Helper()
	for range 100 { // somebody still makes files in it
		if os.RemoveAll(dir) == nil {
			return
		}
	}
	t.Fatal("the folder stays")
}

// TestReplacedUnderOwner: a process that owns an archive imports into it; then the
// folder, or its lock, is replaced. From then on it acknowledges nothing; others own
// what is at the path, and nothing that was acknowledged there is lost.
func TestReplacedUnderOwner(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the system keeps folders with open files where they are")
	}
	for i, r := range replacements {
		if testing.Short() && i != 3 {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			tmp := t.TempDir()
			dir, backup := filepath.Join(tmp, "archive"), filepath.Join(tmp, "backup")
			if r.keep > 0 {
				finish[engine.Report](t, start(t, job{Dir: backup, Do: "import", Paths: []string{write(t, tmp, "saved", r.keep, 4, 1)}}))
			}
			var feed []string
			for n := range ahead + 10 {
				feed = append(feed, write(t, tmp, fmt.Sprint("feed", n), 1, 4, uint64(1000+n)))
			}
			own := start(t, job{Dir: dir, Do: "feed", Paths: feed})
			client := attach(t, dir, Options{})
			for range 5 { // acknowledged before
				own.line(t, "acknowledged")
			}
			if client.Owned() {
				t.Fatal("the client owns the archive")
			}
			r.do(t, dir, backup)
			replaced := time.Now().UnixNano()
			_, err := own.in.Write([]byte("\n")) // however few it has imported until now, some come after it
			check(t, err)
			src := write(t, tmp, "mine", 3, 4, 2)
			rep, err := client.Import(t.Context(), engine.ImportRequest{Paths: []string{src}})
			if err != nil || rep.Added != 3 {
				t.Fatalf("import after that: %+v, %v", rep, err)
			}
			if !client.Owned() {
				t.Error("nobody owns what is at the path")
			}
			acknowledged := 5
			for line := own.line(t, ""); ; line = own.line(t, "") {
				var n int
				var begin int64
				if _, err := fmt.Sscanf(line, "acknowledged %d %d", &n, &begin); err != nil {
					if line != "failed "+engine.CodeArchiveReplaced {
						t.Errorf("the owner of before: %s", line)
					}
					break
				}
				if acknowledged++; begin > replaced {
					t.Errorf("import %d was begun after that and acknowledged", n)
				}
			}
			check(t, own.in.Close())
			if line := own.line(t, "closed"); !strings.HasPrefix(line, "closed "+engine.CodeArchiveReplaced) {
				t.Error(line)
			}
			check(t, own.Wait())
			other := start(t, job{Dir: dir, Do: "search", Query: "mine"})
			if env := finish[engine.SearchEnvelope](t, other); env.Total != 3 {
				t.Errorf("another process finds %d sessions, want 3", env.Total)
			}
			check(t, client.Close())
			got, want := checked(t, dir).Sessions, 3+r.keep
			if r.keep < 0 { // the same folder: what was acknowledged is in it, and maybe one that was not
				want = 3 + acknowledged
				got = min(got, want)
			}
			if got != want {
				t.Errorf("%d sessions at the path, want %d", got, want)
			}
			if _, err := os.Stat(dir + ".old"); err == nil {
				if n := checked(t, dir+".old").Sessions; n < acknowledged || n > acknowledged+1 {
					t.Errorf("%d sessions in the old folder, %d were acknowledged", n, acknowledged)
				}
			}
		})
	}
}

// line reads what a process says, which begins with a word.
func (p *process) line(t *testing.T, word string) string {
	t.Helper()
	read := make(chan string, 1)
	go func() {
		text, err := p.lines.ReadString('\n')
		if err != nil {
			text = err.Error() + p.err.String()
		}
		read <- strings.TrimSuffix(text, "\n")
	}()
	select {
	case text := <-read:
		if !strings.HasPrefix(text, word) {
			t.Fatalf("the process says %q", text)
		}
		return text
	case <-time.After(soon):
		t.Fatal("the process says nothing")
		return ""
	}
}

// TestReplacedWithinProcess: who owned a folder that was replaced answers with the
// error, to the end; clients go to the next owner; closing takes nothing from that one,
// and the process can attach again.
func TestReplacedWithinProcess(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the system keeps folders with open files where they are")
	}
	tmp := t.TempDir()
	dir := filepath.Join(tmp, "archive")
	own, err := Attach(t.Context(), dir, Options{Engine: engine.Options{Create: true}})
	check(t, err)
	_, err = own.Import(t.Context(), engine.ImportRequest{Paths: []string{write(t, tmp, "base", 5, 4, 1)}})
	check(t, err)
	client, err := Attach(t.Context(), dir, Options{Engine: engine.Options{Create: true}})
	check(t, err)
	check(t, os.Rename(dir, dir+".old"))
	mine := write(t, tmp, "mine", 3, 4, 2)
	for range 2 {
		_, err = own.Import(t.Context(), engine.ImportRequest{Paths: []string{mine}})
		if codeOf(err) != engine.CodeArchiveReplaced {
			t.Errorf("import: %v", err)
		}
		_, err = own.Search(t.Context(), engine.SearchRequest{Query: "base"})
		if codeOf(err) != engine.CodeArchiveReplaced {
			t.Errorf("search: %v", err)
		}
	}
	t.Log(err)
	if own.Owned() {
		t.Error("the archive is still owned by who lost it")
	}
	_, err = client.Import(t.Context(), engine.ImportRequest{Paths: []string{mine}})
	check(t, err)
	if err := own.Close(); codeOf(err) != engine.CodeArchiveReplaced {
		t.Errorf("close: %v", err)
	}
	third, err := Attach(t.Context(), dir, Options{})
	check(t, err)
	env, err := third.Search(t.Context(), engine.SearchRequest{})
	if err != nil || env.Total != 3 || third.Owned() || !client.Owned() {
		t.Errorf("who attaches now: %v, %v", env, err)
	}
	check(t, third.Close())
	check(t, client.Close())
	if n := checked(t, dir+".old").Sessions; n != 5 {
		t.Errorf("%d sessions in the old folder, want 5", n)
	}
}

// TestReplacedDuringClientsImport: an owner that imports for another process loses its
// place meanwhile. The import goes on in what is there now, and its report is of that.
func TestReplacedDuringClientsImport(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the system keeps folders with open files where they are")
	}
	if testing.Short() {
		t.Skip("imports much, twice")
	}
	tmp := t.TempDir()
	dir := filepath.Join(tmp, "archive")
	own := start(t, job{Dir: dir, Do: "feed"})
	client := attach(t, dir, Options{})
	const many = 150
	src := write(t, tmp, "many", many, 20, 3)
	begun, done := make(chan struct{}), make(chan *engine.Report, 1)
	var once sync.Once
	go func() {
		r, err := client.Import(context.Background(), engine.ImportRequest{Paths: []string{src}, Progress: func(engine.Progress) {
			once.Do(func() { close(begun) })
		}})
		if err != nil {
			t.Errorf("import: %v", err)
		}
		done <- r
	}()
	select {
	case <-begun:
	case <-done:
		t.Skip("the import was over before the first word of progress")
	}
	check(t, os.Rename(dir, dir+".old"))
	r := <-done
	if r == nil || r.Added != many || r.Unchanged != 0 {
		t.Fatalf("report: %+v", r)
	}
	check(t, own.in.Close())
	own.line(t, "closed")
	check(t, own.Wait())
	check(t, client.Close())
	if n := checked(t, dir).Sessions; n != many {
		t.Errorf("%d sessions, want %d", n, many)
	}
}

// TestOtherArchive: neither a copied owner.json nor a socket that was put in another's
// place makes the owner of one archive answer for another one.
func TestOtherArchive(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("locks have no identity that processes can compare")
	}
	tmp := socketDir(t)
	one, two := filepath.Join(tmp, "archive-one"), filepath.Join(tmp, "archive-two")
	finish[engine.Report](t, start(t, job{Dir: one, Do: "import", Paths: []string{write(t, tmp, "one", 3, 4, 1)}}))
	finish[engine.Report](t, start(t, job{Dir: two, Do: "import", Paths: []string{write(t, tmp, "two", 5, 4, 1)}}))
	sessions := func(dir string, patience time.Duration) (int64, error) {
		a, err := Attach(t.Context(), dir, Options{Patience: patience})
		if err != nil {
			return 0, err
		}
		defer a.Close()
		st, err := a.Stats(t.Context())
		if err != nil {
			return 0, err
		}
		return int64(st.Sessions), nil
	}
	first, err := Attach(t.Context(), one, Options{})
	check(t, err)
	defer first.Close()
	named, err := os.ReadFile(filepath.Join(one, ownerFile))
	check(t, err)

	// Locked by somebody who shares nothing.
	lock, err := store.TakeLock(two, nil)
	check(t, err)
	check(t, os.WriteFile(filepath.Join(two, ownerFile), named, 0o600))
	if n, err := sessions(two, 300*time.Millisecond); codeOf(err) != engine.CodeArchiveBusy {
		t.Errorf("with another's owner.json: %d sessions, %v", n, err)
	}
	check(t, os.Link(filepath.Join(one, socketFile), filepath.Join(two, socketFile)))
	if n, err := sessions(two, 300*time.Millisecond); codeOf(err) != engine.CodeArchiveBusy {
		t.Errorf("with another's socket: %d sessions, %v", n, err)
	}
	check(t, os.Remove(filepath.Join(two, socketFile)))
	check(t, lock.Close())

	// Owned by somebody who could not write his owner.json.
	second, err := Attach(t.Context(), two, Options{})
	check(t, err)
	defer second.Close()
	check(t, os.WriteFile(filepath.Join(two, ownerFile), named, 0o600))
	if n, err := sessions(two, 0); n != 5 || err != nil {
		t.Errorf("of the archive with 5 sessions: %d, %v", n, err)
	}
	if n, err := sessions(one, 0); n != 3 || err != nil {
		t.Errorf("of the archive with 3 sessions: %d, %v", n, err)
	}
}
