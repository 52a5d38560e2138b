package query

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The codes of [Error]. Callers branch on them; messages may gain words.
const (
	CodeSyntax          = "QUERY_SYNTAX"           // the text is not a query
	CodeTooLong         = "QUERY_TOO_LONG"         // longer than MaxBytes
	CodeTooDeep         = "QUERY_TOO_DEEP"         // nested deeper than MaxDepth
	CodeTooManyTerms    = "QUERY_TOO_MANY_TERMS"   // more words and values than MaxTerms
	CodeLimit           = "QUERY_LIMIT"            // the run would cost more than its limits
	CodeUnknownField    = "UNKNOWN_FIELD"          // name:value with a name nobody declared
	CodeAmbiguousOr     = "AMBIGUOUS_OR"           // OR whose operands cannot be told
	CodeInvalidValue    = "INVALID_VALUE"          // a value outside its field's kind or vocabulary
	CodeInvalidDate     = "INVALID_DATE"           // a date that cannot be read
	CodeNegation        = "NEGATION_NOT_SUPPORTED" // -field: where the field forbids it
	CodeFieldScope      = "FIELD_NOT_SUPPORTED"    // a known field in the wrong kind of query
	CodeNotSupportedYet = "NOT_SUPPORTED_YET"      // a known form that this build cannot run
)

// A Position is a range of bytes of the query text, and where it starts for a
// reader: Column counts code points from 1.
type Position struct {
	Start  int `json:"start"`
	End    int `json:"end"`
	Column int `json:"column"`
}

// An Error says what is wrong with a query, where, and what would be right. It is
// the only error type that [Parse] and [Bind] return.
type Error struct {
	Code        string
	Message     string
	Field       string // the field concerned, or ""
	Hint        string // one thing to do about it, or ""
	Position    Position
	Expected    []string // what could stand at Position, or nil
	Suggestions []string // whole replacements for the text at Position, or nil
}

func (e *Error) Error() string { return e.Message }

// Caret renders text with a line of carets under the position of e: two lines
// for a terminal of fixed width. Tabs and newlines are shown as spaces.
func (e *Error) Caret(text string) string {
	start := min(max(e.Position.Start, 0), len(text))
	end := min(max(e.Position.End, start), len(text))
	clean := strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, text)
	return clean + "\n" + strings.Repeat(" ", utf8.RuneCountInString(text[:start])) +
		strings.Repeat("^", max(1, utf8.RuneCountInString(text[start:end])))
}

// failf returns an error of the given code over the bytes [start, end) of text.
func failf(code, text string, start, end int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Position: position(text, start, end)}
}

// at is failf for something whose position is known already.
func at(code string, p Position, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Position: p}
}

func (e *Error) field(name string) *Error { e.Field = name; return e }

// example adds a hint that shows a query that works; it stands in backquotes.
func (e *Error) example(words, query string) *Error {
	if query == "" {
		return e
	}
	return e.hint(words + " `" + query + "`")
}

func (e *Error) hint(h string) *Error             { e.Hint = h; return e }
func (e *Error) expect(what ...string) *Error     { e.Expected = what; return e }
func (e *Error) suggest(instead ...string) *Error { e.Suggestions = instead; return e }

func position(text string, start, end int) Position {
	return Position{Start: start, End: end, Column: utf8.RuneCountInString(text[:start]) + 1}
}
