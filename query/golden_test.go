package query

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// TestTranscripts runs the files of testdata: parse prints the canonical form,
// plan the stages, explain the document, error the diagnostic.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/transcripts", func(t *testing.T, file string) {
		datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
			text := strings.TrimSuffix(d.Input, "\n")
			p, err := Compile(text, Options{Now: testNow})
			if (err != nil) != (d.Cmd == "error") {
				t.Errorf("%s: %s %q: %v", d.Pos, d.Cmd, text, err)
			}
			if err != nil {
				return diagnostic(text, err)
			}
			switch d.Cmd {
			case "plan":
				return p.Query.String() + "\n" + p.String()
			case "explain":
				b, err := p.Explain().JSON()
				if err != nil {
					t.Fatal(err)
				}
				return string(b)
			}
			t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
			return ""
		})
	})
}

func diagnostic(text string, err error) string {
	var e *Error
	if !errors.As(err, &e) {
		return "untyped: " + err.Error()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s: %s\n", e.Caret(text), e.Code, e.Message)
	for _, l := range []struct{ name, value string }{{"field", e.Field}, {"hint", e.Hint},
		{"expected", strings.Join(e.Expected, " ")}, {"suggestions", strings.Join(e.Suggestions, " ")}} {
		if l.value != "" {
			fmt.Fprintf(&b, "%s: %s\n", l.name, l.value)
		}
	}
	return b.String()
}

// TestRecognizedFields pins the list that the unknown-field error shows.
func TestRecognizedFields(t *testing.T) {
	const want = "action, assistant_messages, assistant_words, authored_user_messages, authored_user_words, contains, " +
		"cwd, duration_ms, has, id, lane, lineage, messages, near, origin, paste_messages, path, project, repo, root, " +
		"session, since, system_messages, tag, thinking_messages, title, tool, tool_messages, tool_use_messages, until, " +
		"user_messages, user_words, words"
	if got := strings.Join(recognized(), ", "); got != want {
		t.Errorf("recognized fields = %s, want %s", got, want)
	}
	_, err := Parse("text:css {session_id example}: refactor")
	if got, want := fmt.Sprint(err), "unknown query field 'text'; recognized fields: "+want; got != want {
		t.Errorf("error = %s, want %s", got, want)
	}
}

// TestFieldTable checks the laws of the table: sorted, described, with an example
// that parses and, unless the field is for later, binds.
func TestFieldTable(t *testing.T) {
	if !slices.IsSortedFunc(sessionFields, func(a, b FieldSpec) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the table is not sorted by name")
	}
	for _, f := range sessionFields {
		if f.Description == "" || f.Example == "" {
			t.Errorf("field %s has no description or example", f.Name)
		}
		text := f.Example
		if f.BooleanOnly {
			text += " AND root:true"
		}
		_, err := Compile(text, Options{Now: testNow})
		var e *Error
		if later := errors.As(err, &e) && e.Code == CodeNotSupportedYet; (err != nil) != f.Later || f.Later && !later {
			t.Errorf("example %q of field %s: %v", text, f.Name, err)
		}
		if !f.Later && len(f.Columns) == 0 && f.Match != MatchStored {
			t.Errorf("field %s has no column", f.Name)
		}
	}
}

func TestLimits(t *testing.T) {
	for text, code := range map[string]string{
		strings.Repeat("a", MaxBytes+1):                                     CodeTooLong,
		strings.Repeat("a", MaxBytes):                                       "",
		strings.Repeat("(", MaxDepth+1) + "a":                               CodeTooDeep,
		strings.Repeat("(", MaxDepth) + "a" + strings.Repeat(")", MaxDepth): "",
		strings.Repeat("a ", MaxTerms):                                      "",
		strings.Repeat("a ", MaxTerms+1):                                    CodeTooManyTerms,
		"tag:" + strings.Repeat("a|", MaxTerms) + "b":                       CodeTooManyTerms,
		"a\xffb": CodeSyntax,
	} {
		_, err := Compile(text, Options{})
		got := ""
		var e *Error
		if errors.As(err, &e) {
			got = e.Code
		}
		if got != code {
			t.Errorf("Compile(%.20q…, %d bytes): code %q, want %q", text, len(text), got, code)
		}
	}
}

func TestDates(t *testing.T) {
	berlin := time.FixedZone("", 3600)
	now := time.Date(2026, 3, 31, 12, 30, 0, 0, berlin) // a Tuesday
	tests := []struct{ in, lo, hi string }{
		{"12h", "2026-03-31T00:30:00", ""},
		{"7D", "2026-03-24T12:30:00", ""},
		{"2w", "2026-03-17T12:30:00", ""},
		{"1m", "2026-02-28T12:30:00", ""},
		{"13m", "2025-02-28T12:30:00", ""},
		{"3 days ago", "2026-03-28T12:30:00", ""},
		{"1 week ago", "2026-03-24T12:30:00", ""},
		{"now", "2026-03-31T12:30:00", ""},
		{"today", "2026-03-31T00:00:00", "2026-04-01T00:00:00"},
		{"Yesterday", "2026-03-30T00:00:00", "2026-03-31T00:00:00"},
		{"last  week", "2026-03-23T00:00:00", "2026-03-30T00:00:00"},
		{"this week", "2026-03-30T00:00:00", "2026-04-06T00:00:00"},
		{"last month", "2026-02-01T00:00:00", "2026-03-01T00:00:00"},
		{"last year", "2025-01-01T00:00:00", "2026-01-01T00:00:00"},
		{"2024", "2024-01-01T00:00:00", "2025-01-01T00:00:00"},
		{"2024-02", "2024-02-01T00:00:00", "2024-03-01T00:00:00"},
		{"2024-02-29", "2024-02-29T00:00:00", "2024-03-01T00:00:00"},
		{"2024-02-29T10:11:12", "2024-02-29T10:11:12", ""},
		{"2024-02-29 10:11", "2024-02-29T10:11:00", ""},
		{"2024-02-29T10:11:12Z", "2024-02-29T11:11:12", ""},
		{"2024-02-29t10:11:12+03:00", "2024-02-29T08:11:12", ""},
		{"2023-02-29", "bad", ""}, {"soon", "bad", ""}, {"7", "bad", ""}, {"7x", "bad", ""}, {"", "bad", ""},
		{"9999999d", "bad", ""}, {"99999y", "bad", ""}, {"2026-13", "bad", ""}, {"-1d", "bad", ""},
	}
	for _, tt := range tests {
		iv, ok := parseDate(tt.in, now)
		if !ok || tt.lo == "bad" {
			if ok != (tt.lo != "bad") {
				t.Errorf("parseDate(%q) = %v, %v", tt.in, iv, ok)
			}
			continue
		}
		lo := mustTime(t, tt.lo, berlin)
		hi := lo
		if tt.hi != "" {
			hi = mustTime(t, tt.hi, berlin) - 1
		}
		if iv.lo != lo || iv.hi != hi {
			t.Errorf("parseDate(%q) = %v … %v, want %v … %v", tt.in, time.UnixMilli(iv.lo).In(berlin), time.UnixMilli(iv.hi).In(berlin), tt.lo, tt.hi)
		}
	}
}

func mustTime(t *testing.T, s string, loc *time.Location) int64 {
	t.Helper()
	v, err := time.ParseInLocation("2006-01-02T15:04:05", s, loc)
	if err != nil {
		t.Fatal(err)
	}
	return v.UnixMilli()
}

func FuzzParseDate(f *testing.F) {
	for _, s := range []string{"7d", "last week", "2024-02-29", "2024-02-29T10:11:12.5+01:00", "99999m"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if iv, ok := parseDate(s, testNow); ok && iv.lo > iv.hi {
			t.Errorf("parseDate(%q) = %v", s, iv)
		}
	})
}
