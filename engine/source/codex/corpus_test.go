package codex

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/source"
)

// TestCorpus reads every rollout of a collected corpus and checks that the counts
// add up, that no line is lost, and that every file is recognised.
func TestCorpus(t *testing.T) {
	root := os.Getenv("HANSARD_CORPUS")
	if root == "" {
		t.Skip("HANSARD_CORPUS is not set")
	}
	var sum source.Records
	var files, messages, human, calls, results, unknown, failed, inherited int
	for _, dir := range []string{"files/codex", "home/.codex/sessions"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".jsonl") {
				return err
			}
			files++
			if !(Format{}).Sniff(path, headOf(t, path)) {
				t.Errorf("%s: not recognised", path)
			}
			c, n := read(t, diskFile(path))
			sum.Read, sum.Stored = sum.Read+n.Read, sum.Stored+n.Stored
			sum.Skipped, sum.Rejected = sum.Skipped+n.Skipped, sum.Rejected+n.Rejected
			if n.Torn || n.Rejected > 0 {
				t.Logf("%s: %+v", filepath.Base(path), n)
			}
			for _, s := range c.sessions {
				checkSession(t, path, s)
				for i := range s.messages {
					m := &s.messages[i]
					messages++
					if m.Material == archive.HumanAuthored {
						human++
					}
					if m.Inherited {
						inherited++
					}
					for _, b := range m.Blocks {
						switch {
						case b.Type == archive.BlockToolUse:
							calls++
						case b.Type == archive.BlockToolResult:
							results++
							switch b.Outcome.IsError {
							case archive.Unknown:
								unknown++
							case archive.True:
								failed++
							}
						}
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("files %d, records %+v", files, sum)
	t.Logf("messages %d (human %d, inherited %d), calls %d, results %d (failed %d, unknown %d)",
		messages, human, inherited, calls, results, failed, unknown)
	if files == 0 {
		t.Error("the corpus holds no rollout")
	}
}

// checkSession derives the session as an import does, and compares sums that two
// ways give.
func checkSession(t *testing.T, path string, s *collected) {
	d := archive.NewDeriver(archive.Codex)
	calls := 0
	for i := range s.messages {
		m := s.messages[i]
		if err := d.Add(&m); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for j := range m.Blocks {
			if m.Blocks[j].Type == archive.BlockToolUse {
				calls++
			}
		}
	}
	head := s.head
	d.Finish(&head)
	if len(head.Actions) != calls {
		t.Errorf("%s: %d actions for %d calls", path, len(head.Actions), calls)
	}
	var m, u archive.Tokens
	for i := range s.messages {
		w := s.messages[i].Tokens
		m.Input, m.Output, m.CacheRead = m.Input+w.Input, m.Output+w.Output, m.CacheRead+w.CacheRead
	}
	for _, w := range s.head.Usage {
		u.Input, u.Output, u.CacheRead = u.Input+w.Input, u.Output+w.Output, u.CacheRead+w.CacheRead
	}
	if m != u {
		t.Logf("%s: messages cost %+v, session %+v", filepath.Base(path), m, u)
	}
}

func headOf(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b[:min(len(b), 64<<10)]
}

// TestCorpusSniff offers the files of all other agents.
func TestCorpusSniff(t *testing.T) {
	root := os.Getenv("HANSARD_CORPUS")
	if root == "" {
		t.Skip("HANSARD_CORPUS is not set")
	}
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, "/codex/") || strings.Contains(path, "/.codex/sessions") {
			return err
		}
		files++
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		head := make([]byte, 64<<10)
		n, _ := f.Read(head)
		if (Format{}).Sniff(path, head[:n]) {
			t.Errorf("%s: taken for a rollout", path)
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Fatalf("%d files: %v", files, err)
	}
}
