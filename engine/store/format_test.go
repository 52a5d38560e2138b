package store

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestFormatPageListsEveryPrefix compares the key table of docs/format.md with the
// prefixes that the code uses.
func TestFormatPageListsEveryPrefix(t *testing.T) {
	page, err := os.ReadFile("../../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("keys.go")
	if err != nil {
		t.Fatal(err)
	}
	letters := func(text []byte, pattern string) (out []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(text, -1) {
			out = append(out, string(m[1]))
		}
		slices.Sort(out)
		return out
	}
	want := letters(code, `(?m)^\tprefix\w+ += '(.)'$`)
	got := letters(page, "(?m)^\\| `([a-z])` \\|")
	if len(want) < 10 || !slices.Equal(got, want) {
		t.Errorf("docs/format.md lists the prefixes %v, keys.go uses %v", got, want)
	}
}

// TestEveryBatchHasALink: whatever writes to the database goes through apply, so that
// the loss of it leaves a hole.
func TestEveryBatchHasALink(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	past := regexp.MustCompile(`db\.(Apply|Set|Delete|DeleteRange|SingleDelete|Merge|LogData)\(|\.Commit\(pebble\.`)
	for _, f := range files {
		code, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		if f == "chain.go" {
			want = 1
		}
		if n := len(past.FindAll(code, -1)); n != want && !strings.HasSuffix(f, "_test.go") {
			t.Errorf("%s writes to the database in %d places, want %d", f, n, want)
		}
	}
}
