package engine

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/oracle"
	"github.com/hansard-search/hansard/engine/source"
	"github.com/hansard-search/hansard/lexer"
	"github.com/hansard-search/hansard/query"
)

// TestCorpus imports real sessions: the report adds up, a second import changes
// nothing, and answers are those of SQLite's FTS5 and of plain loops.
func TestCorpus(t *testing.T) {
	root := os.Getenv("HANSARD_CORPUS")
	if root == "" {
		t.Skip("HANSARD_CORPUS is not set")
	}
	r := seeded(t)
	home := filepath.Join(root, "home")
	w := newWorld(t, Options{})
	first := w.importHome(home)
	t.Logf("%d files, %d sessions added, %d rejected, %d messages, %d blocks, records %+v, %d problems", first.Files.Found,
		first.Added, first.Rejected, first.Messages, first.Blocks, first.Records, len(first.Problems))
	again := w.importHome(home)
	if again.Added+again.Updated != 0 || again.Files.Read != 0 {
		t.Errorf("second import: %+v", again)
	}
	sessions := readHome(t, home)
	ref := newReference(t, sessions)
	defer ref.close()
	if got := w.search(SearchRequest{}).Total; got != len(sessions) {
		t.Fatalf("%d sessions, the files hold %d", got, len(sessions))
	}
	o := oracle.New(sessions, testNow)
	words := corpusWords(sessions)
	found := 0
	for i := range 300 {
		pickWord := func() string { return `"` + words[r.IntN(len(words))] + `"` }
		text := pickWord()
		for range r.IntN(3) {
			text += pick(r, " ", " OR ", " AND ", " NOT ") + pickWord()
		}
		q, err := query.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		want := ref.match(text)
		w.compareBlocks(text, want, steady(q.Match, true, true))
		if i%10 == 0 {
			w.compareSearch(text, o)
		}
		found += min(1, len(want))
	}
	t.Logf("%d blocks, %d words; %d of 300 queries found blocks", len(ref.keys), len(words), found)
}

func (w *world) importHome(home string) *Report {
	w.t.Helper()
	r, err := w.Import(w.t.Context(), ImportRequest{Home: home})
	if err != nil {
		w.t.Fatal(err)
	}
	n := r.Records
	if n.Read != n.Stored+n.Skipped+n.Rejected || int64(len(r.Problems)) < n.Rejected {
		w.t.Errorf("records do not add up: %+v with %d problems", n, len(r.Problems))
	}
	if f := r.Files; f.Found != f.Read+f.Unchanged+f.Skipped+f.Unreadable {
		w.t.Errorf("files do not add up: %+v", f)
	}
	return r
}

// readHome reads the sessions of a home, not through the archive. Of sessions that
// lie in several files the one that an import prefers is kept.
func readHome(t testing.TB, home string) []oracle.Session {
	t.Helper()
	found, err := source.DiscoverHome(t.Context(), home, nil)
	if err != nil {
		t.Fatal(err)
	}
	best := map[string]oracle.Session{}
	for _, c := range found.Files {
		var r reader
		readOne(t, c, &r)
		for _, s := range r.sessions {
			id := string(s.Head.ID())
			old, twice := best[id]
			if !twice || s.Head.Updated > old.Head.Updated || s.Head.Updated == old.Head.Updated && len(s.Messages) > len(old.Messages) {
				best[id] = s
			}
		}
	}
	var out []oracle.Session
	for _, id := range slices.Sorted(maps.Keys(best)) {
		if slices.ContainsFunc(best[id].Messages, hasBlocks) {
			out = append(out, best[id])
		}
	}
	return out
}

// corpusWords are the words of the sessions, without those that FTS5 could not be
// asked for as they stand.
func corpusWords(sessions []oracle.Session) []string {
	seen := map[string]bool{}
	for _, s := range sessions {
		for _, m := range s.Messages {
			for i := range m.Blocks {
				for _, term := range lexer.Terms(m.Blocks[i].Text) {
					if len(term) < 40 && !strings.ContainsAny(term, "\"*") {
						seen[term] = true
					}
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

func hasBlocks(m archive.Message) bool { return len(m.Blocks) > 0 }
