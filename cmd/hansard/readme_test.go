package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeShowsRealOutput runs the command of the front door and holds the
// example in the README against what it prints.
func TestReadmeShowsRealOutput(t *testing.T) {
	readme := read(t, "../../README.md")
	example := regexp.MustCompile("(?s)```\n(\\$ hansard .*?)```").FindStringSubmatch(readme)
	if example == nil {
		t.Fatal("the README shows no example")
	}
	cmd := exec.Command("go", "run", ".", "demo")
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go run . demo: %v", err)
	}
	if !strings.Contains(string(out), example[1]) {
		t.Errorf("the README's example is not what demo prints:\n%s\nit prints:\n%s", example[1], out)
	}
}

// TestReadmeCommandsAreRunByTheGate holds that the gate runs what the README tells
// people to run.
func TestReadmeCommandsAreRunByTheGate(t *testing.T) {
	readme, gate := read(t, "../../README.md"), read(t, "../../.ci/run")
	for _, command := range []string{"go run ./cmd/hansard demo", "go test ./..."} {
		if !strings.Contains(readme, "\n"+command+"\n") || !strings.Contains(gate, command) {
			t.Errorf("%q is not in both the README and the gate", command)
		}
	}
}

// TestReadmeLinksExist holds that no link of the README is dead.
func TestReadmeLinksExist(t *testing.T) {
	for _, link := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(read(t, "../../README.md"), -1) {
		if _, err := os.Stat("../../" + link[1]); err != nil {
			t.Errorf("link %s: %v", link[1], err)
		}
	}
}

// TestReadmeLinksAllPages holds that every page of the docs is found from the README.
func TestReadmeLinksAllPages(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("pages %v: %v", pages, err)
	}
	readme := read(t, "../../README.md")
	for _, p := range pages {
		if !strings.Contains(readme, "](docs/"+filepath.Base(p)+")") {
			t.Errorf("the README does not link %s", p)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestReadmeGoCompiles builds each Go example of the README as the body of a function.
func TestReadmeGoCompiles(t *testing.T) {
	examples := regexp.MustCompile("(?s)```go\n(import (?:\\(\n.*?\n\\)|\"[^\"]*\"))\n(.*?)```").FindAllStringSubmatch(read(t, "../../README.md"), -1)
	if len(examples) != 2 {
		t.Fatalf("the README has %d Go examples that begin with their imports, want 2", len(examples))
	}
	for i, e := range examples {
		imports, body := e[1], e[2]
		var unused string
		for _, name := range regexp.MustCompile(`(?m)^(\w+), err :=`).FindAllStringSubmatch(body, -1) {
			unused += "\t_ = " + name[1] + "\n"
		}
		file := filepath.Join(t.TempDir(), "main.go")
		program := "package main\n\nimport \"context\"\n\n" + imports + "\n\nfunc main() {}\n\nfunc example(ctx context.Context, dir, home string) error {\n" + body + unused + "\treturn err\n}\n"
		if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("go", "vet", file).CombinedOutput(); err != nil {
			t.Errorf("example %d: %v\n%s\n%s", i+1, err, out, program)
		}
	}
}
