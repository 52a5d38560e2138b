package lexer

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

// A reference is the tokenizer that the package equals, in SQLite itself.
type reference struct{ db *sql.DB }

func openReference(t *testing.T) reference {
	t.Helper()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1) // every connection to :memory: is another database
	r := reference{db}
	r.exec(t, `CREATE VIRTUAL TABLE t USING fts5(x, tokenize='unicode61 remove_diacritics 2')`)
	r.exec(t, `CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')`)
	return r
}

func (r reference) exec(t *testing.T, query string) {
	t.Helper()
	if _, err := r.db.Exec(query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// insert indexes the texts as the rows 0, 1, 2, ….
func (r reference) insert(t *testing.T, texts []string) {
	t.Helper()
	r.exec(t, `BEGIN`)
	r.exec(t, `DELETE FROM t`)
	insert, err := r.db.Prepare(`INSERT INTO t(rowid, x) VALUES (?, ?)`)
	if err != nil {
		t.Fatal(err)
	}
	defer insert.Close()
	for i, text := range texts {
		if _, err := insert.Exec(i, text); err != nil {
			t.Fatalf("inserting %q: %v", text, err)
		}
	}
	r.exec(t, `COMMIT`)
}

// terms returns SQLite's terms of each text in the order of their positions.
func (r reference) terms(t *testing.T, texts []string) [][]string {
	t.Helper()
	r.insert(t, texts)
	rows, err := r.db.Query(`SELECT doc, "offset", term FROM v`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	all := make([][]string, len(texts))
	for rows.Next() {
		var doc, pos int
		var term string
		if err := rows.Scan(&doc, &pos, &term); err != nil {
			t.Fatal(err)
		}
		for len(all[doc]) <= pos {
			all[doc] = append(all[doc], "")
		}
		all[doc][pos] = term
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// differ reports the first positions where want, SQLite's terms, and ours differ.
func differ(t *testing.T, text string, want, got []string) {
	t.Helper()
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) || want[i] != got[i] {
			t.Errorf("%+q: terms from position %d are %+q, SQLite says %+q",
				text, i, got[min(i, len(got)):min(i+3, len(got))], want[min(i, len(want)):min(i+3, len(want))])
			return
		}
	}
}

// TestEveryScalarValueLive compares each scalar value, alone and between letters,
// with SQLite. The only allowed difference are the extra folds.
func TestEveryScalarValueLive(t *testing.T) {
	if testing.Short() {
		t.Skip("the golden digest stands for it")
	}
	ref := openReference(t)
	for _, c := range everyScalarValue {
		texts := scalarTexts(c.prefix, c.suffix)
		var diverged []string
		digest := sha256.New()
		for i, want := range ref.terms(t, texts) {
			got := Terms(texts[i])
			if len(got) != len(want) {
				differ(t, texts[i], want, got)
				continue
			}
			for j := range want {
				if want[j] != got[j] {
					diverged = append(diverged, want[j]+" "+got[j])
				}
			}
			digestTerms(digest, withExtraFolds(want))
		}
		if sum := hex.EncodeToString(digest.Sum(nil)); sum != c.digest {
			t.Errorf("%s: digest of SQLite's terms is %s, want %s", c.name, sum, c.digest)
		}
		fold := c.prefix + "ł" + c.suffix + " " + c.prefix + "l" + c.suffix
		if want := []string{fold, fold}; fmt.Sprint(diverged) != fmt.Sprint(want) {
			t.Errorf("%s: terms that differ from SQLite (SQLite's, ours): %+q, want %+q", c.name, diverged, want)
		}
	}
}

// alphabet holds what random texts are made of; each choice of a class is as
// likely as another, so that classes meet in every order.
var alphabet = []func(*rand.Rand) rune{
	func(r *rand.Rand) rune { return 'a' + r.Int32N(26) },
	func(r *rand.Rand) rune { return 'A' + r.Int32N(26) },
	func(r *rand.Rand) rune { return '0' + r.Int32N(10) },
	func(r *rand.Rand) rune { return []rune(" \t\n.,_-/'\"()[]{}\x00\x7f$%")[r.IntN(20)] },
	func(r *rand.Rand) rune { return 0x80 + r.Int32N(0x200-0x80) },   // Latin with diacritics
	func(r *rand.Rand) rune { return 0x300 + r.Int32N(0x70) },        // combining marks
	func(r *rand.Rand) rune { return 0x370 + r.Int32N(0x530-0x370) }, // Greek, Cyrillic
	func(r *rand.Rand) rune { return 0x590 + r.Int32N(0xE80-0x590) }, // Hebrew … Thai
	func(r *rand.Rand) rune { return 0x1AB0 + r.Int32N(0x550) },      // more marks, Latin additional
	func(r *rand.Rand) rune { return 0x2000 + r.Int32N(0x800) },      // punctuation, symbols
	func(r *rand.Rand) rune { return 0x3000 + r.Int32N(0x2000) },     // kana, Han
	func(r *rand.Rand) rune { return 0xA640 + r.Int32N(0x200) },      // Cyrillic and Latin extended
	func(r *rand.Rand) rune { return 0xFB00 + r.Int32N(0x500) },      // presentation, half widths
	func(r *rand.Rand) rune { return 0x10000 + r.Int32N(0x800) },     // Deseret and others
	func(r *rand.Rand) rune { return 0x1F300 + r.Int32N(0x700) },     // emoji
	func(r *rand.Rand) rune { return 0xE0000 + r.Int32N(0x200) },     // tags, selectors
	func(r *rand.Rand) rune { return []rune("łŁøđħßæſςİıµ")[r.IntN(12)] },
	func(r *rand.Rand) rune { return r.Int32N(0x110000) }, // surrogates become U+FFFD
}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(24) {
		draw := alphabet[r.IntN(len(alphabet))]
		for range 1 + r.IntN(3) {
			b.WriteRune(draw(r))
		}
	}
	return b.String()
}

func randomTexts(t *testing.T, n int) []string {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	texts := make([]string, n)
	for i := range texts {
		texts[i] = randomText(r)
	}
	return texts
}

// withExtraFolds makes SQLite's terms ours.
func withExtraFolds(terms []string) []string {
	for i, term := range terms {
		terms[i] = strings.ReplaceAll(term, "ł", "l")
	}
	return terms
}

// TestRandomTextsLive compares terms and positions with SQLite.
func TestRandomTextsLive(t *testing.T) {
	n := 120_000
	if testing.Short() {
		n = 10_000
	}
	texts := randomTexts(t, n)
	for i, want := range openReference(t).terms(t, texts) {
		differ(t, texts[i], withExtraFolds(want), Terms(texts[i]))
		if t.Failed() {
			return
		}
	}
}

// TestOffsetsLive compares start and end of each term with what SQLite's
// highlight function marks.
func TestOffsetsLive(t *testing.T) {
	ref := openReference(t)
	texts := randomTexts(t, 2000)
	ref.insert(t, texts)
	query, err := ref.db.Prepare(`SELECT highlight(t, 0, char(1), char(2)) FROM t WHERE t MATCH ? AND rowid = ?`)
	if err != nil {
		t.Fatal(err)
	}
	defer query.Close()
	compared := 0
	for i, text := range texts {
		if strings.ContainsAny(text, "\x00\x01\x02") { // highlight stops at a NUL
			continue
		}
		var want strings.Builder
		var phrases []string
		var s Scanner
		s.ResetString(text)
		at := 0
		for s.Next() {
			want.WriteString(text[at:s.Start()] + "\x01" + text[s.Start():s.End()] + "\x02")
			at = s.End()
			phrases = append(phrases, `"`+text[s.Start():s.End()]+`"`)
		}
		want.WriteString(text[at:])
		if len(phrases) == 0 {
			continue
		}
		var got string
		if err := query.QueryRow(strings.Join(phrases, " OR "), i).Scan(&got); err != nil {
			t.Fatalf("%+q: %v", text, err)
		}
		if got != want.String() {
			t.Fatalf("offsets in %+q: %+q, SQLite marks %+q", text, want.String(), got)
		}
		compared++
	}
	if compared < 1000 {
		t.Errorf("only %d texts compared", compared)
	}
}
