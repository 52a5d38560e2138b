package engine

import (
	"encoding/base64"
	"testing"

	"github.com/hansard-search/hansard/query"
)

// FuzzContinuation: a token is refused as INVALID_CURSOR, or names a place that makes a
// token which names the same place.
func FuzzContinuation(f *testing.F) {
	const text = "messages where role:user"
	plan, err := compile(text, testNow, nil)
	if err != nil {
		f.Fatal(err)
	}
	r := &rows{plan: plan}
	for _, c := range []continuation{
		{1, query.RowAnchor{SessionID: "codex-session:a", Place: 3}},
		{20, query.RowAnchor{Time: 1772355600000, HasTime: true, SessionID: "claude-code-session:\u017c\n\"", Place: 0}},
	} {
		token, err := r.encode(c)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(token)
	}
	for _, token := range []string{"", "?", "e30", "bnVsbA", base64.RawURLEncoding.EncodeToString([]byte(`{"v":1,"r":-1,"q":"` + r.requestHash() + `"}`)),
		base64.RawURLEncoding.EncodeToString([]byte(`{"v":1,"r":9223372036854775807,"t":-9223372036854775808,"p":9223372036854775807,"q":"` + r.requestHash() + `"}`))} {
		f.Add(token)
	}
	f.Fuzz(func(t *testing.T, token string) {
		c, err := r.decode(token)
		if err != nil {
			if codeOf(err) != CodeInvalidCursor {
				t.Errorf("%q: %v", token, err)
			}
			return
		}
		if c.rank < 1 || c.anchor.Place < 0 || !c.anchor.HasTime && c.anchor.Time != 0 {
			t.Fatalf("%q was taken for %+v", token, c)
		}
		again, err := r.encode(*c)
		if err != nil {
			t.Fatal(err)
		}
		if d, err := r.decode(again); err != nil || *d != *c {
			t.Errorf("%q: %+v became %+v, %v", token, c, d, err)
		}
	})
}
