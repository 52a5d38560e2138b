package source

import (
	"bytes"
	"strings"
)

// A Shape is what can be seen of one JSON value without decoding it: enough to
// tell which program wrote a file.
type Shape struct {
	Array  bool // the value is an array, and the rest describes its first element
	Object bool // an object
	// Keys are the object's keys, and as "key.inner" those of objects right below,
	// each with its scalar as written and strings unquoted; "{" or "[" for nested
	// values, and "" for what is cut off.
	Keys map[string]string
}

// Has reports whether all keys are there.
func (s Shape) Has(keys ...string) bool {
	for _, k := range keys {
		if _, ok := s.Keys[k]; !ok {
			return false
		}
	}
	return true
}

// Is reports whether key is there with the scalar value.
func (s Shape) Is(key, value string) bool { return s.Keys[key] == value && s.Has(key) }

// Peek gives the shapes of up to n JSON values at the start of head, which may end
// anywhere: a value cut off gives the keys seen so far. Values may follow each
// other with or without white space; after a broken one Peek goes on at the next
// line. Strings keep their escapes.
func Peek(head []byte, n int) []Shape {
	p := peeker{b: head}
	p.skipBOM()
	var out []Shape
	for len(out) < n {
		p.space()
		if p.i >= len(p.b) {
			break
		}
		s, ok := p.value()
		if s.Object || s.Array {
			out = append(out, s)
		}
		if !ok && !p.nextLine() {
			break
		}
	}
	return out
}

type peeker struct {
	b []byte
	i int
}

func (p *peeker) skipBOM() {
	if strings.HasPrefix(string(p.b[:min(3, len(p.b))]), "\ufeff") {
		p.i = 3
	}
}

// nextLine moves behind the next line feed.
func (p *peeker) nextLine() bool {
	n := bytes.IndexByte(p.b[p.i:], '\n')
	p.i += n + 1
	return n >= 0
}

func (p *peeker) space() {
	for p.i < len(p.b) && strings.IndexByte(" \t\r\n", p.b[p.i]) >= 0 {
		p.i++
	}
}

// value reads one value at the top level; ok is false where it is cut or broken.
func (p *peeker) value() (s Shape, ok bool) {
	switch p.b[p.i] {
	case '{':
		s = Shape{Object: true, Keys: make(map[string]string)}
		return s, p.object(s.Keys, "", true)
	case '[':
		p.i++
		p.space()
		s.Array = true
		if p.i < len(p.b) && p.b[p.i] == '{' {
			s.Object, s.Keys = true, make(map[string]string)
			from := p.i
			p.object(s.Keys, "", true)
			p.i = from
		}
		return s, p.rest()
	}
	return s, p.skip()
}

// object reads an object's keys; ok is false where it is cut or broken.
func (p *peeker) object(keys map[string]string, prefix string, nested bool) (ok bool) {
	p.i++
	for {
		p.space()
		if p.i < len(p.b) && p.b[p.i] == ',' {
			p.i++
			continue
		}
		if p.i < len(p.b) && p.b[p.i] == '}' {
			p.i++
			return true
		}
		key, ok := p.str()
		if !ok {
			return false
		}
		key = prefix + key
		keys[key] = ""
		p.space()
		if p.i >= len(p.b) || p.b[p.i] != ':' {
			return false
		}
		p.i++
		p.space()
		if p.i >= len(p.b) || !p.member(keys, key, nested) {
			return false
		}
	}
}

func (p *peeker) member(keys map[string]string, key string, nested bool) (ok bool) {
	from := p.i
	switch c := p.b[p.i]; {
	case c == '{' && nested:
		keys[key] = "{"
		return p.object(keys, key+".", false)
	case c == '{' || c == '[':
		keys[key] = string(c)
		return p.skip()
	case c == '"':
		keys[key], ok = p.str()
		return ok
	}
	ok = p.skip()
	keys[key] = string(p.b[from:p.i])
	return ok
}

// rest passes what is left of an array whose bracket was read.
func (p *peeker) rest() bool {
	for {
		p.space()
		switch {
		case p.i >= len(p.b):
			return false
		case p.b[p.i] == ',':
			p.i++
		case p.b[p.i] == ']':
			p.i++
			return true
		case !p.skip():
			return false
		}
	}
}

// str reads a string without decoding its escapes.
func (p *peeker) str() (string, bool) {
	if p.i >= len(p.b) || p.b[p.i] != '"' {
		return "", false
	}
	from := p.i + 1
	for i := from; i < len(p.b); i++ {
		switch p.b[i] {
		case '\\':
			i++
		case '"':
			p.i = i + 1
			return string(p.b[from:i]), true
		case '\n': // no string holds one: the record is broken
			p.i = i
			return "", false
		}
	}
	p.i = len(p.b)
	return "", false
}

// skip passes one value; it checks brackets and strings and nothing else.
func (p *peeker) skip() bool {
	depth := 0
	for p.i < len(p.b) {
		switch c := p.b[p.i]; c {
		case '{', '[':
			depth++
			p.i++
		case '}', ']':
			if depth == 0 {
				return false
			}
			depth--
			p.i++
		case '"':
			if _, ok := p.str(); !ok {
				return false
			}
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return false
			}
			p.i++
			continue
		default:
			if !strings.ContainsRune("-+.0123456789truefalsnE", rune(c)) {
				return false
			}
			for p.i < len(p.b) && strings.IndexByte("-+.0123456789truefalsnE", p.b[p.i]) >= 0 {
				p.i++
			}
		}
		if depth == 0 {
			return true
		}
	}
	return false
}
