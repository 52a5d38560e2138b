// Package jsonx reads JSON as archives hold it: a stream of values, one or more
// to a line, of which some are broken.
//
// Laws: [Decoder] yields every value and every broken line exactly once, in
// order, each with its line and offset; a broken record costs its own line and
// no other; memory is bounded by the longest record allowed; parsing does not
// recurse and nesting is bounded, so that no input can overflow the stack or
// panic. [Parser] accepts exactly what encoding/json accepts up to its depth, and
// raw control characters other than line feeds inside strings besides. Of members
// with equal names the last one counts. Decoded text is valid UTF-8 without NUL.
//
// A [Value] reads the parser's arena: it is valid until the next record. The
// strings that it returns are copies and stay.
package jsonx

import (
	"iter"
	"math"
	"strconv"
)

// Type is the kind of a value.
type Type uint8

const (
	Missing Type = iota // no such value
	Null
	Bool
	Number
	String
	Array
	Object
	name // of a member; never seen outside
)

// A Value is one value of a parsed record. The zero Value is missing; every
// method may be called on it, and on a value of any type.
type Value struct {
	p *Parser
	i uint32
}

func (v Value) node() *node { return &v.p.nodes[v.i] }

// Type is the value's type; Missing for the zero Value.
func (v Value) Type() Type {
	if v.p == nil {
		return Missing
	}
	return v.node().typ
}

// Exists reports whether there is a value, null included.
func (v Value) Exists() bool { return v.p != nil }

// Raw is the value as it was written, valid until the next record; a string is
// without its quotes.
func (v Value) Raw() []byte {
	if v.p == nil {
		return nil
	}
	n := v.node()
	return v.p.src[n.start:n.end]
}

// Get walks down the member names of path. It is missing where a name is absent
// or a value is no object.
func (v Value) Get(path ...string) Value {
	for _, key := range path {
		if v = v.member(key); v.p == nil {
			break
		}
	}
	return v
}

func (v Value) member(key string) Value {
	if v.Type() != Object {
		return Value{}
	}
	found := Value{}
	p, end := v.p, v.node().next
	for i := v.i + 1; i < end; i = p.nodes[i+1].next {
		if n := &p.nodes[i]; p.equal(n, key) {
			found = Value{p, i + 1}
		}
	}
	return found
}

// equal reports whether the text of a string node is s.
func (p *Parser) equal(n *node, s string) bool {
	raw := p.src[n.start:n.end]
	if !n.dirty {
		return string(raw) == s
	}
	if len(s) > 3*len(raw) { // a raw byte decodes to U+FFFD at most
		return false
	}
	var buf [64]byte
	return string(appendDecoded(buf[:0], raw)) == s
}

// Index is the i-th element of an array, missing outside of it. It takes time
// linear in i.
func (v Value) Index(i int) Value {
	for e := range v.Array() {
		if i == 0 {
			return e
		}
		i--
	}
	return Value{}
}

// Len is the number of elements or of members, equal names counted each.
func (v Value) Len() int {
	if t := v.Type(); t != Array && t != Object {
		return 0
	}
	return int(v.node().count)
}

// Str is the text of a string, "" for any other value.
func (v Value) Str() string {
	if v.Type() != String {
		return ""
	}
	return v.p.text(v.node())
}

// StrOK is Str, and whether the value is a string.
func (v Value) StrOK() (string, bool) { return v.Str(), v.Type() == String }

func (p *Parser) text(n *node) string {
	raw := p.src[n.start:n.end]
	if !n.dirty {
		return p.names.get(raw)
	}
	return string(appendDecoded(make([]byte, 0, len(raw)+8), raw))
}

// AppendStr appends the text of a string, nothing for any other value.
func (v Value) AppendStr(dst []byte) []byte {
	if v.Type() != String {
		return dst
	}
	n := v.node()
	if raw := v.p.src[n.start:n.end]; n.dirty {
		return appendDecoded(dst, raw)
	} else {
		return append(dst, raw...)
	}
}

// Is reports whether the value is the string s; it allocates nothing.
func (v Value) Is(s string) bool { return v.Type() == String && v.p.equal(v.node(), s) }

// Bool is the value of true and false; ok tells whether it is one of them.
func (v Value) Bool() (value, ok bool) {
	if v.Type() != Bool {
		return false, false
	}
	return v.p.src[v.node().start] == 't', true
}

// True reports whether the value is true.
func (v Value) True() bool {
	b, _ := v.Bool()
	return b
}

// Int is the value of a whole number that fits, however it is spelled (3, 3.0,
// 3e0); ok tells whether it is one.
func (v Value) Int() (value int64, ok bool) {
	if v.Type() != Number {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(v.Raw()), 10, 64); err == nil {
		return n, true
	}
	f, ok := v.Float()
	if !ok || f != math.Trunc(f) || f < -(1<<63) || f >= 1<<63 {
		return 0, false
	}
	return int64(f), true
}

// Float is the value of a number; ok is false for other values and for numbers
// beyond float64.
func (v Value) Float() (value float64, ok bool) {
	if v.Type() != Number {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v.Raw()), 64)
	return f, err == nil
}

// Array yields the elements of an array in order; nothing for other values.
func (v Value) Array() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if v.Type() != Array {
			return
		}
		p, end := v.p, v.node().next
		for i := v.i + 1; i < end; i = p.nodes[i].next {
			if !yield(Value{p, i}) {
				return
			}
		}
	}
}

// Object yields the members of an object as they are written, equal names
// included; nothing for other values.
func (v Value) Object() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if v.Type() != Object {
			return
		}
		p, end := v.p, v.node().next
		for i := v.i + 1; i < end; i = p.nodes[i+1].next {
			if !yield(p.text(&p.nodes[i]), Value{p, i + 1}) {
				return
			}
		}
	}
}
