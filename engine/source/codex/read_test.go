package codex

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/source"
)

const small = `{"timestamp":"2026-01-05T08:00:00.000Z","type":"session_meta","payload":{"id":"s"}}
{"timestamp":"2026-01-05T08:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":"hi"}}
`

// failing fails at the call that its name says.
type failing struct {
	source.SessionSink
	at string
}

var errSink = errors.New("sink is full")

func (f failing) fail(at string) error {
	if f.at == at {
		return errSink
	}
	return nil
}

func (f failing) Session(archive.Origin, string) (source.SessionSink, error) {
	return f, f.fail("session")
}
func (f failing) Problem(source.Problem)         {}
func (f failing) Message(*archive.Message) error { return f.fail("message") }
func (f failing) Finish(*archive.Session) error  { return f.fail("finish") }

func TestSinkErrors(t *testing.T) {
	for _, at := range []string{"session", "message", "finish"} {
		_, err := Format{}.Read(context.Background(), fileOf("rollout-x.jsonl", small), source.Limits{}, failing{at: at})
		if !errors.Is(err, errSink) {
			t.Errorf("error at %s: %v", at, err)
		}
	}
}

func TestReadErrors(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (Format{}).Read(ctx, fileOf("a", small), source.Limits{}, &collector{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	errOpen := errors.New("gone")
	f := source.File{Path: "a", Open: func() (io.ReadCloser, error) { return nil, errOpen }}
	if _, err := (Format{}).Read(context.Background(), f, source.Limits{}, &collector{}); !errors.Is(err, errOpen) {
		t.Errorf("open: %v", err)
	}
}

func TestForeignFileHasNoSession(t *testing.T) {
	c, n := read(t, fileOf("a.jsonl", `{"a":1}`+"\n"+`7`+"\n"))
	if len(c.sessions) != 0 || n.Read != 2 || n.Skipped != 2 {
		t.Errorf("%d sessions, records %+v", len(c.sessions), n)
	}
}

func TestIndexTitle(t *testing.T) {
	for _, c := range []struct{ name, title, titleSource string }{
		{"Greeting", "Greeting", "origin"},
		{"hi", "hi", "heuristic"},
		{"", "", ""},
	} {
		got := &collector{}
		fm := Format{Title: func(native string) string {
			if native != "s" {
				t.Errorf("asked for %q", native)
			}
			return c.name
		}}
		if _, err := fm.Read(context.Background(), fileOf("a", small), source.Limits{}, got); err != nil {
			t.Fatal(err)
		}
		if h := got.sessions[0].head; h.Title != c.title || h.TitleSource != c.titleSource {
			t.Errorf("index says %q: title %q by %q", c.name, h.Title, h.TitleSource)
		}
	}
}

// TestLongRecord checks that a record above the limit costs only itself.
func TestLongRecord(t *testing.T) {
	long := `{"timestamp":"2026-01-05T08:00:02.000Z","type":"compacted","payload":{"message":"` + strings.Repeat("x", 300<<10) + `"}}` + "\n"
	c := &collector{}
	n, err := Format{}.Read(context.Background(), fileOf("a", small+long+small), source.Limits{RecordBytes: 64 << 10}, c)
	if err != nil {
		t.Fatal(err)
	}
	checkLaws(t, "long", c, n)
	if n.Rejected != 1 || n.Read != 5 || len(c.sessions[0].messages) != 2 {
		t.Errorf("records %+v, %d messages", n, len(c.sessions[0].messages))
	}
}

// TestBrief bounds an event's payload.
func TestBrief(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 20) + `1` + strings.Repeat(`}`, 20)
	text := `{"timestamp":"2026-01-05T08:00:00.000Z","type":"event_msg","payload":{"type":"error","message":"` + strings.Repeat("é", 5000) +
		`","deep":` + deep + `,"list":[` + strings.Repeat("1,", 5000) + `1]}}` + "\n"
	c, _ := read(t, fileOf("a", small+text))
	e := c.sessions[0].head.Events[0]
	if len(e.Payload) > 2*briefText || len(e.Summary) > 2*summaryBytes || !strings.Contains(e.Payload, "…") {
		t.Errorf("payload of %d bytes, summary of %d", len(e.Payload), len(e.Summary))
	}
}
