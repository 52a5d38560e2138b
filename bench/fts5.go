//go:build cgo && sqlite_fts5

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mattn/go-sqlite3"
)

// sessionShift places the session of a row in the upper bits of its rowid, so that
// grouping by session needs no second table: the cheapest way in SQLite. Such
// rowids cost about a tenth of size, so that size is taken of a dense index.
const sessionShift = 16

// haveFTS5 says whether the peer is linked in.
const haveFTS5 = true

// An fts5 is SQLite's FTS5 with a contentless table: an index and nothing else.
type fts5 struct {
	db    *sql.DB
	conn  *sql.Conn
	path  string
	match *sql.Stmt
	dense bool // rows are numbered from 1; nothing can be grouped by session then
	rows  int64
}

// openFTS5 makes an empty index in dir. Durability is switched off and the cache
// holds the whole index: the peer is to be at its best.
func openFTS5(dir string, dense bool) (p peer, err error) {
	x := &fts5{path: filepath.Join(dir, fmt.Sprintf("fts5-%t.sqlite", dense)), dense: dense}
	if x.db, err = sql.Open("sqlite3", "file:"+x.path); err != nil {
		return nil, err
	}
	ctx := context.Background()
	if x.conn, err = x.db.Conn(ctx); err != nil {
		return nil, errors.Join(err, x.db.Close())
	}
	for _, s := range []string{
		"PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "PRAGMA cache_size = -524288", "PRAGMA temp_store = MEMORY",
		"PRAGMA locking_mode = EXCLUSIVE", "PRAGMA mmap_size = 4294967296",
		"CREATE VIRTUAL TABLE f USING fts5(text, content='', tokenize='unicode61 remove_diacritics 2')",
	} {
		if _, err := x.conn.ExecContext(ctx, s); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", s, err), x.Close())
		}
	}
	return x, nil
}

func (x *fts5) Name() string {
	version, _, _ := sqlite3.Version()
	return "SQLite " + version + " FTS5"
}

// Add inserts texts in one transaction.
func (x *fts5) Add(batch []document) error {
	ctx := context.Background()
	tx, err := x.conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // without effect after Commit
	add, err := tx.Prepare("INSERT INTO f(rowid, text) VALUES (?, ?)")
	if err != nil {
		return err
	}
	defer add.Close()
	for _, d := range batch {
		if d.block >= 1<<sessionShift {
			return fmt.Errorf("session %d has more than %d blocks", d.session, 1<<sessionShift)
		}
		x.rows++
		row := x.rows
		if !x.dense {
			row = int64(d.session)<<sessionShift | int64(d.block)
		}
		if _, err := add.Exec(row, d.text); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Optimize merges the index into one segment and returns its size in bytes.
func (x *fts5) Optimize() (int64, error) {
	ctx := context.Background()
	for _, s := range []string{"INSERT INTO f(f) VALUES ('optimize')", "VACUUM"} {
		if _, err := x.conn.ExecContext(ctx, s); err != nil {
			return 0, fmt.Errorf("%s: %w", s, err)
		}
	}
	fi, err := os.Stat(x.path)
	if err != nil {
		return 0, err
	}
	return fi.Size(), nil
}

// searchSQL finds the ten best sessions by their best block, and how many there
// are. No form was faster: a materialised subquery and a scan in rowid order cost
// the same within noise, and so does ORDER BY rank over blocks alone.
const searchSQL = `SELECT count(*) OVER (), best FROM
	(SELECT min(rank) AS best FROM f WHERE f MATCH ? GROUP BY rowid >> 16)
	ORDER BY best LIMIT ?`

// Search answers a query in FTS5's query syntax.
func (x *fts5) Search(match string, limit int) (a answer, err error) {
	if x.dense {
		return answer{}, errors.New("a dense index has no sessions")
	}
	if x.match == nil {
		if x.match, err = x.conn.PrepareContext(context.Background(), searchSQL); err != nil {
			return answer{}, err
		}
	}
	rows, err := x.match.Query(match, limit)
	if err != nil {
		return answer{}, err
	}
	defer rows.Close()
	for rows.Next() {
		var score float64
		if err := rows.Scan(&a.total, &score); err != nil {
			return answer{}, err
		}
		a.scores = append(a.scores, score)
	}
	return a, rows.Err()
}

func (x *fts5) Close() error {
	var errs []error
	if x.match != nil {
		errs = append(errs, x.match.Close())
	}
	return errors.Join(append(errs, x.conn.Close(), x.db.Close())...)
}
