package demo

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hansard-search/hansard/engine"
)

var rewrite = flag.Bool("rewrite", false, "write the golden file anew")

// labelled are questions that a person might ask of the demo archive, and the
// beginning of the title of the session that answers each.
var labelled = []struct{ query, title string }{
	{"upload timeout", "Uploads over 50 MB"},
	{"runbook upload", "write a runbook"},
	{"quota two uploads", "users can exceed their quota"},
	{"connection reset nightly", "Why does the nightly job"},
	{"migration column", "The quota migration fails"},
	{"retry backoff", "add a retry with exponential"},
	{"dark theme flash", "The login page flashes"},
	{"formularz logowania", "Przetłumacz formularz"},
	{"lint slow", "npm run lint takes 90"},
	{"cart cent", "cart total is off"},
	{`"null pointer exception"`, "Null pointer exception when"},
	{"refactor AND schema NOT test", "Refactor the scanner"},
	{"profile scanner", "profile the scanner"},
	{"csv semicolons", "Add a CSV export"},
	{"goroutine leak", "Our service leaks goroutines"},
	{"deadlock shutdown", "the server hangs on shutdown"},
	{"rate limit flaky", "the rate limit test is flaky"},
	{"backup restore", "Restore yesterday's backup"},
}

// TestRelevance holds the rank of the right session for each question, and recall
// and mean reciprocal rank over all of them, as a golden file: a change of ranking
// shows up as a difference to be reviewed.
func TestRelevance(t *testing.T) {
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	if _, err := Write(home); err != nil {
		t.Fatal(err)
	}
	e, err := engine.Open(filepath.Join(dir, "archive"), engine.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Import(context.Background(), engine.ImportRequest{Home: home}); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	at1, at5, mrr := 0, 0, 0.0
	for _, l := range labelled {
		env, err := e.Search(context.Background(), engine.SearchRequest{Query: l.query, Limit: 50})
		if err != nil {
			t.Fatal(err)
		}
		rank := 0
		for i, h := range env.Hits {
			if strings.HasPrefix(h.Session.Title, l.title) {
				rank = i + 1
				break
			}
		}
		if rank == 1 {
			at1++
		}
		if rank >= 1 && rank <= 5 {
			at5++
		}
		if rank > 0 {
			mrr += 1 / float64(rank)
		}
		fmt.Fprintf(&out, "%2d of %2d  %-32s %s\n", rank, env.Total, l.query, l.title)
	}
	n := float64(len(labelled))
	fmt.Fprintf(&out, "recall@1 %.3f  recall@5 %.3f  MRR %.3f\n", float64(at1)/n, float64(at5)/n, mrr/n)
	golden := filepath.Join("testdata", "relevance.txt")
	if *rewrite {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("ranking changed; with -rewrite it becomes the golden file:\n%s\nwas:\n%s", out.String(), want)
	}
}
