package query

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestDocumentedFields compares the table in docs/query.md with the fields. On a
// difference it prints the table that belongs there.
func TestDocumentedFields(t *testing.T) {
	doc, err := os.ReadFile("../docs/query.md")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range sessionFields {
		if f.Hidden && f.Later {
			continue
		}
		rule := string(f.Match)
		switch {
		case f.Later:
			rule = "*later*"
		case f.BooleanOnly:
			rule += ", *Boolean*"
		}
		negatable := ""
		if f.Negatable {
			negatable = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s: `%s` |\n", f.Name, rule, negatable, f.Description, f.Example)
	}
	_, rest, _ := strings.Cut(string(doc), "TestDocumentedFields -->\n")
	got, _, ok := strings.Cut(rest, "<!-- end of fields -->")
	if !ok || got != b.String() {
		t.Errorf("the table of fields in docs/query.md is out of date; it should be\n%s", b.String())
	}
	for _, code := range []string{CodeSyntax, CodeTooLong, CodeTooDeep, CodeTooManyTerms, CodeUnknownField, CodeAmbiguousOr,
		CodeInvalidValue, CodeInvalidDate, CodeNegation, CodeFieldScope, CodeNotSupportedYet} {
		if !strings.Contains(string(doc), "`"+code+"`") {
			t.Errorf("docs/query.md does not explain %s", code)
		}
	}
}
