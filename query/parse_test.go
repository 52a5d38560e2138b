package query

import (
	"errors"
	"testing"
)

// TestParsePrint pins what a query means by its canonical form.
func TestParsePrint(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", ""},
		{"foo bar", "foo bar"},
		{"foo or bar", `foo "or" bar`},
		{"foo and bar", `foo "and" bar`},
		{"foo And bar", `foo "And" bar`},
		{"foo OR bar", "foo OR bar"},
		{"a b OR c", "a b OR c"},
		{"a AND b OR c", "a b OR c"},
		{"a OR b AND c", "a OR b c"},
		{"a NOT b c", "a NOT b c"},
		{"a b NOT c", "a b NOT c"},
		{"a AND b NOT c", "a (b NOT c)"},
		{"a AND NOT b", "a NOT b"},
		{"a NOT b NOT c", "a NOT b NOT c"},
		{"a NOT (b NOT c)", "a NOT (b NOT c)"},
		{"(a OR b) c", "(a OR b) c"},
		{"((a))", "a"},
		{"(a OR (b OR c))", "a OR b OR c"},
		{`"null pointer"`, `"null pointer"`},
		{`"null poi"*`, `"null poi"*`},
		{"bar-baz", "bar-baz"},
		{"well-known refactor*", "well-known refactor*"},
		{"well-known*", "well-known*"},
		{"w*rd", `"w*rd"`},
		{"-foo -\"bar baz\"", `-foo -"bar baz"`},
		{"--foo", `-"-foo"`},
		{"- foo", `"-" foo`},
		{`foo"bar"`, `foo bar`},
		{"main()", `"main()"`},
		{"(main() OR foo)", `"main()" OR foo`},
		{"foo(bar OR baz)", `"foo(bar" OR "baz)"`},
		{"10:30", `"10:30"`},
		{"http://x/y", `"http://x/y"`},
		{"note: this", `"note:" this`},
		{"timeout datetime wordsmith messages", `timeout datetime wordsmith "messages"`},
		{"words between friends and foes", `"words" "between" friends "and" foes`},
		{"repo:x tag:(a|b) since:7d foo", "repo:x tag:a|b since:7d foo"},
		{"foo repo:x bar", "repo:x foo bar"},
		{"REPO:X", "repo:X"},
		{"-origin:codex-session", "-origin:codex-session"},
		{"tag:a|b", "tag:a|b"},
		{`tag:("a|b"| c d )`, `tag:"a|b"|"c d"`},
		{`title:"a b"`, `title:"a b"`},
		{`since:"last week"`, `since:"last week"`},
		{"repo:{x}", `repo:"{x}"`},
		{"path:a(1).go", `path:"a(1).go"`},
		{"messages:>=5 words:<=500", "messages >= 5 words <= 500"},
		{"Messages:>5", "messages > 5"},
		{"messages >5", "messages > 5"},
		{"messages>5", "messages > 5"},
		{"words = 7", "words = 7"},
		{"messages between 3 and 8", "messages between 3 and 8"},
		{"date >= 2026-01-01", "date >= 2026-01-01"},
		{"date:>=2026-01-01", "date >= 2026-01-01"},
		{"date between 2026-01-01 and today", "date between 2026-01-01 and today"},
		{"repo:a OR repo:b", "repo:a OR repo:b"},
		{"repo:a or repo:b", "repo:a OR repo:b"},
		{"tool:bash and not tag:stale", "tool:bash AND NOT tag:stale"},
		{"tool:bash AND NOT tag:stale", "tool:bash AND NOT tag:stale"},
		{"NOT NOT tag:x", "NOT NOT tag:x"},
		{"foo NOT tag:x", "NOT tag:x foo"},
		{"(repo:a OR repo:b) foo", "(repo:a OR repo:b) foo"},
		{"(repo:a OR repo:b) AND NOT tag:c foo OR bar", ""},
		{"repo:a AND (tag:b OR tag:c)", "repo:a AND (tag:b OR tag:c)"},
		{"repo:a OR tag:b AND -foo", "repo:a OR (tag:b AND -foo)"},
		{"repo:x AND foo", "repo:x foo"},
		{"repo:x foo OR bar", "repo:x foo OR bar"},
		{"messages >= 5 AND messages <= 20", "messages >= 5 AND messages <= 20"},
		{"deploy with caveats", `deploy "with" caveats`},
		{"~/src", `"~/src"`},
		{`~"/src"* a`, `~"/src"* a`},
		{"fn seq(n) -> Vec", `-">" fn "seq(n)" Vec`},
		{"seq(1, 9)", `"seq(1," "9)"`},
		{"seq(path: str)", `"seq(path:" "str)"`},
		{"foo seq(tool:(a|b) -> tool:c)", "seq(tool:a|b -> tool:c) foo"},
		{"a|b", `"a|b"`},
		{"foo(bar, baz) more", `"foo(bar," "baz)" more`},
		{`smile ":)"`, `smile ":)"`},
		{"***", `"***"`},
	}
	for _, tt := range tests {
		q, err := Parse(tt.in)
		if tt.in == "(repo:a OR repo:b) AND NOT tag:c foo OR bar" {
			if err != nil {
				t.Errorf("Parse(%q) = %v", tt.in, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("Parse(%q) = %v, want %q", tt.in, err, tt.want)
			continue
		}
		if got := q.String(); got != tt.want {
			t.Errorf("Parse(%q).String() = %q, want %q", tt.in, got, tt.want)
		}
		checkRoundTrip(t, q)
	}
}

func checkRoundTrip(t *testing.T, q *Query) {
	t.Helper()
	again, err := Parse(q.String())
	if err != nil {
		t.Errorf("Parse(%q) printed as %q: %v", q.Source, q.String(), err)
	} else if !Equal(q, again) {
		t.Errorf("Parse(%q) printed as %q, which parses to %q", q.Source, q.String(), again.String())
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range committedQueries {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if _, err := checkParse(in); err != nil {
			t.Fatalf("Parse(%q): %v", in, err)
		}
		q, err := Parse(in)
		if err != nil {
			var e *Error
			errors.As(err, &e)
			_ = e.Caret(in)
			return
		}
		if p, err := Bind(q, Options{Now: testNow}); err == nil {
			_, _ = p.String(), p.Explain()
		} else if e := (*Error)(nil); !errors.As(err, &e) {
			t.Fatalf("Bind(%q): untyped error %#v", in, err)
		}
	})
}
