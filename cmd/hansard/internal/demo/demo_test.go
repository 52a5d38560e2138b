package demo

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWriteIsCompleteAndRepeatable(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	n, err := Write(a)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Write(b); err != nil {
		t.Fatal(err)
	}
	files := 0
	err = fs.WalkDir(os.DirFS(a), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		one, err := os.ReadFile(filepath.Join(a, p))
		if err != nil {
			return err
		}
		two, err := os.ReadFile(filepath.Join(b, p))
		if err != nil {
			return err
		}
		if !bytes.Equal(one, two) {
			t.Errorf("%s differs between two calls", p)
		}
		for i, l := range bytes.Split(bytes.TrimSpace(one), []byte("\n")) {
			if !json.Valid(l) {
				t.Errorf("%s:%d is not JSON", p, i+1)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files != n || n < 24 {
		t.Errorf("%d files for %d sessions, want as many, and some dozens", files, n)
	}
}

func TestParseNamesTheLine(t *testing.T) {
	for script, want := range map[string]string{
		"> orphan": "line 1",
		"## claude x/y main 2026-01-01T09:00\n? what": "line 2",
		"## claude x/y main":                          "line 1",
		"## claude x/y main yesterday":                "line 1",
	} {
		if _, err := parse(script); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parse(%q) = %v, want an error on %s", script, err, want)
		}
	}
}
