package jsonx

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// Reasons why bytes are no value. [Decoder] reports them as a record's problem.
var (
	ErrSyntax   = errors.New("invalid JSON")
	ErrCut      = errors.New("value is cut off")
	ErrTooDeep  = errors.New("nested too deeply")
	ErrTooMany  = errors.New("too many values in one record")
	ErrTooLong  = errors.New("record is too long")
	ErrTrailing = errors.New("trailing bytes after the value")
)

// DefaultDepth is the deepest nesting that a parser accepts unless told otherwise.
const DefaultDepth = 512

// maxNodes bounds the tape of one record: 2 Mi nodes take 40 MiB. Transcripts have one
// per 50 bytes and more, so a record of 64 MiB has 1.3 Mi.
const maxNodes = 2 << 20

// keepNodes is the tape that a parser keeps for the next record.
const keepNodes = 256 << 10

// keepCopy is the copy that ParseString keeps for the next string.
const keepCopy = 1 << 20

// maxInput is the longest input, since a node holds 32-bit offsets.
const maxInput = 1<<31 - 1

// A node is one value or one member name. A container's nodes follow it, members
// as name and value in turn.
type node struct {
	start, end uint32 // bytes of the value; of a string without its quotes
	next       uint32 // index of the first node after this one and all below it
	count      uint32 // elements or members
	typ        Type
	dirty      bool // a string that is not its own bytes: escapes, non-ASCII or NUL
}

// A Parser parses one value at a time into a reused arena. The zero value is
// ready. A Parser is not safe for concurrent use.
type Parser struct {
	Depth int // deepest nesting; 0 means DefaultDepth

	src   []byte
	nodes []node
	stack []uint32 // open containers
	copy  []byte   // of ParseString
	names *names   // of a decoder; nil keeps none
}

// Parse parses b, which must hold one value and nothing else but white space.
// The value reads b: it is valid until b changes or the next call. Errors are
// the sentinels of this package.
func (p *Parser) Parse(b []byte) (Value, error) {
	end, err := p.parse(b, 0)
	if err != nil {
		return Value{}, err
	}
	if skipSpace(b, end) != len(b) {
		return Value{}, ErrTrailing
	}
	return Value{p, 0}, nil
}

// ParseString is Parse of a copy of s, which the parser keeps.
func (p *Parser) ParseString(s string) (Value, error) {
	if cap(p.copy) > keepCopy {
		p.copy = nil
	}
	p.copy = append(p.copy[:0], s...)
	return p.Parse(p.copy)
}

// parse reads the first value of b from i on and returns its end.
func (p *Parser) parse(b []byte, i int) (int, error) {
	if len(b) > maxInput {
		return 0, ErrTooLong
	}
	depth := p.Depth
	if depth <= 0 {
		depth = DefaultDepth
	}
	if cap(p.nodes) > keepNodes {
		p.nodes = nil
	}
	p.src, p.nodes, p.stack = b, p.nodes[:0], p.stack[:0]
	for {
		// A value is expected here.
		i = skipSpace(b, i)
		if i == len(b) {
			return i, ErrCut
		}
		if len(p.nodes) >= maxNodes {
			return i, ErrTooMany
		}
		var err error
		switch c := b[i]; c {
		case '{', '[':
			if len(p.stack) == depth {
				return i, ErrTooDeep
			}
			closer, typ := byte(']'), Array
			if c == '{' {
				closer, typ = '}', Object
			}
			p.stack = append(p.stack, uint32(len(p.nodes)))
			p.nodes = append(p.nodes, node{start: uint32(i), typ: typ})
			i = skipSpace(b, i+1)
			if i == len(b) {
				return i, ErrCut
			}
			if b[i] != closer {
				if typ == Object {
					if i, err = p.member(b, i); err != nil {
						return i, err
					}
				}
				continue
			}
			i++
			p.close(i)
		case '"':
			if i, err = p.str(b, i, String); err != nil {
				return i, err
			}
		default:
			if i, err = p.scalar(b, i); err != nil {
				return i, err
			}
		}
		// A value has ended here: what follows depends on what holds it.
		for more := false; !more; {
			if len(p.stack) == 0 {
				return i, nil
			}
			top := &p.nodes[p.stack[len(p.stack)-1]]
			top.count++
			i = skipSpace(b, i)
			if i == len(b) {
				return i, ErrCut
			}
			switch c := b[i]; {
			case c == ',' && top.typ == Array:
				i, more = i+1, true
			case c == ',':
				if i, err = p.member(b, skipSpace(b, i+1)); err != nil {
					return i, err
				}
				more = true
			case c == ']' && top.typ == Array, c == '}' && top.typ == Object:
				i++
				p.close(i)
			default:
				return i, ErrSyntax
			}
		}
	}
}

// close ends the innermost container at end.
func (p *Parser) close(end int) {
	top := &p.nodes[p.stack[len(p.stack)-1]]
	top.end, top.next = uint32(end), uint32(len(p.nodes))
	p.stack = p.stack[:len(p.stack)-1]
}

// member reads a name and its colon.
func (p *Parser) member(b []byte, i int) (int, error) {
	if i >= len(b) {
		return i, ErrCut
	}
	if b[i] != '"' {
		return i, ErrSyntax
	}
	i, err := p.str(b, i, name)
	if err != nil {
		return i, err
	}
	if i = skipSpace(b, i); i == len(b) {
		return i, ErrCut
	}
	if b[i] != ':' {
		return i, ErrSyntax
	}
	return i + 1, nil
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// str reads the string that opens at i, eight bytes at a step. A raw control
// character other than a line feed is tolerated; a raw line feed is what a
// broken record looks like.
func (p *Parser) str(b []byte, i int, typ Type) (int, error) {
	start := i + 1
	dirty := false
	var wide uint64
	for i = start; ; {
		for i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			wide |= w
			quote, slash := w^(ones*'"'), w^(ones*'\\')
			m := ((quote - ones) &^ quote) | ((slash - ones) &^ slash) | ((w - ones*0x20) &^ w)
			if m &= highs; m != 0 {
				i += bits.TrailingZeros64(m) / 8
				break
			}
			i += 8
		}
		if i >= len(b) {
			return i, ErrCut
		}
		switch c := b[i]; {
		case c == '"':
			p.add(start, i, typ, dirty || wide&highs != 0)
			return i + 1, nil
		case c == '\\':
			dirty = true
			n, err := escape(b[i:])
			i += n
			if err != nil {
				return i, err
			}
		case c == '\n':
			return i, ErrSyntax
		case c == 0:
			dirty = true
			i++
		default:
			wide |= uint64(c)
			i++
		}
	}
}

// escape returns the length of the escape sequence that b begins with, or where it
// is wrong.
func escape(b []byte) (int, error) {
	if len(b) < 2 {
		return len(b), ErrCut
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, nil
	case 'u':
		for j := 2; j < 6; j++ {
			if j >= len(b) {
				return j, ErrCut
			}
			if hexDigit(b[j]) < 0 {
				return j, ErrSyntax
			}
		}
		return 6, nil
	}
	return 1, ErrSyntax
}

func (p *Parser) add(start, end int, typ Type, dirty bool) {
	p.nodes = append(p.nodes, node{
		start: uint32(start), end: uint32(end), next: uint32(len(p.nodes) + 1), typ: typ, dirty: dirty,
	})
}

// scalar reads a number or one of the three words.
func (p *Parser) scalar(b []byte, i int) (int, error) {
	word, typ := "", Bool
	switch b[i] {
	case 't':
		word = "true"
	case 'f':
		word = "false"
	case 'n':
		word, typ = "null", Null
	default:
		end, err := number(b, i)
		if err == nil {
			p.add(i, end, Number, false)
		}
		return end, err
	}
	for j := range len(word) {
		if i+j == len(b) {
			return i + j, ErrCut
		}
		if b[i+j] != word[j] {
			return i + j, ErrSyntax
		}
	}
	p.add(i, i+len(word), typ, false)
	return i + len(word), nil
}

// number reads a number of JSON's grammar, of any length.
func number(b []byte, i int) (int, error) {
	digits := func() error {
		if i == len(b) {
			return ErrCut
		}
		if b[i] < '0' || b[i] > '9' {
			return ErrSyntax
		}
		for i < len(b) && b[i] >= '0' && b[i] <= '9' {
			i++
		}
		return nil
	}
	if b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if err := digits(); err != nil {
		return i, err
	}
	if i < len(b) && b[i] == '.' {
		i++
		if err := digits(); err != nil {
			return i, err
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if err := digits(); err != nil {
			return i, err
		}
	}
	return i, nil
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
