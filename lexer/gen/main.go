//go:build ignore

// Gen writes table.go: what SQLite's FTS5 tokenizer "unicode61
// remove_diacritics 2" does with every Unicode scalar value. Nothing is taken
// from a Unicode database: each scalar value is indexed by SQLite, alone and
// between two letters, and the answer is read back through fts5vocab.
//
// Run it from the lexer folder: go run gen/main.go
package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"go/format"
	"log"
	"os"
	"strings"

	_ "modernc.org/sqlite"
)

const (
	maxRune   = 0x10FFFF
	blockBits = 7
	blockSize = 1 << blockBits
)

// An answer is what SQLite says about one scalar value.
type answer struct {
	class class
	fold  string // what it becomes in a term, empty when it is dropped
}

type class uint16

// The classes, as package lexer knows them.
const (
	token class = iota
	separator
	mark
)

func main() {
	log.SetFlags(0)
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(1) // every connection to :memory: is another database
	var version string
	if err := db.QueryRow(`SELECT sqlite_version()`).Scan(&version); err != nil {
		log.Fatal(err)
	}
	alone, err := index(db, "alone", func(r rune) string { return string(r) })
	if err != nil {
		log.Fatal(err)
	}
	between, err := index(db, "amid", func(r rune) string { return "a" + string(r) + "b" })
	if err != nil {
		log.Fatal(err)
	}
	answers, err := combine(alone, between)
	if err != nil {
		log.Fatal(err)
	}
	src, err := format.Source(render(answers, version))
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("table.go", src, 0o644); err != nil {
		log.Fatal(err)
	}
}

func scalar(r rune) bool { return r < 0xD800 || 0xE000 <= r && r <= maxRune }

// index returns, for each scalar value, the terms of text(r) in order.
func index(db *sql.DB, name string, text func(rune) string) ([][]string, error) {
	for _, q := range []string{
		`CREATE VIRTUAL TABLE %s USING fts5(x, content='', tokenize='unicode61 remove_diacritics 2')`,
		`CREATE VIRTUAL TABLE %s_v USING fts5vocab(%[1]s, 'instance')`,
		`BEGIN`,
	} {
		if strings.Contains(q, "%") {
			q = fmt.Sprintf(q, name)
		}
		if _, err := db.Exec(q); err != nil {
			return nil, fmt.Errorf("%s: %w", q, err)
		}
	}
	insert, err := db.Prepare(`INSERT INTO ` + name + `(rowid, x) VALUES (?, ?)`)
	if err != nil {
		return nil, err
	}
	for r := rune(0); r <= maxRune; r++ {
		if !scalar(r) {
			continue
		}
		if _, err := insert.Exec(int64(r), text(r)); err != nil {
			return nil, fmt.Errorf("%U: %w", r, err)
		}
	}
	if _, err := db.Exec(`COMMIT`); err != nil {
		return nil, err
	}
	return terms(db, name)
}

func terms(db *sql.DB, name string) ([][]string, error) {
	rows, err := db.Query(`SELECT doc, "offset", CAST(term AS BLOB) FROM ` + name + `_v`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := make([][]string, maxRune+1)
	for rows.Next() {
		var doc, pos int
		var term []byte
		if err := rows.Scan(&doc, &pos, &term); err != nil {
			return nil, err
		}
		for len(all[doc]) <= pos {
			all[doc] = append(all[doc], "")
		}
		all[doc][pos] = string(term)
	}
	return all, rows.Err()
}

// combine derives the class and the fold of each scalar value. It fails when
// the two contexts contradict the model (class + fold, independent of context).
func combine(alone, between [][]string) ([]answer, error) {
	answers := make([]answer, maxRune+1)
	for r := range rune(maxRune + 1) {
		if !scalar(r) {
			answers[r] = answer{class: separator}
			continue
		}
		one, two := alone[r], between[r]
		a := &answers[r]
		switch {
		case len(one) == 0 && len(two) == 2 && two[0] == "a" && two[1] == "b":
			a.class = separator
			continue
		case len(one) == 0 && len(two) == 1:
			a.class = mark
		case len(one) == 1 && len(two) == 1:
			a.class = token
		default:
			return nil, fmt.Errorf("%U: alone %q, between letters %q", r, one, two)
		}
		a.fold = strings.TrimSuffix(strings.TrimPrefix(two[0], "a"), "b")
		if a.class == token && a.fold != one[0] {
			return nil, fmt.Errorf("%U: alone %q, between letters %q", r, one, two)
		}
		if n := len([]rune(a.fold)); n > 1 || n == 0 && a.class == token {
			return nil, fmt.Errorf("%U: folds to %q", r, a.fold)
		}
	}
	return answers, nil
}

// render lays the answers out as two stages. An entry is class | fold<<2, fold
// being 0 for itself or an index into folds, so that the commonest entry (a
// token character that stays as it is) is 0 and need not be written.
func render(answers []answer, version string) []byte {
	folds := []rune{-1, 0} // [0] is never read, [1] is "dropped"
	foldOf := map[string]int{"": 1}
	entry := func(r rune) uint16 {
		a := answers[r]
		if a.class == separator || a.fold == string(r) {
			return uint16(a.class)
		}
		i, ok := foldOf[a.fold]
		if !ok {
			i = len(folds)
			foldOf[a.fold] = i
			folds = append(folds, []rune(a.fold)[0])
		}
		return uint16(a.class) | uint16(i)<<2
	}
	var stage1 []int
	var blocks [][blockSize]uint16
	number := map[[blockSize]uint16]int{{}: 0}
	blocks = append(blocks, [blockSize]uint16{})
	for base := rune(0); base <= maxRune; base += blockSize {
		var b [blockSize]uint16
		for i := range b {
			b[i] = entry(base + rune(i))
		}
		n, ok := number[b]
		if !ok {
			n = len(blocks)
			number[b] = n
			blocks = append(blocks, b)
		}
		stage1 = append(stage1, n)
	}
	if len(blocks) > 256 {
		log.Fatalf("%d blocks do not fit a byte", len(blocks))
	}
	return write(version, stage1, blocks, folds)
}

func write(version string, stage1 []int, blocks [][blockSize]uint16, folds []rune) []byte {
	var w bytes.Buffer
	fmt.Fprintf(&w, "// Code generated by gen/main.go from SQLite %s (FTS5, unicode61 remove_diacritics 2); DO NOT EDIT.\n\n", version)
	w.WriteString("package lexer\n\n")
	fmt.Fprintf(&w, "const blockBits = %d\n\n", blockBits)
	w.WriteString("// blockOf gives the block of a code point's high bits; blocks that are not\n// written are block 0: token characters that stay as they are.\n")
	fmt.Fprintf(&w, "var blockOf = [%d]uint8{\n", len(stage1))
	for i := 0; i < len(stage1); {
		if stage1[i] == 0 {
			i++
			continue
		}
		fmt.Fprintf(&w, "%#x:", i)
		for n := 0; i < len(stage1) && stage1[i] != 0 && n < 32; n++ {
			fmt.Fprintf(&w, " %d,", stage1[i])
			i++
		}
		w.WriteString("\n")
	}
	w.WriteString("}\n\n// blocks holds class | fold<<2 for each low part.\n")
	fmt.Fprintf(&w, "var blocks = [%d][1 << blockBits]uint16{\n", len(blocks))
	for i, b := range blocks {
		if i == 0 {
			continue
		}
		fmt.Fprintf(&w, "%d: {\n", i)
		for _, e := range b {
			fmt.Fprintf(&w, "%d, ", e)
		}
		w.WriteString("\n},\n")
	}
	fmt.Fprintf(&w, "}\n\n// folds are the code points that others become; 0 is dropped.\nvar folds = [%d]rune{\n", len(folds))
	for i := 0; i < len(folds); i += 32 {
		for _, r := range folds[i:min(i+32, len(folds))] {
			fmt.Fprintf(&w, "%#x, ", r)
		}
		w.WriteString("\n")
	}
	w.WriteString("}\n")
	return w.Bytes()
}
