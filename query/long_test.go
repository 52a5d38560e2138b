package query

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// long asks for the full number of executions.
var long = flag.Bool("long", false, "ten million random queries through the parser instead of 20,000")

// testSeed repeats what a log tells.
var testSeed = flag.Uint64("seed", 0, "seed of the run through the parser; 0 means a new one")

// checkParse checks the laws of the parser on one text: no panic; an error is typed
// and lies in the text; a query prints as text that parses to an equal one.
func checkParse(in string) (parsed bool, err error) {
	q, err := Parse(in)
	if err != nil {
		return false, checkError(in, err)
	}
	text := q.String()
	if len(text) > MaxBytes { // quotes and escapes made it longer
		return true, nil
	}
	again, err := Parse(text)
	if err != nil {
		return true, fmt.Errorf("printed as %q: %w", text, err)
	}
	if !Equal(q, again) {
		return true, fmt.Errorf("printed as %q, which parses to %q", text, again.String())
	}
	return true, nil
}

func checkError(in string, err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Code == "" || e.Message == "" {
		return fmt.Errorf("untyped error %#v", err)
	}
	if p := e.Position; p.Start < 0 || p.End < p.Start || p.End > len(in) || p.Column < 1 {
		return fmt.Errorf("%w: at %+v", err, p)
	}
	return nil
}

// committedQueries are what fuzzing and the mutations start from.
var committedQueries = []string{
	"", "foo bar", `a OR (b NOT "c d") AND e*`, "repo:x tag:(a|b) -foo", "messages between 3 and 8",
	"repo:a OR NOT tag:b", "date >= 2026-01-01 x", `f"\u00e9"`, "(", "a))", "-", "--x*", "tag:a|\"b\"",
	"tag:a OR tag:b AND -foo", "NOT tag:a AND and foo", "and tag:a or not tag:b", "x with messages[a]",
	"(repo:a OR repo:b) AND NOT tag:c foo OR bar", "words>=7 until:\"last week\" -origin:codex-session", "foo(bar, baz) :)",
	"sessions where repo:a AND words > 3", "a | count by repo", "has:paste -has:tools root:false", `"\ud83d\ude00"* -"a b"`,
	`"\ud83dude00é"`, "tag:a AND NOT NOT tag:b", `date >= "repo:" x`,
	"sessions where (repo:a OR -tag:b) AND NOT ~\"a b\"* | actions where tool:bash|none AND session.date:>=2026-01",
	"sessions where seq((tool:edit OR tool:write) AND session.repo:x ->[next] action:shell -> [within:5m] exit_code >= -1)",
	"foo exists message(role:user AND words between 3 and 8 OR -session.tag:a) seq(is_error:true -> NOT tool:x AND type:y) -bar",
	"FILES  WHERE path:\"a b\"|c and not time < yesterday", "blocks where type:(code|text) | count", "exists action(exit_code:=-1) OR ~foo*",
	"messages where exists block(type:x)", "sessions where seq(action:shell)", "runs where status:x", "assertion where value.a.b:1",
	"observed-events where kind:x | sessions where a", "sessions where NOT (NOT NOT exists file(path:x))", "~/src ~\"~\" ~*** -~x", `~"/src"* ~"/"`,
}

// queryPieces are what random queries are made of.
var queryPieces = []string{
	"foo", "Bar", "a", "NOT", "AND", "OR", "not", "and", "or", "between", "with", "where", "repo:", "tag:", "-tag:a", "words", "date", ">=", "<", "=",
	"3", "-1", "2026-01-01", "7d", "(", ")", "((", "))", "|", ":", "::", "\"", `"a b"`, `"\u00e9"`, `\`, "*", "**", "-", "--", "é", "日本", "\u0301", "\x00", "\xff", "\n", "\t",
	"main()", "http://x/y", "[", "]", "{", "}", "~", "^", "tag:(a|b)", "unknown:x", "has:paste", "root:true", "id:", "messages>5",
	"sessions where ", "files", "exists", "exists action(", "seq(tool:a", "->", "-> [within:5m] ", "~", "~foo", "~\"/b\"*", "session.tag:a",
	"exists messages (role:user OR words > 5)", "seq(tool:a AND NOT path:b -> [next] session.words:>5)", "tool:none", "exit_code", "time",
}

func makeQuery(r *rand.Rand) string {
	var b strings.Builder
	if r.IntN(3) == 0 {
		return mutate(r, committedQueries[r.IntN(len(committedQueries))])
	}
	for range 1 + r.IntN(10) {
		b.WriteString(queryPieces[r.IntN(len(queryPieces))])
		if r.IntN(3) > 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func mutate(r *rand.Rand, s string) string {
	b := []byte(s)
	for range 1 + r.IntN(3) {
		if len(b) == 0 || r.IntN(3) == 0 {
			i := r.IntN(len(b) + 1)
			b = append(b[:i:i], append([]byte(queryPieces[r.IntN(len(queryPieces))]), b[i:]...)...)
			continue
		}
		i := r.IntN(len(b))
		switch r.IntN(3) {
		case 0:
			b[i] = byte(r.Uint32())
		case 1:
			b = append(b[:i], b[i+1:]...)
		case 2:
			b = append(b, b[i:]...)
		}
	}
	return string(b)
}

// TestManyParses is FuzzParse without the fuzz engine, on all processors.
func TestManyParses(t *testing.T) {
	total := 20_000
	if *long {
		total = 10_000_000
	}
	workers := runtime.GOMAXPROCS(0)
	seed := cmp.Or(*testSeed, uint64(time.Now().UnixNano()))
	t.Logf("seed %d, %d workers", seed, workers)
	start := time.Now()
	parsed := make([]int, workers)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(w)))
			for i := range total / workers {
				in := makeQuery(r)
				ok, err := checkParse(in)
				if err != nil {
					errs[w] = fmt.Errorf("worker %d, execution %d: Parse(%q): %w", w, i, in, err)
					return
				}
				if ok {
					parsed[w]++
				}
			}
		})
	}
	wg.Wait()
	sum := 0
	for w := range workers {
		sum += parsed[w]
		if errs[w] != nil {
			t.Error(errs[w])
		}
	}
	t.Logf("%d executions, %d of them queries, in %v", total/workers*workers, sum, time.Since(start).Round(time.Millisecond))
	if sum < total/10 {
		t.Errorf("only %d of %d texts are queries", sum, total)
	}
}
