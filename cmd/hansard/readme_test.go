package main

import (
	"os"
	"os/exec"
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

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
