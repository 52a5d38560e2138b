package query

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// fieldClause reads name:value at body; ok is false if there is no clause.
func (s *scanner) fieldClause(start, body int, neg bool) (t token, ok bool, err *Error) {
	name := fieldName(s.text[body:])
	if name == "" {
		return token{}, false, nil
	}
	after := s.text[body+len(name)+1:]
	f := LookupField(name)
	if s.strict {
		if own := s.unit.spec(); own != nil && own.Lookup(name) != nil {
			f = own.Lookup(name)
		} else if f == nil {
			f = structuralField(name)
		}
	}
	if f == nil && strings.HasPrefix(after, "//") {
		return token{}, false, nil // an address
	}
	s.i = body + len(name) + 1
	if s.boundary(after) {
		if f == nil {
			return token{}, false, nil // punctuation, as in "note: this"
		}
		return token{}, false, at(CodeSyntax, s.pos(start), "field '%s' requires a value", strings.ToLower(name)).
			field(strings.ToLower(name)).example("write", f.works()).expect("value")
	}
	if f == nil {
		s.skipRun(false)
		return token{}, false, unknownField(name, s.pos(body), s.strict)
	}
	values, err := s.values(f)
	if err != nil {
		return token{}, false, err
	}
	s.terms += len(values)
	return token{kind: tokField, at: s.pos(start), neg: neg, name: strings.ToLower(name), values: values}, true, nil
}

// fieldName returns the name that s begins with if a colon follows it, else "".
func fieldName(s string) string {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
		case i > 0 && (c == '.' || '0' <= c && c <= '9'):
		case c == ':' && i > 0:
			return s[:i]
		default:
			return ""
		}
	}
	return ""
}

// values reads the alternatives of a field: a|b, "a"|b or (a|b c|"d").
func (s *scanner) values(f *FieldSpec) ([]Value, *Error) {
	start := s.i
	var out []Value
	var err *Error
	if s.text[s.i] == '(' {
		out, err = s.group()
	} else {
		out, err = s.alternatives()
	}
	if err == nil && len(out) == 0 {
		err = at(CodeSyntax, s.pos(start), "field '%s' requires a value", f.Name).
			field(f.Name).example("write", f.works()).expect("value")
	}
	return out, err
}

func (s *scanner) alternatives() ([]Value, *Error) {
	var out []Value
	for {
		start := s.i
		if strings.HasPrefix(s.text[s.i:], `"`) {
			v, err := s.string()
			if err != nil {
				return nil, err
			}
			out = appendValue(out, v, s.pos(start))
		} else {
			s.skipRun(true)
			out = appendValue(out, s.text[start:s.i], s.pos(start))
		}
		rest := s.text[s.i:]
		if !strings.HasPrefix(rest, "|") || s.boundary(rest[1:]) {
			return out, nil
		}
		s.i++
	}
}

// group reads (a|b c|"d"): values between bars, with the spaces around them cut.
func (s *scanner) group() ([]Value, *Error) {
	open := s.i
	s.i++
	var out []Value
	for {
		s.skipSpace()
		start := s.i
		switch rest := s.text[s.i:]; {
		case strings.HasPrefix(rest, `"`):
			v, err := s.string()
			if err != nil {
				return nil, err
			}
			out = appendValue(out, v, s.pos(start))
			s.skipSpace()
		default:
			n := strings.IndexAny(rest, "|)")
			if n < 0 {
				s.i = len(s.text)
				return nil, at(CodeSyntax, position(s.text, open, open+1), "unclosed parenthesis").expect(")")
			}
			v := strings.TrimRightFunc(rest[:n], unicode.IsSpace)
			s.i += len(v)
			out = appendValue(out, v, s.pos(start))
			s.i = start + n
		}
		switch rest := s.text[s.i:]; {
		case strings.HasPrefix(rest, "|"):
			s.i++
		case strings.HasPrefix(rest, ")"):
			s.i++
			return out, nil
		default:
			_, n := utf8.DecodeRuneInString(rest)
			return nil, failf(CodeSyntax, s.text, s.i, s.i+n, "expected | or ) after a quoted value").expect("|", ")")
		}
	}
}

func (s *scanner) skipSpace() {
	s.i += len(s.text[s.i:]) - len(strings.TrimLeftFunc(s.text[s.i:], unicode.IsSpace))
}

func appendValue(dst []Value, v string, p Position) []Value {
	if v == "" {
		return dst
	}
	return append(dst, Value{Text: v, At: p})
}

// string reads a JSON string at s.i.
func (s *scanner) string() (string, *Error) {
	start := s.i
	var b strings.Builder
	for i := start + 1; i < len(s.text); {
		switch c := s.text[i]; {
		case c == '"':
			s.i = i + 1
			return b.String(), nil
		case c == '\\':
			n, err := s.escape(&b, start, i)
			if err != nil {
				return "", err
			}
			i += n
		case c < ' ':
			return "", failf(CodeSyntax, s.text, i, i+1,
				"invalid quoted string: Invalid control character at: line 1 column %d (char %d)", i-start+1, i-start).
				hint(`write \n for a line break and \t for a tab`)
		default:
			b.WriteByte(c)
			i++
		}
	}
	return "", failf(CodeSyntax, s.text, start, len(s.text), "unclosed quoted string").
		expect(`"`).hint(`add the closing quote, or write \" for a quote inside a string`)
}

// escape decodes the escape at i into b and returns its size.
func (s *scanner) escape(b *strings.Builder, start, i int) (int, *Error) {
	const from, to = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if i+1 < len(s.text) {
		if k := strings.IndexByte(from, s.text[i+1]); k >= 0 {
			b.WriteByte(to[k])
			return 2, nil
		}
		if r, ok := hex4(s.text[i+1:]); ok {
			n := 6
			if rest, ok := strings.CutPrefix(s.text[min(i+6, len(s.text)):], `\`); ok && 0xD800 <= r && r < 0xDC00 {
				if low, ok := hex4(rest); ok && 0xDC00 <= low && low < 0xE000 {
					r, n = (r-0xD800)<<10|(low-0xDC00)+0x10000, 12
				}
			}
			b.WriteRune(r) // a lone surrogate becomes U+FFFD, as in stored text
			return n, nil
		}
	}
	return 0, failf(CodeSyntax, s.text, i, min(i+2, len(s.text)),
		`invalid quoted string: Invalid \escape: line 1 column %d (char %d)`, i-start+1, i-start).
		hint(`write \\ for a backslash`)
}

// hex4 reads u and four hexadecimal digits.
func hex4(s string) (rune, bool) {
	if len(s) < 5 || s[0] != 'u' {
		return 0, false
	}
	r := rune(0)
	for _, c := range s[1:5] {
		k := strings.IndexRune("0123456789abcdef", unicode.ToLower(c))
		if k < 0 {
			return 0, false
		}
		r = r<<4 | rune(k)
	}
	return r, true
}
