package store

import (
	"os"
	"regexp"
	"slices"
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
