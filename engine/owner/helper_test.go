package owner

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hansard-search/hansard/engine"
)

var long = flag.Bool("long", false, "fifty kills instead of some, and the figures under load")

// helperEnv carries the job of a test binary that was started by a test.
const helperEnv = "HANSARD_OWNER_JOB"

// soon is what nothing takes that does not hang, however busy the machine is.
const soon = time.Minute

// atMost is the limit d of a time: as it is in the long form, on a machine that does
// nothing else, and ten times that where others may have the processor.
func atMost(d time.Duration) time.Duration {
	if *long {
		return d
	}
	return 10 * d
}

// noLeaks begins a test; what it returns ends it, and holds that no goroutine is left of
// it. On a busy machine those that end may need longer than goleak waits.
func noLeaks(t *testing.T) func() {
	before := goleak.IgnoreCurrent()
	return func() {
		t.Helper()
		for begin := time.Now(); ; {
			err := goleak.Find(before)
			if err == nil {
				return
			}
			if time.Since(begin) > soon {
				t.Error(err)
				return
			}
		}
	}
}

// socketDir is a new folder whose path leaves room for an archive and its socket, which
// that of TMPDIR may not.
func socketDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if len(dir)+len("/archive-two/"+socketFile) <= maxSocketPath {
		return dir
	}
	dir, err := os.MkdirTemp("/tmp", "hansard-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// A job is what another process is to do.
type job struct {
	Dir      string
	Do       string // search, import, own, feed, read, stats, check
	Query    string
	Paths    []string
	Patience time.Duration
}

func TestMain(m *testing.M) {
	if text := os.Getenv(helperEnv); text != "" {
		var j job
		if err := json.Unmarshal([]byte(text), &j); err != nil {
			panic(err)
		}
		os.Exit(j.run())
	}
	os.Exit(m.Run())
}

// run does the job: the answer goes to stdout as JSON, an error to stderr.
func (j job) run() int {
	ctx := context.Background()
	a, err := Attach(ctx, j.Dir, Options{Engine: engine.Options{Create: j.Do == "import" || j.Do == "feed"}, Patience: j.Patience})
	var v any
	if err == nil {
		switch j.Do {
		case "search":
			v, err = a.Search(ctx, engine.SearchRequest{Query: j.Query})
		case "import":
			v, err = a.Import(ctx, engine.ImportRequest{Paths: j.Paths})
		case "stats":
			v, err = a.Stats(ctx)
		case "check":
			v, err = a.Check(ctx)
		case "feed":
			return j.feed(a)
		case "own":
			fmt.Println("owned", a.Owned())
			_, err = io.Copy(io.Discard, os.Stdin)
		}
		err = errors.Join(err, a.Close())
	}
	if err != nil {
		b, _ := toJSON(failureOf(err))
		fmt.Fprintf(os.Stderr, "%s", b)
		return 1
	}
	if v != nil {
		b, _ := toJSON(v)
		os.Stdout.Write(b)
	}
	return 0
}

// ahead is how many paths feed imports before it waits for a line on its input.
const ahead = 40

// feed imports one path after the other and says when each began and was acknowledged.
func (j job) feed(a *Archive) int {
	fmt.Println("owned", a.Owned())
	for i, path := range j.Paths {
		if i == ahead {
			_, _ = os.Stdin.Read(make([]byte, 1)) // at its end goes on, too
		}
		begin := time.Now().UnixNano()
		if _, err := a.Import(context.Background(), engine.ImportRequest{Paths: []string{path}}); err != nil {
			fmt.Println("failed", codeOf(err))
			break
		}
		fmt.Println("acknowledged", i, begin)
	}
	_, err := io.Copy(io.Discard, os.Stdin)
	fmt.Println("closed", codeOf(a.Close()), err)
	return 0
}

// A process is a job that runs.
type process struct {
	*exec.Cmd
	out, err bytes.Buffer
	in       io.WriteCloser
	lines    *bufio.Reader
}

func start(t testing.TB, j job) *process {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.Command(os.Args[0])}
	p.Env = append(os.Environ(), helperEnv+"="+string(text))
	p.Stderr = &p.err
	if j.Do == "own" || j.Do == "feed" {
		out, err := p.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if p.in, err = p.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		p.lines = bufio.NewReader(out)
	} else {
		p.Stdout = &p.out
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.ProcessState == nil {
			_ = p.Process.Kill()
			_ = p.Wait()
		}
	})
	if p.lines != nil {
		if line, err := p.lines.ReadString('\n'); err != nil || line != "owned true\n" {
			t.Fatalf("owner says %q, %v: %s", line, err, p.err.String())
		}
	}
	return p
}

// finish waits for a job that must go well, and reads its answer.
func finish[T any](t testing.TB, p *process) *T {
	t.Helper()
	err := p.Wait()
	if err != nil {
		t.Fatalf("process: %v: %s", err, p.err.String())
	}
	out := new(T)
	if err := json.Unmarshal(p.out.Bytes(), out); err != nil {
		t.Fatalf("answer: %v: %s", err, p.out.String())
	}
	return out
}

// attach attaches in this process; what it opens passes its check in the end.
func attach(t testing.TB, dir string, o Options) *Archive {
	t.Helper()
	o.Engine.Create = true
	a, err := Attach(context.Background(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return a
}

// checked holds that the archive in dir has no fault.
func checked(t testing.TB, dir string) *engine.CheckReport {
	t.Helper()
	a, err := Attach(context.Background(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Check(context.Background())
	if err := errors.Join(err, a.Close()); err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Faults {
		t.Errorf("check: %s: %s", f.Where, f.What)
	}
	return r
}

// write makes session files of the given size in a new folder below dir.
func write(t testing.TB, dir, name string, sessions, messages int, seed uint64) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	dir = filepath.Join(dir, name, "projects", "-src-shop")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	words := strings.Fields("basket tax rounding order invoice timeout proxy retry harbor ledger cache index cursor socket owner lock merge segment query")
	for i := range sessions {
		id := fmt.Sprintf("%08x-%04x-4000-8000-%012x", seed, i, i)
		var b bytes.Buffer
		for m := range messages {
			var text strings.Builder
			for range 20 + rng.IntN(60) {
				fmt.Fprintf(&text, "%s%d ", words[rng.IntN(len(words))], rng.IntN(40))
			}
			role, content := "user", fmt.Sprintf("%q", text.String()+"needle "+name)
			if m%2 == 1 {
				role, content = "assistant", fmt.Sprintf(`[{"type":"text","text":%q},{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":  "go test ./<tax>"}}]`, text.String(), m)
			}
			fmt.Fprintf(&b, `{"type":%q,"uuid":"%s-%d","parentUuid":null,"sessionId":%q,"timestamp":"2026-03-01T09:%02d:%02d.000Z","cwd":"/src/shop","version":"2.1.0","message":{"role":%q,"id":"m%d","content":%s}}`+"\n",
				role, id, m, id, m/60%60, m%60, role, m, content)
		}
		if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Dir(filepath.Dir(dir))
}

var volatile = regexp.MustCompile(`"(took_ms|duration_ms|index_generation|store_bytes)": ?\d+`)

// document is the JSON of an answer without what may differ.
func document(t testing.TB, v any, err error) string {
	t.Helper()
	if err != nil {
		f := failureOf(err)
		v = &f
	}
	b, e := toJSON(v)
	if e != nil {
		t.Fatal(e)
	}
	return volatile.ReplaceAllString(string(b), `"$1":0`)
}

func codeOf(err error) string {
	var e *engine.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
