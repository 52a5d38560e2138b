package query

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// wide is a source in which so many words begin with "w", in blocks that hold every
// one of the common words.
func wide(words, blocks int) *fakeSource {
	var sessions []fakeSession
	for b := range blocks {
		var text strings.Builder
		for i := b; i < words; i += blocks {
			fmt.Fprintf(&text, "w%d ", i)
		}
		text.WriteString("alpha beta gamma")
		sessions = append(sessions, fakeSession{id: fmt.Sprintf("s%d", b), time: 1, blocks: []fakeBlock{{text: text.String()}}})
	}
	return newFake(sessions)
}

func runCode(t *testing.T, text string, o RunOptions, sources ...Source) (string, *Error) {
	t.Helper()
	_, err := Run(context.Background(), mustCompile(t, text), sources, o)
	var e *Error
	if err != nil && !errors.As(err, &e) {
		t.Fatalf("%s: %v", text, err)
	}
	if e == nil {
		return "", nil
	}
	return e.Code + " " + e.Field, e
}

func TestPrefixLimit(t *testing.T) {
	f := wide(300, 3)
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"w*", 300, ""},
		{"w*", 299, "QUERY_LIMIT prefix"},
		{"alpha w*", 299, "QUERY_LIMIT prefix"},
		{`"gamma w"*`, 299, "QUERY_LIMIT prefix"},
		{"alpha -w*", 299, "QUERY_LIMIT prefix"},
		{"w1*", 299, ""},
		{"w*", -1, ""},
		{"w*", 0, ""},
	} {
		got, e := runCode(t, c.text, RunOptions{Limits: Limits{Prefix: c.limit}}, f)
		if got != c.want {
			t.Errorf("%s with %d words per prefix: %q, want %q", c.text, c.limit, got, c.want)
		}
		if e != nil && (e.Hint == "" || !strings.HasPrefix(c.text[e.Position.Start:], "w") && !strings.HasPrefix(c.text[e.Position.Start:], `"gamma`) && !strings.HasPrefix(c.text[e.Position.Start:], "-w")) {
			t.Errorf("%s: error %+v does not say where and what to do", c.text, e)
		}
	}
}

func TestMemoryLimit(t *testing.T) {
	f := wide(300, 3)
	for _, c := range []struct {
		text  string
		limit int64
		want  string
	}{
		{"alpha", 10, "QUERY_LIMIT memory"},
		{"w*", 1 << 10, "QUERY_LIMIT memory"},
		{"w*", 0, ""},
		{"w*", -1, ""},
		{strings.Repeat("alpha beta ", 100), 1 << 20, "QUERY_LIMIT memory"},
		{strings.Repeat("alpha beta ", 100), 16 << 20, ""},
	} {
		if got, _ := runCode(t, c.text, RunOptions{Limits: Limits{Memory: c.limit}}, f); got != c.want {
			t.Errorf("%.20s within %d bytes: %q, want %q", c.text, c.limit, got, c.want)
		}
	}
}

// TestLimitOfManySources: the limit of a run is no fault of a source, however many
// work at once.
func TestLimitOfManySources(t *testing.T) {
	f := wide(100, 2)
	sources := []Source{f, f, f, f}
	if got, _ := runCode(t, "w*", RunOptions{Workers: 4, Limits: Limits{Prefix: 10}}, sources...); got != "QUERY_LIMIT prefix" {
		t.Errorf("got %q", got)
	}
}

// TestDeadline: a run ends soon after its context, wherever it is.
func TestDeadline(t *testing.T) {
	f := wide(20_000, 200)
	for _, text := range []string{"w*", `"gamma w"*`, "alpha w1* w2* w3*", "alpha -w*"} {
		least := time.Hour // of three, since others may have the processor
		for range 3 {
			ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
			start := time.Now()
			_, err := Run(ctx, mustCompile(t, text), []Source{f}, RunOptions{Limits: Limits{Prefix: -1}})
			least = min(least, time.Since(start))
			cancel()
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", text, err)
			}
		}
		if most := time.Second; least > most && !*long || least > most/10 && *long {
			t.Errorf("%s ended %v after it began", text, least)
		}
	}
}

// TestTermsWithinWords: a run of words without spaces costs as much as they do apart.
func TestTermsWithinWords(t *testing.T) {
	for text, want := range map[string]string{
		strings.Repeat("a-", MaxTerms-1) + "a":                                                      "",
		strings.Repeat("a-", MaxTerms) + "a":                                                        CodeTooManyTerms,
		`"` + strings.Repeat("a ", MaxTerms+1) + `"`:                                                CodeTooManyTerms,
		"b -" + strings.Repeat("a.", MaxTerms) + "c":                                                CodeTooManyTerms,
		strings.Repeat("a/b ", MaxTerms/2):                                                          "",
		strings.Repeat("a/b ", MaxTerms/2) + "c":                                                    CodeTooManyTerms,
		"(b OR " + strings.Repeat("a.", MaxTerms) + "c) d":                                          CodeTooManyTerms,
		"x NOT " + strings.Repeat("é_", MaxTerms) + "z tail":                                        CodeTooManyTerms,
		"actions where " + strings.Repeat("exit_code:>5 AND ", MaxTerms-1) + "exit_code:>5":         "",
		"actions where " + strings.Repeat("exit_code > 5 AND ", MaxTerms-1) + "exit_code > 5":       "",
		"sessions where NOT " + strings.Repeat("words > 5 OR ", MaxTerms) + "words between 5 and 6": CodeTooManyTerms,
	} {
		_, err := Compile(text, Options{Now: testNow})
		var e *Error
		got := ""
		if errors.As(err, &e) {
			got = e.Code
		}
		if got != want {
			t.Errorf("%.30s… (%d bytes): %q, want %q", text, len(text), got, want)
		}
	}
}

func TestClearErrors(t *testing.T) {
	for _, c := range []struct{ text, code, message, suggest string }{
		{"a)", CodeSyntax, "closing parenthesis without an opening one", ""},
		{"(a", CodeSyntax, "unclosed parenthesis", ""},
		{")", CodeSyntax, "closing parenthesis without an opening one", ""},
		{"a (b) c) d", CodeSyntax, "closing parenthesis without an opening one", ""},
		{"tag:a)", CodeSyntax, "closing parenthesis without an opening one", ""},
		{"has:foo", CodeInvalidValue, "unknown has 'foo'; recognized: attachments, code, document, image, paste, summary, text, thinking, tool_result, tool_use, tools", ""},
		{"has:past", CodeInvalidValue, "unknown has 'past'; recognized: attachments, code, document, image, paste, summary, text, thinking, tool_result, tool_use, tools", "has:paste"},
		{"has:Paste|TOOLS", "", "", ""},
	} {
		_, err := Compile(c.text, Options{Now: testNow})
		var e *Error
		if !errors.As(err, &e) {
			e = &Error{}
		}
		if e.Code != c.code || e.Message != c.message || strings.Join(e.Suggestions, " ") != c.suggest {
			t.Errorf("%s: %s %q %q, want %s %q %q", c.text, e.Code, e.Message, e.Suggestions, c.code, c.message, c.suggest)
		}
	}
}
