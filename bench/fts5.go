//go:build cgo && sqlite_fts5

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/mattn/go-sqlite3"
)

// An fts5 is SQLite's FTS5 with a contentless table: an index and nothing else. Beside
// it stands a table of what the filtered questions read, in a file of its own, so
// that sizes are those of the index.
type fts5 struct {
	*sqlite
	top, count, filtered *sql.Stmt
}

// A sqlite is one connection.
type sqlite struct {
	db   *sql.DB
	conn *sql.Conn
}

// fast switches durability off and keeps the whole index in memory: the peer is to be
// at its best. safe is how an application would set it that wants each commit kept.
var (
	fast = []string{"PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "PRAGMA cache_size = -2097152",
		"PRAGMA temp_store = MEMORY", "PRAGMA mmap_size = 17179869184"}
	safe = []string{"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL"}
)

func openSQLite(path string, setup ...string) (*sqlite, error) {
	db, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(context.Background())
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	x := &sqlite{db, conn}
	for _, s := range setup {
		if err := x.exec(s); err != nil {
			return nil, errors.Join(err, x.Close())
		}
	}
	return x, nil
}

func (x *sqlite) exec(statement string, args ...any) error {
	if _, err := x.conn.ExecContext(context.Background(), statement, args...); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

func (x *sqlite) Close() error { return errors.Join(x.conn.Close(), x.db.Close()) }

func sqliteVersion() string {
	version, _, _ := sqlite3.Version()
	return "SQLite " + version + " FTS5, mattn/go-sqlite3"
}

// openFTS5 opens the contentless index for questions about blocks. CROSS JOIN makes
// SQLite look up each hit; left to itself it takes the rows of the repository first
// and runs the match again for each, which takes more than ten times as long.
func openFTS5(dir string) (engineUnderTest, error) {
	db, err := openSQLite(fts5Path("")(dir), append(fast, "ATTACH '"+fts5Path("-rows")(dir)+"' AS r")...)
	if err != nil {
		return nil, err
	}
	x := &fts5{sqlite: db}
	for _, s := range []struct {
		into *(*sql.Stmt)
		text string
	}{
		{&x.top, "SELECT rowid, rank FROM f WHERE f MATCH ? ORDER BY rank LIMIT 10"},
		{&x.count, "SELECT count(*) FROM f WHERE f MATCH ?"},
		{&x.filtered, `SELECT f.rowid, f.rank FROM f CROSS JOIN r.rows AS d ON d.id = f.rowid
			WHERE f MATCH ? AND d.repo = ? AND d.time BETWEEN ? AND ? ORDER BY f.rank LIMIT 10`},
	} {
		if *s.into, err = db.conn.PrepareContext(context.Background(), s.text); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", s.text, err), x.Close())
		}
	}
	return x, nil
}

func (x *fts5) Name() string { return sqliteVersion() }

func (x *fts5) Close() error {
	var errs []error
	for _, s := range []*sql.Stmt{x.top, x.count, x.filtered} {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(append(errs, x.sqlite.Close())...)
}

func (x *fts5) Prepare(q *question) (prepared, error) {
	p := &fts5Question{peer: x, top: x.top, args: []any{q.match()}}
	if w := q.where; w != nil {
		p.top, p.args = x.filtered, []any{q.match(), w.repo, w.since.UnixMilli(), w.until.UnixMilli()}
	}
	return p, nil
}

type fts5Question struct {
	peer *fts5
	top  *sql.Stmt
	args []any
}

func (p *fts5Question) Ask(ctx context.Context, m mode) (a answer, err error) {
	if m == count {
		return a, p.peer.count.QueryRowContext(ctx, p.args...).Scan(&a.count)
	}
	rows, err := p.top.QueryContext(ctx, p.args...)
	if err != nil {
		return a, err
	}
	defer rows.Close()
	for rows.Next() {
		var id uint32
		var score float64
		if err := rows.Scan(&id, &score); err != nil {
			return a, err
		}
		a.blocks, a.scores = append(a.blocks, id-1), append(a.scores, score)
	}
	return a, rows.Err()
}

func (p *fts5Question) Time(ctx context.Context, m mode, n int) (time.Duration, error) {
	return timed(n, func() error {
		_, err := p.Ask(ctx, m)
		return err
	})
}

// A grouped is FTS5 for questions about sessions: the session of a row stands in the
// upper bits of its rowid, so that no second table is joined, the cheapest way there.
type grouped struct {
	*sqlite
	search *sql.Stmt
}

func openGrouped(dir string) (sessionSearcher, error) {
	db, err := openSQLite(fts5Path("-grouped")(dir), fast...)
	if err != nil {
		return nil, err
	}
	g := &grouped{sqlite: db}
	g.search, err = db.conn.PrepareContext(context.Background(), `SELECT count(*) OVER (), best FROM
		(SELECT min(rank) AS best FROM f WHERE f MATCH ? GROUP BY rowid >> 16) ORDER BY best LIMIT 10`)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return g, nil
}

func (g *grouped) Search(ctx context.Context, q *question) (total int, scores []float64, err error) {
	rows, err := g.search.QueryContext(ctx, q.match())
	if err != nil {
		return 0, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var score float64
		if err := rows.Scan(&total, &score); err != nil {
			return 0, nil, err
		}
		scores = append(scores, score)
	}
	return total, scores, rows.Err()
}

func (g *grouped) Close() error { return errors.Join(g.search.Close(), g.sqlite.Close()) }
