package query

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentedFields compares the tables in docs/query.md with the fields. On a
// difference it prints the table that belongs there.
func TestDocumentedFields(t *testing.T) {
	doc, err := os.ReadFile("../docs/query.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range Units() {
		if u.Later {
			continue
		}
		want := fieldTable(&u)
		_, rest, _ := strings.Cut(string(doc), "fields of "+u.Name.Plural()+": checked by TestDocumentedFields -->\n")
		_, rest, _ = strings.Cut(rest, "|---|\n") // a comment inside of a table would end it
		got, _, ok := strings.Cut(rest, "\n<!-- end of fields -->")
		if !ok || got != want {
			t.Errorf("the table of the fields of %s in docs/query.md is out of date; it should be\n%s", u.Name.Plural(), want)
		}
	}
	for _, code := range []string{CodeSyntax, CodeTooLong, CodeTooDeep, CodeTooManyTerms, CodeUnknownField, CodeAmbiguousOr,
		CodeInvalidValue, CodeInvalidDate, CodeNegation, CodeFieldScope, CodeNotSupportedYet} {
		if !strings.Contains(string(doc), "`"+code+"`") {
			t.Errorf("docs/query.md does not explain %s", code)
		}
	}
}

// fieldTable are the rows of the table of the fields of u; only those of sessions say
// whether a dash negates them.
func fieldTable(u *UnitSpec) string {
	var b strings.Builder
	for _, f := range u.Fields {
		if f.Hidden && f.Later {
			continue
		}
		rule, negatable := string(f.Match), ""
		switch {
		case f.Later:
			rule = "*later*"
		case f.BooleanOnly:
			rule += ", *Boolean*"
		}
		if u.Name == UnitSession {
			negatable = " |"
			if f.Negatable {
				negatable = "yes |"
			}
			negatable = " " + negatable
		}
		fmt.Fprintf(&b, "| `%s` | %s |%s %s: `%s` |\n", f.Name, rule, negatable, f.Description, f.Example)
	}
	return b.String()
}

// placeholder is what stands for a part of a query: P, A, unit, ….
var placeholder = regexp.MustCompile(`\b[A-Z]\b|unit\(|…`)

// TestDocumentedQueries: what docs/query.md shows in blocks, and the predicates that it
// shows in backquotes, are queries of this build.
func TestDocumentedQueries(t *testing.T) {
	doc, err := os.ReadFile("../docs/query.md")
	if err != nil {
		t.Fatal(err)
	}
	var queries []string
	for i, part := range strings.Split(string(doc), "```") {
		if strings.HasPrefix(part, "\n$ ") {
			continue // a session at a terminal, which the command line's tests repeat
		}
		if i%2 == 1 {
			queries = append(queries, strings.Split(strings.TrimSpace(part), "\n")...)
			continue
		}
		for j, code := range strings.Split(part, "`") {
			for _, start := range []string{"sessions where ", "messages where ", "exists ", "NOT exists ", "seq("} {
				if j%2 == 1 && strings.HasPrefix(code, start) && !placeholder.MatchString(code) {
					queries = append(queries, code)
				}
			}
		}
	}
	if len(queries) < 10 {
		t.Errorf("only %d queries are documented", len(queries))
	}
	for _, q := range queries {
		if _, err := Compile(q, Options{Now: testNow}); err != nil {
			t.Errorf("%s: %v", q, err)
		}
	}
	t.Logf("%d queries", len(queries))
}

// TestDocumentedGroups: the table of group fields and metrics is that of the units.
func TestDocumentedGroups(t *testing.T) {
	doc, err := os.ReadFile("../docs/query.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range Units() {
		if u.Later || !u.aggregates() || u.Name == UnitFile {
			continue
		}
		var own []string
		for _, g := range u.Groups {
			if !strings.HasPrefix(g, ownerPrefix) {
				own = append(own, "`"+g+"`")
			}
		}
		metrics := "none, `agg count` only"
		if len(u.Metrics) > 0 {
			metrics = "`" + strings.Join(u.Metrics, "` `") + "`"
		}
		if line := "| " + u.Name.Plural() + " | " + strings.Join(own, " ") + " | " + metrics + " |\n"; !strings.Contains(string(doc), line) {
			t.Errorf("docs/query.md lacks the line %s", line)
		}
	}
}
