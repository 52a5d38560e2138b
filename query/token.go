package query

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a query text. Beyond them [Parse] returns a typed error.
const (
	MaxBytes = 8 << 10
	MaxDepth = 64
	MaxTerms = 256 // words, phrases and values together
)

type kind uint8

const (
	tokEnd     kind = iota
	tokWord         // a run without spaces; prefix if it ended in a star
	tokQuoted       // "…", decoded
	tokField        // name:value, negated or not
	tokCompare      // name, operator and perhaps the value in one run
	tokOpen         // ( at the start of a run
	tokClose        // ) of an open group
	tokPipe         // | that stands for a pipeline
	tokSource       // <unit> where, at the beginning of a query or a stage
	tokExists       // exists <unit> (
	tokSeq          // seq (
	tokArrow        // -> with its constraint, between the steps of seq
	tokMatch        // ~word or ~"…", decoded
	tokStage        // a stage of a pipeline that is no source, as it is written
	tokError        // the rest of the text cannot be read
)

type token struct {
	kind   kind
	at     Position
	raw    string // the source of a word, without dash and star
	text   string // decoded
	neg    bool   // a dash stood before it
	prefix bool
	glued  bool // no space before it
	name   string
	op     string
	values []Value
	err    *Error
}

// A scanner cuts a query text into tokens. Quotes, groups and field values are
// whole tokens already, so that the parser never looks at bytes.
type scanner struct {
	text  string
	i     int
	depth int
	terms int
	loose int // parentheses that opened inside of words and are not closed
	// strict says that a predicate is read, in which every parenthesis groups; from
	// is the depth at which it began, 0 for a whole query.
	strict bool
	from   int
	head   bool // a source may stand here
	unit   Unit // whose predicate began last: whose fields errors show
	piped  bool // a bar stood before it
}

// scan returns the tokens of text. The last is tokEnd or, where the text cannot
// be read on, tokError.
func scan(text string) []token {
	s := &scanner{text: text, head: true}
	out := make([]token, 0, min(strings.Count(text, " "), 2*MaxTerms)+2)
	for {
		t, err := s.next()
		if err == nil && s.terms > MaxTerms {
			err = at(CodeTooManyTerms, t.at, "query has more than %d terms", MaxTerms).hint("split the query")
		}
		if err != nil {
			return append(out, token{kind: tokError, at: err.Position, err: err})
		}
		out = append(out, t)
		if t.kind == tokEnd {
			return out
		}
	}
}

func (s *scanner) pos(start int) Position { return position(s.text, start, s.i) }

func (s *scanner) next() (token, *Error) {
	before := s.i
	s.i += len(s.text[s.i:]) - len(strings.TrimLeftFunc(s.text[s.i:], unicode.IsSpace))
	t, ok, err := s.structure(s.i)
	if !ok && err == nil {
		t, err = s.token(s.i)
	}
	s.piped = t.kind == tokPipe && s.depth == 0
	s.head = s.piped
	t.glued = before == t.at.Start && before > 0
	return t, err
}

// token reads the token that begins at start, which is not a space.
func (s *scanner) token(start int) (token, *Error) {
	rest := s.text[start:]
	switch {
	case rest == "":
		return token{kind: tokEnd, at: s.pos(start)}, nil
	case rest[0] == '(':
		return s.open(start)
	case rest[0] == ')' && s.depth > 0:
		s.i++
		if s.depth--; s.depth < s.from {
			s.strict, s.from = false, 0
		}
		return token{kind: tokClose, at: s.pos(start)}, nil
	case rest[0] == ')' && s.loose == 0:
		s.i++
		return token{}, at(CodeSyntax, s.pos(start), "closing parenthesis without an opening one").
			hint("quote the word if the parenthesis belongs to it")
	case rest[0] == '"':
		return s.quoted(start, false)
	case strings.HasPrefix(rest, `-"`):
		s.i++
		return s.quoted(start, true)
	case strings.HasPrefix(rest, "-("):
		s.i += 2
		return token{}, at(CodeNotSupportedYet, s.pos(start), "a dash before a group is not supported").
			hint("put a dash before each word, or use NOT after a text term")
	case rest[0] == '|' && (s.strict || pipeAt(rest)):
		s.i++
		return token{kind: tokPipe, at: s.pos(start)}, nil
	}
	return s.run(start)
}

// pipeAt reports whether a run that begins with a bar begins a pipeline stage.
func pipeAt(rest string) bool {
	if len(rest) == 1 {
		return true
	}
	r, _ := utf8.DecodeRuneInString(rest[1:])
	return unicode.IsSpace(r) || unicode.IsLetter(r)
}

func (s *scanner) open(start int) (token, *Error) {
	s.i++
	s.depth++
	if s.depth > MaxDepth {
		n := s.depth + strings.Count(s.text[s.i:], "(")
		return token{}, at(CodeTooDeep, s.pos(start),
			"query expression nesting depth %d exceeds the maximum of %d; use fewer parentheses", n, MaxDepth)
	}
	return token{kind: tokOpen, at: s.pos(start)}, nil
}

func (s *scanner) quoted(start int, neg bool) (token, *Error) {
	text, err := s.string()
	if err != nil {
		return token{}, err
	}
	prefix := false
	if rest := s.text[s.i:]; strings.HasPrefix(rest, "*") && s.boundary(rest[1:]) {
		s.i++
		prefix = true
	}
	s.terms++
	return token{kind: tokQuoted, at: s.pos(start), text: text, neg: neg, prefix: prefix}, nil
}

// boundary reports whether a token may end before rest.
func (s *scanner) boundary(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || unicode.IsSpace(r) || r == ')' && s.depth > 0
}

// run reads a field clause, a comparison or a word.
func (s *scanner) run(start int) (token, *Error) {
	body := start
	neg := s.text[start] == '-' && !s.boundary(s.text[start+1:])
	if neg {
		body++
	}
	s.i = body
	if t, ok, err := s.fieldClause(start, body, neg); ok || err != nil {
		return t, err
	}
	s.i = body
	s.skipRun(false)
	raw := s.text[body:s.i]
	if name, op, value, ok := splitCompare(raw); ok && !neg && (s.strict || LookupField(name) != nil) {
		s.terms++
		t := token{kind: tokCompare, at: s.pos(start), name: name, op: op}
		if value != "" {
			t.values = []Value{{Text: value, At: position(s.text, s.i-len(value), s.i)}}
		}
		return t, nil
	}
	word := strings.TrimRight(raw, "*")
	if neg || !s.strict || !grammatical(raw) {
		s.terms++
	}
	return token{kind: tokWord, at: s.pos(start), raw: raw, text: word, neg: neg,
		prefix: word != "" && len(word) < len(raw)}, nil
}

// grammatical reports whether a word of a predicate is no value: a predicate prints with
// no more values than it was written with, but with other words between them.
func grammatical(word string) bool {
	switch strings.ToUpper(word) {
	case "AND", "OR", "NOT", "BETWEEN":
		return true
	}
	return strings.Trim(word, "<>=") == "" || compares(word)
}

// skipRun moves to the end of a run: a space, a quote, the end of the group, or in
// a value a bar. Parentheses that open inside the run belong to it.
func (s *scanner) skipRun(value bool) {
	inner := 0
	for i, r := range s.text[s.i:] {
		switch {
		case unicode.IsSpace(r) || r == '"' || value && r == '|':
		case r == '(':
			inner++
			continue
		case r == ')' && inner > 0:
			inner--
			continue
		case r == ')' && s.depth == 0 && s.loose > 0:
			s.loose--
			continue
		case r == ')':
		default:
			continue
		}
		s.i += i
		s.opened(inner)
		return
	}
	s.i = len(s.text)
	s.opened(inner)
}

// opened notes the parentheses that a run outside of groups leaves open, as pasted
// code does: a later word may close them.
func (s *scanner) opened(n int) {
	if s.depth == 0 {
		s.loose += n
	}
}

// splitCompare splits a run like words>=5 at its operator, if it begins with the
// name of a field that compares.
func splitCompare(run string) (name, op, value string, ok bool) {
	i := strings.IndexAny(run, "<>=")
	if i <= 0 || !compares(run[:i]) {
		return "", "", "", false
	}
	op, value = splitOp(run[i:])
	return strings.ToLower(run[:i]), op, value, true
}

// splitOp splits a leading comparison operator off s; op is empty if there is none.
func splitOp(s string) (op, rest string) {
	for _, op := range [...]string{">=", "<=", "=", ">", "<"} {
		if r, ok := strings.CutPrefix(s, op); ok {
			return op, r
		}
	}
	return "", s
}
