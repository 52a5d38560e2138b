package owner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hansard-search/hansard/engine"
	"github.com/hansard-search/hansard/query"
)

// TestFieldsTravel fails when a field is added to what callers give or get as an
// error, so that nobody forgets to send it.
func TestFieldsTravel(t *testing.T) {
	for _, c := range []struct {
		of   any
		want string
	}{
		{engine.SearchRequest{}, "Query Lane Limit Offset Cursor Zone"},
		{engine.UnitRequest{}, "Expression Limit Offset Continuation Zone"},
		{engine.ImportRequest{}, "Home Env Paths Force DropRaw Progress"},
		{engine.Error{}, "Code Message Field Hint Retryable Suggestions Err"},
		{query.Error{}, "Code Message Field Hint Position Expected Suggestions"},
	} {
		var names []string
		for i := range reflect.TypeOf(c.of).NumField() {
			names = append(names, reflect.TypeOf(c.of).Field(i).Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%T has the fields %s; the protocol knows %s", c.of, got, c.want)
		}
	}
}

func TestErrorsTravel(t *testing.T) {
	full := &engine.Error{Code: "X", Message: "m \xff", Field: "f", Hint: "h", Retryable: true, Suggestions: []string{"a", "b"}}
	q := &query.Error{Code: "Q", Message: "q", Field: "f", Hint: "h", Position: query.Position{Start: 1, End: 3, Column: 2}, Expected: []string{"e"}, Suggestions: []string{"s"}}
	for _, err := range []error{full, q, errors.New("plain"), fmt.Errorf("read: %w", full), errors.Join(q, errors.New("and")),
		context.Canceled, fmt.Errorf("x: %w", context.DeadlineExceeded), errors.Join(full, context.Canceled)} {
		b, jsonErr := toJSON(failureOf(err))
		if jsonErr != nil {
			t.Fatal(jsonErr)
		}
		got := refusal(kindFailed, b)
		if got.Error() != err.Error() {
			t.Errorf("%q became %q", err, got)
		}
		for _, target := range []error{context.Canceled, context.DeadlineExceeded} {
			if errors.Is(err, target) != errors.Is(got, target) {
				t.Errorf("%q: is %v: %v", err, target, errors.Is(got, target))
			}
		}
		var a, b2 *engine.Error
		if errors.As(err, &a) != errors.As(got, &b2) || a != nil && cmp.Diff(*a, *b2) != "" {
			t.Errorf("%q: %+v became %+v", err, a, b2)
		}
		var c, d *query.Error
		if errors.As(err, &c) != errors.As(got, &d) || c != nil && cmp.Diff(*c, *d) != "" {
			t.Errorf("%q: %+v became %+v", err, c, d)
		}
	}
}

func TestZones(t *testing.T) {
	warsaw, err := time.LoadLocation("Europe/Warsaw")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	for _, l := range []*time.Location{nil, time.UTC, warsaw, time.Local, time.FixedZone("made up", -5400)} {
		got := zoneToWire(l).location()
		if (l == nil) != (got == nil) {
			t.Errorf("%v became %v", l, got)
		}
		if l != nil && at.In(l).Format(time.RFC3339) != at.In(got).Format(time.RFC3339) {
			t.Errorf("%v became %v", at.In(l), at.In(got))
		}
	}
}

// TestMerge: what was done in two parts is reported as if in one.
func TestMerge(t *testing.T) {
	a := &engine.Report{Added: 2, Updated: 1, Unchanged: 3, Messages: 10, Bytes: 7, Files: engine.FileCounts{Found: 9, Read: 4, Unchanged: 2}, Stopped: true}
	b := &engine.Report{Added: 4, Unchanged: 6, Messages: 20, Bytes: 5, Files: engine.FileCounts{Found: 9, Read: 3, Unchanged: 6}}
	got := merge(a, b, false)
	want := &engine.Report{Added: 6, Updated: 1, Unchanged: 3, Messages: 30, Bytes: 12, Files: engine.FileCounts{Found: 9, Read: 7, Unchanged: 2}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if merge(nil, b, false) != b || merge(a, nil, false) != a || merge(a, b, true) != b {
		t.Error("a part alone is not the whole")
	}
}

// TestHeadKeepsItsPayload: the payload's keys keep their order and its numbers theirs.
func TestHeadKeepsItsPayload(t *testing.T) {
	for _, payload := range []any{nil, json.RawMessage(`{"z":9007199254740993,"a":"<&>"}`)} {
		b, err := toJSON(engine.ReadingHead{Payload: payload})
		if err != nil {
			t.Fatal(err)
		}
		head, err := headFromWire(b)
		if err != nil || cmp.Diff(payload, head.Payload) != "" {
			t.Errorf("%s became %s, %v", payload, head.Payload, err)
		}
	}
}
