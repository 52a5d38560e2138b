//go:build cgo && sqlite_fts5

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"
)

// batchRows is how many texts are added in one transaction, settledRows where each
// has its usual settings.
const (
	batchRows   = 20_000
	settledRows = 1_000
)

// buildFTS5 makes one of the tables: contentless and dense (""), contentless with
// sessions in the rowids ("-grouped"), with texts ("-content"), and with texts and
// the settings of an application ("-default").
func buildFTS5(kind string) func(context.Context, string, *built) (func() error, error) {
	return func(_ context.Context, dir string, b *built) (func() error, error) {
		b.Version = sqliteVersion()
		setup, columns, batch := fast, "text, content=''", batchRows
		switch kind {
		case "-content":
			columns = "text"
		case "-default":
			setup, columns, batch = []string{safe[0], "PRAGMA synchronous = NORMAL"}, "text", settledRows
		}
		db, err := openSQLite(fts5Path(kind)(dir), append(setup,
			"CREATE VIRTUAL TABLE f USING fts5("+columns+", tokenize='unicode61 remove_diacritics 2')")...)
		if err != nil {
			return nil, err
		}
		err = db.fill(dir, kind == "-grouped", batch)
		if err == nil && kind == "-default" {
			err = db.exec("PRAGMA wal_checkpoint(TRUNCATE)")
		}
		if err != nil || kind == "-default" {
			return nil, errors.Join(err, db.Close())
		}
		return func() error {
			err := errors.Join(db.exec("INSERT INTO f(f) VALUES ('optimize')"), db.exec("VACUUM"))
			if err == nil && kind == "" {
				err = buildRows(dir)
			}
			return errors.Join(err, db.Close())
		}, nil
	}
}

// fill adds all texts.
func (x *sqlite) fill(dir string, sessions bool, batch int) error {
	var tx *sql.Tx
	var add *sql.Stmt
	n := 0
	err := documents(dir, func(d *block) (err error) {
		if tx == nil {
			if tx, err = x.conn.BeginTx(context.Background(), nil); err != nil {
				return err
			}
			if add, err = tx.Prepare("INSERT INTO f(rowid, text) VALUES (?, ?)"); err != nil {
				return err
			}
		}
		row := int64(d.number) + 1
		if sessions {
			if d.rank >= 1<<16 {
				return fmt.Errorf("session %d has more than %d blocks", d.session, 1<<16)
			}
			row = int64(d.session)<<16 | int64(d.rank)
		}
		if _, err = add.Exec(row, plainText.Replace(d.text)); err != nil {
			return err
		}
		if n++; n%batch == 0 {
			err, tx = tx.Commit(), nil
		}
		return err
	})
	if err == nil && tx != nil {
		return tx.Commit()
	}
	return err
}

// buildRows makes the table of what the filtered questions read.
func buildRows(dir string) error {
	path := fts5Path("-rows")(dir)
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	db, err := openSQLite(path, append(fast, "CREATE TABLE rows (id INTEGER PRIMARY KEY, repo INTEGER, time INTEGER)")...)
	if err != nil {
		return err
	}
	tx, err := db.conn.BeginTx(context.Background(), nil)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	err = documents(dir, func(d *block) error {
		_, err := tx.Exec("INSERT INTO rows VALUES (?, ?, ?)", d.number+1, d.repo, d.time)
		return err
	})
	return errors.Join(err, tx.Commit(), db.exec("CREATE INDEX of_repo ON rows (repo, time)"), db.Close())
}

// appendFTS5 adds rows one by one, each durable when its statement ends, and returns
// how many that were in a second of wall time.
func appendFTS5(dir string, texts []string) (perSecond float64, err error) {
	db, err := openSQLite(fts5Path("-default")(dir), safe...)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	start := time.Now()
	for _, t := range texts {
		if err := db.exec("INSERT INTO f(text) VALUES (?)", t); err != nil {
			return 0, err
		}
	}
	perSecond = float64(len(texts)) / time.Since(start).Seconds()
	return perSecond, db.exec("DELETE FROM f WHERE rowid > (SELECT max(rowid) - ? FROM f)", len(texts))
}

// reindexFTS5 deletes the given rows and adds them again, and returns the CPU time.
func reindexFTS5(dir string, rows map[int64]string) (cpu time.Duration, err error) {
	db, err := openSQLite(fts5Path("-content")(dir), fast...)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	start := processCPU()
	tx, err := db.conn.BeginTx(context.Background(), nil)
	if err != nil {
		return 0, err
	}
	for row, text := range rows {
		if _, err := tx.Exec("DELETE FROM f WHERE rowid = ?", row); err != nil {
			return 0, errors.Join(err, tx.Rollback())
		}
		if _, err := tx.Exec("INSERT INTO f(rowid, text) VALUES (?, ?)", row, text); err != nil {
			return 0, errors.Join(err, tx.Rollback())
		}
	}
	err = tx.Commit()
	return processCPU() - start, err
}

// firstFTS5 opens the table with texts and finds ten rows with snippets.
func firstFTS5(dir, match string) (n int, err error) {
	db, err := openSQLite(fts5Path("-content")(dir), "PRAGMA mmap_size = 17179869184")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := db.conn.QueryContext(context.Background(), "SELECT rank, snippet(f, 0, '[', ']', '…', 24) FROM f WHERE f MATCH ? ORDER BY rank LIMIT 10", match)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var score float64
		var snippet string
		if err := rows.Scan(&score, &snippet); err != nil {
			return n, err
		}
		n++
	}
	return n, rows.Err()
}
