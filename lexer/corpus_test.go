package lexer

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Bounds of TestCorpusLive: enough text of every kind, in pieces whose terms FTS5
// does not cut (it stores at most 32,768 bytes of one).
const (
	corpusBytes     = 6 << 20
	corpusFileBytes = 128 << 10
	corpusPiece     = 16 << 10
)

// TestCorpusLive compares the terms of real session files, read as plain text,
// with SQLite's.
func TestCorpusLive(t *testing.T) {
	root := os.Getenv("HANSARD_CORPUS")
	if root == "" || testing.Short() {
		t.Skip("needs HANSARD_CORPUS and the long suite")
	}
	texts := corpusTexts(t, root)
	if len(texts) == 0 {
		t.Fatalf("no text under %s", root)
	}
	terms := 0
	for i, want := range openReference(t).terms(t, texts) {
		differ(t, texts[i], withExtraFolds(want), Terms(texts[i]))
		if t.Failed() {
			return
		}
		terms += len(want)
	}
	t.Logf("%d texts, %d terms", len(texts), terms)
}

func corpusTexts(t *testing.T, root string) []string {
	t.Helper()
	var texts []string
	total := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if total >= corpusBytes {
			return fs.SkipAll
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text := strings.ToValidUTF8(string(b[:min(len(b), corpusFileBytes)]), "\ufffd")
		total += len(text)
		for len(text) > 0 {
			n := min(len(text), corpusPiece)
			texts = append(texts, strings.ToValidUTF8(text[:n], "\ufffd"))
			text = text[n:]
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}
