package engine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hansard-search/hansard/segments"
)

// TestTemporaryFilesAreSwept: what a writer that was killed has left is removed by the
// next process that may write, and by no reader.
func TestTemporaryFilesAreSwept(t *testing.T) {
	dir := t.TempDir()
	open := func(o Options) {
		t.Helper()
		e, err := Open(dir, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	open(Options{Create: true})
	left := filepath.Join(dir, "segments", "0123-1"+segments.TempSuffix)
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	open(Options{ReadOnly: true})
	if _, err := os.Stat(left); err != nil {
		t.Errorf("a reader removed it: %v", err)
	}
	open(Options{})
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}
