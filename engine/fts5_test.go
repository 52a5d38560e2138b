package engine

import (
	"database/sql"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the reference for rows and scores

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/oracle"
	"github.com/hansard-search/hansard/lexer"
	"github.com/hansard-search/hansard/query"
)

// A reference is the search texts of an archive in SQLite.
type reference struct {
	t    testing.TB
	db   *sql.DB
	keys []blockKey // of row 1, 2, …
}

// foldStroke is the one fold that SQLite's tokenizer lacks.
var foldStroke = strings.NewReplacer("ł", "l", "Ł", "l")

// newReference fills a table with every block that is searched.
func newReference(t testing.TB, sessions []oracle.Session) *reference {
	t.Helper()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	f := &reference{t: t, db: db}
	f.exec(`CREATE VIRTUAL TABLE f USING fts5(text, tokenize = 'unicode61 remove_diacritics 2')`)
	f.exec(`BEGIN`)
	for i := range sessions {
		f.add(&sessions[i])
	}
	f.exec(`COMMIT`)
	return f
}

func (f *reference) exec(q string, args ...any) {
	f.t.Helper()
	if _, err := f.db.Exec(q, args...); err != nil {
		f.t.Fatal(err)
	}
}

func (f *reference) add(s *oracle.Session) {
	rank := -1
	for _, m := range s.Messages {
		for i := range m.Blocks {
			rank++
			text := string(archive.AppendSearchText(nil, &m.Blocks[i]))
			if text == "" || m.Inherited {
				continue
			}
			f.keys = append(f.keys, blockKey{s.Head.ID(), rank})
			f.exec(`INSERT INTO f(rowid, text) VALUES (?, ?)`, len(f.keys), foldStroke.Replace(text))
		}
	}
}

func (f *reference) close() {
	if err := f.db.Close(); err != nil {
		f.t.Error(err)
	}
}

// match asks SQLite for the blocks that match an expression, and their scores.
func (f *reference) match(expression string) map[blockKey]float64 {
	f.t.Helper()
	rows, err := f.db.Query(`SELECT rowid, bm25(f) FROM f WHERE f MATCH ?`, foldStroke.Replace(expression))
	if err != nil {
		f.t.Fatalf("MATCH %s: %v", expression, err)
	}
	out := map[blockKey]float64{}
	for rows.Next() {
		var id int
		var score float64
		if err := rows.Scan(&id, &score); err != nil {
			f.t.Fatal(err)
		}
		out[f.keys[id-1]] = score
	}
	if err := rows.Err(); err != nil {
		f.t.Fatalf("MATCH %s: %v", expression, err)
	}
	return out
}

// steady reports whether FTS5 scores n by the row alone. Where it does not, its
// iterators leave traces: the right side of a NOT that refused a row still stands
// on that row and is scored through another branch of an OR; an AND below the root
// that fails by a phrase forgets positions of phrases that stand on a later row.
// Such queries are compared by rows here, and by score with the oracle.
func steady(n query.Text, root, free bool) bool {
	switch n := n.(type) {
	case *query.TextOr:
		return !slices.ContainsFunc(n.Of, func(k query.Text) bool { return !steady(k, false, false) })
	case *query.TextAnd:
		if !root && holdsOr(n) && holdsPhrase(n) {
			return false
		}
		return !slices.ContainsFunc(n.Of, func(k query.Text) bool { return !steady(k, false, free) })
	case *query.TextNot:
		return free && steady(n.Left, false, true) && steady(n.Right, false, false)
	}
	return true
}

// below visits n and everything under it.
func below(n query.Text, visit func(query.Text) bool) bool {
	if visit(n) {
		return true
	}
	under := func(k query.Text) bool { return below(k, visit) }
	switch n := n.(type) {
	case *query.TextAnd:
		return slices.ContainsFunc(n.Of, under)
	case *query.TextOr:
		return slices.ContainsFunc(n.Of, under)
	case *query.TextNot:
		return under(n.Left) || under(n.Right)
	}
	return false
}

func holdsOr(n query.Text) bool {
	return below(n, func(k query.Text) bool { _, ok := k.(*query.TextOr); return ok })
}

func holdsPhrase(n query.Text) bool {
	return below(n, func(k query.Text) bool {
		p, ok := k.(*query.Phrase)
		return ok && len(lexer.Terms(p.Text)) > 1
	})
}
