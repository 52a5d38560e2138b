package owner

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hansard-search/hansard/engine"
)

// pair is an owner and a client of one archive, both in this process.
func pair(t *testing.T) (own, client *Archive, dir string) {
	t.Helper()
	tmp := socketDir(t)
	dir = filepath.Join(tmp, "archive")
	now := func() time.Time { return time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC) }
	own = attach(t, dir, Options{Engine: engine.Options{Now: now}})
	if _, err := own.Import(t.Context(), engine.ImportRequest{Paths: []string{write(t, tmp, "src", 6, 10, 1)}}); err != nil {
		t.Fatal(err)
	}
	client = attach(t, dir, Options{})
	if !own.Owned() || client.Owned() {
		t.Fatalf("owned: %v, %v", own.Owned(), client.Owned())
	}
	return own, client, dir
}

// TestAnswersAreEqual asks owner and client the same, errors included.
func TestAnswersAreEqual(t *testing.T) {
	defer noLeaks(t)()
	own, client, dir := pair(t)
	ctx := t.Context()
	warsaw, err := time.LoadLocation("Europe/Warsaw")
	if err != nil {
		t.Fatal(err)
	}
	first, err := own.Search(ctx, engine.SearchRequest{Query: "needle", Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, req := range []engine.SearchRequest{
		{}, {Query: "needle"}, {Query: "needle", Limit: 2, Cursor: *first.NextCursor}, {Query: "basket1* -tax3", Lane: "actions"},
		{Query: "nothingofthekind"}, {Query: "since:2026-03-01 tax1", Zone: warsaw}, {Query: "since:7d", Zone: time.FixedZone("here", 5400)},
		{Query: `"open`}, {Query: "nofield:x"}, {Query: "since:yesterdayish"}, {Query: "\xff\xfe \"bytes"}, {Limit: -3}, {Lane: "dream"}, {Cursor: "\xffno"}, {Offset: 2, Limit: 1},
		{Query: "(a OR repo:b) <&>"},
	} {
		a, aErr := own.Search(ctx, req)
		b, bErr := client.Search(ctx, req)
		if diff := cmp.Diff(document(t, a, aErr), document(t, b, bErr)); diff != "" {
			t.Errorf("search %+v: %s", req, diff)
		}
	}
	equalUnits(t, own, client)
	session := first.Hits[0]
	if text := transcript(t, client, session.Session.Ref); !strings.Contains(text, "needle") || !strings.Contains(text, `go test ./<tax>`) {
		t.Errorf("no transcript: %.200s", text)
	}
	for _, ref := range []string{session.Session.Ref, session.Match.Ref, "message:" + session.Match.MessageID, "run:" + session.Session.ID,
		"context-snapshot:" + session.Session.ID, "claude-code-session:", "nobody", "", "\xff"} {
		a, b := transcript(t, own, ref), transcript(t, client, ref)
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("read %q: %s", ref, diff)
		}
		if a, b := rawBytes(own, ref), rawBytes(client, ref); a != b {
			t.Errorf("raw %q: %.80q, %.80q", ref, a, b)
		}
	}
	aStats, aErr := own.Stats(ctx)
	bStats, bErr := client.Stats(ctx)
	if diff := cmp.Diff(document(t, aStats, aErr), document(t, bStats, bErr)); diff != "" {
		t.Errorf("stats: %s", diff)
	}
	aCheck, aErr := own.Check(ctx)
	bCheck, bErr := client.Check(ctx)
	if diff := cmp.Diff(document(t, aCheck, aErr), document(t, bCheck, bErr)); diff != "" {
		t.Errorf("check: %s", diff)
	}
	for _, req := range []engine.ImportRequest{{}, {Paths: []string{""}}, {Paths: []string{filepath.Join(dir, "..", "src")}}, {Paths: []string{"missing-folder"}}, {Home: filepath.Dir(dir)}} {
		a, aErr := own.Import(ctx, req)
		b, bErr := client.Import(ctx, req)
		if diff := cmp.Diff(document(t, a, nil), document(t, b, nil)); diff != "" {
			t.Errorf("import %+v: %s", req, diff)
		}
		if (aErr == nil) != (bErr == nil) || aErr != nil && document(t, nil, aErr) != document(t, nil, bErr) {
			t.Errorf("import %+v: %v, %v", req, aErr, bErr)
		}
	}
	var told engine.Progress
	r, err := client.Rebuild(ctx, func(p engine.Progress) { told = p })
	if err != nil || r.Sessions != 6 {
		t.Errorf("rebuild: %+v, %v (last progress %+v)", r, err, told)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if _, err := client.Search(ctx, engine.SearchRequest{}); codeOf(err) != engine.CodeClosed {
		t.Errorf("search after close: %v", err)
	}
	if _, err := client.Units(ctx, engine.UnitRequest{Expression: "messages where role:user"}); codeOf(err) != engine.CodeClosed {
		t.Errorf("units after close: %v", err)
	}
	if err := own.Close(); err != nil {
		t.Error(err)
	}
	checked(t, dir)
}

// equalUnits asks owner and client for the same rows, with all their pages.
func equalUnits(t *testing.T, own, client *Archive) {
	t.Helper()
	ctx := t.Context()
	warsaw, err := time.LoadLocation("Europe/Warsaw")
	if err != nil {
		t.Fatal(err)
	}
	first, err := own.Units(ctx, engine.UnitRequest{Expression: "actions where tool:bash", Limit: 4})
	if err != nil {
		t.Fatal(err)
	}
	if first.Total != 30 || first.Continuation == nil || len(first.Items) != 4 {
		t.Fatalf("%+v", first)
	}
	for _, req := range []engine.UnitRequest{
		{}, {Expression: "needle"}, {Expression: "messages where role:user"}, {Expression: "blocks where type:tool_use", Limit: 3, Offset: 2},
		{Expression: "actions where tool:bash", Limit: 4, Continuation: *first.Continuation}, {Expression: "actions where tool:read", Continuation: *first.Continuation},
		{Expression: "messages where role:nobody"}, {Expression: "messages where role:"}, {Expression: "messages where"}, {Expression: "files where path:x"},
		{Expression: "sessions where ~needle | blocks where type:text"}, {Expression: "messages where time >= 2026-03-01", Zone: warsaw},
		{Expression: "messages where \xff"}, {Expression: "actions where tool:bash", Continuation: "\xffno"}, {Expression: "actions where tool:bash", Limit: -3},
		{Expression: "actions where path:\"<&>\""},
	} {
		a, aErr := own.Units(ctx, req)
		b, bErr := client.Units(ctx, req)
		if diff := cmp.Diff(document(t, a, aErr), document(t, b, bErr)); diff != "" {
			t.Errorf("units %+v: %s", req, diff)
		}
	}
	req := engine.UnitRequest{Expression: "messages where words > 3", Limit: 7}
	seen := 0
	for turn := 0; ; turn++ { // each page is another process's
		env, err := []*Archive{own, client}[turn%2].Units(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		seen += len(env.Items)
		if env.Continuation == nil {
			if seen != env.Total || seen != 60 {
				t.Errorf("%d rows on all pages of %d", seen, env.Total)
			}
			break
		}
		req.Continuation = *env.Continuation
	}
}

// transcript is all that a reading gives.
func transcript(t *testing.T, a *Archive, ref string) string {
	r, err := a.Read(context.Background(), ref)
	if err != nil {
		return document(t, nil, err)
	}
	head, err := json.MarshalIndent(r.Head, "", "  ") // as the command line prints it
	if err != nil {
		t.Fatal(err)
	}
	out := string(head)
	for m, err := range r.Messages() {
		out += document(t, m, err)
		for _, b := range m.Blocks {
			out += b.Detail()
		}
	}
	if err := r.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	return out
}

func rawBytes(a *Archive, ref string) string {
	r, err := a.Raw(context.Background(), ref)
	if err != nil {
		return err.Error()
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// TestDropRawIsTheCallers: who asks to keep no source bytes gets that from an owner
// that keeps them.
func TestDropRawIsTheCallers(t *testing.T) {
	_, client, dir := pair(t)
	src := write(t, filepath.Dir(dir), "more", 1, 2, 9)
	if _, err := client.Import(t.Context(), engine.ImportRequest{Paths: []string{src}, DropRaw: true}); err != nil {
		t.Fatal(err)
	}
	env, err := client.Search(t.Context(), engine.SearchRequest{Query: "more"})
	if err != nil || env.Total != 1 {
		t.Fatalf("%+v, %v", env, err)
	}
	if _, err := client.Raw(t.Context(), env.Hits[0].Session.Ref); codeOf(err) != engine.CodeNotFound {
		t.Errorf("raw: %v, want NOT_FOUND", err)
	}
}
