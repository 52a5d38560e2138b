package owner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hansard-search/hansard/engine"
	"github.com/hansard-search/hansard/query"
)

// A failure is an error on its way, with the report of a call that got some way. Text
// may quote a query, so it is bytes.
type failure struct {
	Text        []byte          `json:"text"`  // of the whole error
	Kind        string          `json:"kind"`  // engine, query, or empty
	Ended       string          `json:"ended"` // canceled or deadline, if a context ended
	Code        string          `json:"code"`  // what follows is of the typed part
	Message     []byte          `json:"message"`
	Field       []byte          `json:"field"`
	Hint        []byte          `json:"hint"`
	Retryable   bool            `json:"retryable"`
	Position    query.Position  `json:"position"`
	Expected    [][]byte        `json:"expected"`
	Suggestions [][]byte        `json:"suggestions"`
	Report      json.RawMessage `json:"report,omitempty"`
}

func failureOf(err error) failure {
	f := failure{Text: []byte(err.Error())}
	switch {
	case errors.Is(err, context.Canceled):
		f.Ended = "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		f.Ended = "deadline"
	}
	var q *query.Error
	var e *engine.Error
	switch {
	case errors.As(err, &q):
		f.Kind, f.Code, f.Message, f.Field, f.Hint = "query", q.Code, []byte(q.Message), []byte(q.Field), []byte(q.Hint)
		f.Position, f.Expected, f.Suggestions = q.Position, toBytes(q.Expected), toBytes(q.Suggestions)
	case errors.As(err, &e):
		f.Kind, f.Code, f.Message, f.Field, f.Hint = "engine", e.Code, []byte(e.Message), []byte(e.Field), []byte(e.Hint)
		f.Retryable, f.Suggestions = e.Retryable, toBytes(e.Suggestions)
	}
	return f
}

// err is the error as the caller would have got it in the owner's process.
func (f *failure) err() error {
	var typed error
	switch f.Kind {
	case "query":
		typed = &query.Error{Code: f.Code, Message: string(f.Message), Field: string(f.Field), Hint: string(f.Hint), Position: f.Position,
			Expected: toStrings(f.Expected), Suggestions: toStrings(f.Suggestions)}
	case "engine":
		typed = &engine.Error{Code: f.Code, Message: string(f.Message), Field: string(f.Field), Hint: string(f.Hint), Retryable: f.Retryable,
			Suggestions: toStrings(f.Suggestions)}
	}
	var ended error
	switch f.Ended {
	case "canceled":
		ended = context.Canceled
	case "deadline":
		ended = context.DeadlineExceeded
	}
	if ended == nil && typed != nil && typed.Error() == string(f.Text) {
		return typed
	}
	return &remoteError{string(f.Text), []error{typed, ended}}
}

// A remoteError is an error of several parts from another process.
type remoteError struct {
	text  string
	parts []error // may hold nils
}

func (e *remoteError) Error() string { return e.text }

func (e *remoteError) Unwrap() []error {
	var out []error
	for _, p := range e.parts {
		if p != nil {
			out = append(out, p)
		}
	}
	return out
}

func toBytes(s []string) [][]byte {
	var out [][]byte
	for _, v := range s {
		out = append(out, []byte(v))
	}
	return out
}

func toStrings(b [][]byte) []string {
	var out []string
	for _, v := range b {
		out = append(out, string(v))
	}
	return out
}

// A lostError says that the owner went away before it had answered. What it had done
// of an import is in report, if it could still say so.
type lostError struct {
	report *engine.Report
	err    error
}

func (e *lostError) Error() string {
	return fmt.Sprintf("the owner of the archive went away: %v", e.err)
}
func (e *lostError) Unwrap() error { return e.err }

func isLost(err error) bool {
	var l *lostError
	return errors.As(err, &l)
}

var errBye = errors.New("it is closing")
