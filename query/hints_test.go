package query

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestHintsWork makes the errors of every field and of the transcripts: what a hint
// shows in backquotes, what a message names as an example, and what is suggested, are
// queries that work.
func TestHintsWork(t *testing.T) {
	var faulty []string
	for _, f := range sessionFields {
		for _, pattern := range []string{"F:", "F:5", "F:abc", "F:()", "F:>=", "F >", "F > 10", "F > abc", "F = 5", "F = yesterday", "F between 9 and 1",
			"F between today and yesterday", `F between "last week" and "last year"`, "-F:5", "-F:>=5", "-F:abc", "-F:true", `-F:"a b"`, "NOT F:5", "F:5 OR word",
			"F:10..20", "F < 0", "Fs:x", "xF:1", "F:bogus", "F > 10 word", "word F >= 3",
			"F != 5", "F!=5", "F !=5", "F!= 5", "F != 2026-01-15", "F != 5 word"} {
			faulty = append(faulty, strings.ReplaceAll(pattern, "F", f.Name))
		}
	}
	for _, u := range Units() {
		for _, f := range u.Fields {
			for _, pattern := range []string{"F:", "F:5", "F:()", "F:>=", "F >", "F > abc", "F = 5", "F = yesterday", "F between 9 and 1",
				"F between today and yesterday", "-F:5", "-F:>=5", "NOT F:5 word", "F < 0", "Fs:x", "F:bogus", "F != 5", "session.F:", "session.F > x"} {
				faulty = append(faulty, u.Name.Plural()+" where "+strings.ReplaceAll(pattern, "F", f.Name))
			}
		}
		faulty = append(faulty, u.Name.Plural()+" where", u.Name.Plural()+" where ~x", u.Name.Plural()+" where exists action(tool:x)")
	}
	faulty = append(faulty, transcribedErrors(t)...)
	kinds := map[string]int{}
	for _, text := range faulty {
		for kind, query := range shown(t, text) {
			kinds[kind]++
			if strings.HasSuffix(query, ":") {
				if f := LookupField(strings.TrimSuffix(query, ":")); f == nil || f.Later {
					t.Errorf("%q: %s %s is no field that works", text, kind, query)
				}
				continue
			}
			if err := runs(query, text); err != nil {
				t.Errorf("%q: %s %s: %v", text, kind, query, err)
			}
		}
	}
	for _, kind := range []string{"hint", "message", "suggestion 0"} {
		if kinds[kind] == 0 {
			t.Errorf("no %s showed a query", kind)
		}
	}
	t.Logf("%d faulty queries, shown %v", len(faulty), kinds)
}

// runs compiles what the error of a faulty query shows: as it stands or, if the query has a
// source, as a predicate of it.
func runs(query, faulty string) error {
	_, err := Compile(query, Options{Now: testNow})
	if source, _, ok := strings.Cut(faulty, " where "); ok && err != nil && LookupUnit(source) != nil {
		_, err = Compile(source+" where "+query, Options{Now: testNow})
	}
	if e := (*Error)(nil); errors.As(err, &e) && e.Code == CodeNotSupportedYet && strings.Contains(faulty, "where") {
		return nil // of a unit that does not run
	}
	return err
}

// shown are the queries that the error of a faulty query shows, by where.
func shown(t *testing.T, text string) map[string]string {
	t.Helper()
	_, err := Compile(text, Options{Now: testNow})
	var e *Error
	if err == nil || !errors.As(err, &e) {
		return nil
	}
	out := map[string]string{}
	for i, part := range strings.Split(e.Hint, "`") {
		if i%2 == 1 {
			out["hint"] = part
		}
	}
	if _, example, ok := strings.Cut(e.Message, ": e.g. "); ok {
		out["message"] = example
	}
	for i, s := range e.Suggestions {
		out["suggestion "+string(rune('0'+i))] = s
	}
	return out
}

// transcribedErrors are the queries of the transcript of errors.
func transcribedErrors(t *testing.T) []string {
	t.Helper()
	var b []byte
	for _, name := range []string{"errors", "predicate_errors", "predicate_edges"} {
		part, err := os.ReadFile("testdata/transcripts/" + name)
		if err != nil {
			t.Fatal(err)
		}
		b = append(b, part...)
	}
	var out []string
	for _, m := range regexp.MustCompile(`(?s)error\n(.*?)\n----`).FindAllStringSubmatch(string(b), -1) {
		out = append(out, m[1])
	}
	if len(out) == 0 {
		t.Fatal("no errors are transcribed")
	}
	return out
}
