package query

import "testing"

// TestFieldExamplesRun parses and binds the example of every field that this build
// runs: what the page shows must work as it stands.
func TestFieldExamplesRun(t *testing.T) {
	n := 0
	for _, f := range SessionFields() {
		if f.Later || f.Example == "" {
			continue
		}
		n++
		if _, err := Compile(f.Example, Options{}); err != nil {
			t.Errorf("%s: example %s: %v", f.Name, f.Example, err)
		}
	}
	if n < 20 {
		t.Errorf("only %d fields have an example", n)
	}
}
