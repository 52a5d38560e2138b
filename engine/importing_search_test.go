package engine

import (
	"strings"
	"testing"
)

// TestEmptyBesideImport: a search of an archive that is empty only because its first
// import still runs says so, and one of an archive that stays empty does not.
func TestEmptyBesideImport(t *testing.T) {
	w := newWorld(t, Options{})
	why := func() string {
		d := w.search(SearchRequest{}).Diagnostics
		if d == nil || len(d.Reasons) == 0 || d.Reasons[0].Code != "archive_empty" {
			t.Fatalf("diagnostics %+v", d)
		}
		return d.Reasons[0].Summary
	}
	const running = "an import is running"
	if got := why(); strings.Contains(got, running) {
		t.Errorf("before the import: %s", got)
	}
	w.put(randomScripts(seeded(t), 1)...)
	asked := 0
	w.failpoint = func(point string) {
		if point == "commit" {
			asked++
			if got := why(); !strings.Contains(got, running) {
				t.Errorf("beside the import: %s", got)
			}
		}
	}
	w.load()
	w.failpoint = nil
	if asked == 0 {
		t.Error("no search ran beside the import")
	}
}
