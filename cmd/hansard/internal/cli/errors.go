package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/hansard-search/hansard/cmd/hansard/internal/term"
	"github.com/hansard-search/hansard/engine"
	"github.com/hansard-search/hansard/query"
)

// Codes of errors that only the command line has.
const (
	codeUsage       = "USAGE"
	codeInterrupted = "INTERRUPTED"
	codeOutput      = "OUTPUT_FAILED" // the answer could not be written
)

// Exit codes. Agents branch on the error's code, scripts on these.
const (
	exitOK          = 0
	exitNoMatch     = 1 // with --exit-status: nothing matched
	exitUsage       = 2 // usage, or a query that is not one
	exitNoArchive   = 3
	exitNotFound    = 4
	exitDamaged     = 5
	exitBusy        = 6
	exitPartial     = 7 // stopped early, or a part of the archive could not be read
	exitSource      = 8 // a named source is unreadable
	exitUnavailable = 9 // a capability that is off
	exitInternal    = 70
	exitInterrupted = 130
)

var exits = map[string]int{
	codeUsage:                    exitUsage,
	codeInterrupted:              exitInterrupted,
	codeOutput:                   exitBusy,
	engine.CodeArchiveMissing:    exitNoArchive,
	engine.CodeArchiveBusy:       exitBusy,
	engine.CodeArchiveDamaged:    exitDamaged,
	engine.CodeArchiveNewer:      exitDamaged,
	engine.CodeArchiveReadOnly:   exitBusy,
	engine.CodeDiskFull:          exitBusy,
	engine.CodeTooManyFiles:      exitBusy,
	engine.CodeArchiveReplaced:   exitBusy,
	engine.CodeClosed:            exitBusy,
	engine.CodeArchiveUnreadable: exitNoArchive,
	engine.CodeInvalidArgument:   exitUsage,
	engine.CodeInvalidCursor:     exitUsage,
	engine.CodeInvalidRef:        exitUsage,
	engine.CodeNotFound:          exitNotFound,
	engine.CodeAmbiguous:         exitNotFound,
	engine.CodeLaneUnavailable:   exitUnavailable,
	engine.CodeSourceMissing:     exitSource,
	engine.CodeInternal:          exitInternal,
}

// An errorDocument is what a fault looks like to a program.
type errorDocument struct {
	Error errorBody `json:"error"`
}

type errorBody struct {
	Code        string          `json:"code"`
	Message     string          `json:"message"`
	Field       *string         `json:"field"`
	Hint        string          `json:"hint"`
	Retryable   bool            `json:"retryable"`
	Position    *query.Position `json:"position"`
	Expected    []string        `json:"expected"`
	Suggestions []string        `json:"suggestions"`
}

// body describes err, and exit is its exit code.
func body(err error) (b errorBody, exit int) {
	b = errorBody{Code: engine.CodeInternal, Message: err.Error(), Expected: []string{}, Suggestions: []string{}}
	exit = exitInternal
	var q *query.Error
	var e *engine.Error
	switch {
	case errors.As(err, &q):
		b.Code, b.Message, b.Hint, b.Position, exit = q.Code, q.Message, q.Hint, &q.Position, exitUsage
		b.Field = optional(q.Field)
		b.Expected = append(b.Expected, q.Expected...)
		b.Suggestions = append(b.Suggestions, q.Suggestions...)
	case errors.As(err, &e):
		b.Code, b.Message, b.Hint, b.Retryable = e.Code, e.Message, e.Hint, e.Retryable
		b.Field = optional(e.Field)
		b.Suggestions = append(b.Suggestions, e.Suggestions...)
		if code, ok := exits[e.Code]; ok {
			exit = code
		}
	}
	return b, exit
}

// fail prints err and returns the exit code.
func (a *app) fail(err error) int {
	b, exit := body(err)
	if b.Code == engine.CodeArchiveMissing && a.flags.archive != "" {
		b.Hint = strings.Replace(b.Hint, "hansard ", "hansard --archive "+shellQuote(a.flags.archive)+" ", 1)
	}
	if a.flags.machine() {
		out, jsonErr := json.Marshal(errorDocument{b})
		if jsonErr != nil {
			out = []byte(`{"error":{"code":"INTERNAL","message":"the error could not be written"}}`)
		}
		fmt.Fprintf(term.JSON(a.Stderr), "%s\n", out)
		return exit
	}
	st := a.style(a.Stderr)
	fmt.Fprintf(a.Stderr, "%s %s\n", st.Red("error:"), term.Escape(b.Message))
	var q *query.Error
	var at *located
	if errors.As(err, &q) && errors.As(err, &at) && len(at.text) <= longestCaret {
		fmt.Fprintf(a.Stderr, "  %s\n", strings.ReplaceAll(term.Escape(q.Caret(at.text)), "\n", "\n  "))
	}
	if len(b.Suggestions) > 0 && !strings.Contains(b.Message+b.Hint, b.Suggestions[0]) {
		shown, more := b.Suggestions, ""
		if len(shown) > shownSuggestions {
			shown, more = shown[:shownSuggestions], ", …"
		}
		fmt.Fprintf(a.Stderr, "did you mean %s%s?\n", term.Escape(strings.Join(shown, ", ")), more)
	}
	if b.Hint != "" {
		fmt.Fprintf(a.Stderr, "hint: %s\n", term.Escape(b.Hint))
	}
	return exit
}

// shownSuggestions is how many suggestions a person gets to see.
const shownSuggestions = 5

// longestCaret is the longest query that is shown with a caret below.
const longestCaret = 200

// A located error is a fault in a query, with the text it is in.
type located struct {
	text string
	err  error
}

func (l *located) Error() string { return l.err.Error() }
func (l *located) Unwrap() error { return l.err }

// interruption is err, or what it is called if the user ended the command.
func interruption(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return &engine.Error{Code: codeInterrupted, Message: "interrupted", Retryable: true, Err: err}
	}
	return err
}

// unwritten is the error of an answer that could not be written, because of lost.
func unwritten(lost error) error {
	return &engine.Error{Code: codeOutput, Message: "the answer could not be written: " + lost.Error(),
		Hint: "what was to be done is done; see to the place that the output goes to", Retryable: true, Err: lost}
}

func usageError(err error) error {
	var known *engine.Error
	if errors.As(err, &known) {
		return err
	}
	var bad *pflag.InvalidValueError
	if errors.As(err, &bad) {
		kinds := map[string]string{"int": "a whole number", "bool": "true or false"}
		return badFlag(bad.GetFlag().Name, bad.GetValue(), cmp.Or(kinds[bad.GetFlag().Value.Type()], "another value"))
	}
	return &engine.Error{Code: codeUsage, Message: err.Error(), Hint: "see hansard --help", Err: err}
}

func badFlag(name, value, want string) error {
	return &engine.Error{Code: codeUsage, Field: name, Message: fmt.Sprintf("--%s cannot be %q", name, value), Hint: "it can be " + want}
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
