package jsonx

import (
	"encoding/binary"
	"math/bits"
)

// A checker finds where a value ends, or why it is none, without keeping it: fed in
// pieces, it answers as [Parser] does on the whole.
type checker struct {
	depth int    // deepest nesting
	open  []bool // open containers, true for an object
	nodes int    // what a parser would have made of it so far
	state checkState
	key   bool   // the string is a member's name
	word  string // what is left of true, false or null
	hex   int    // digits left of an escape
}

type checkState uint8

const (
	wantValue     checkState = iota
	wantElement              // behind [: a value or ]
	wantNameOrEnd            // behind {: a name or }
	wantName                 // behind a comma in an object
	wantColon
	wantNext // behind a value: a comma or the container's end
	inString
	inEscape
	inHex
	inWord
	inMinus    // behind the sign: a digit
	inZero     // behind a leading 0
	inWhole    // within the digits before a point
	inPoint    // behind the point: a digit
	inFraction // within the digits behind it
	inExponent // behind the e: a sign or a digit
	inSign     // behind that sign: a digit
	inPower    // within the digits of the exponent
)

func (c *checker) reset(depth int) {
	if depth <= 0 {
		depth = DefaultDepth
	}
	*c = checker{depth: depth, open: c.open[:0]}
}

// feed takes the next piece. It returns how much of it belongs to the value and
// whether the answer is known: the value has ended there, or err says what is wrong.
func (c *checker) feed(b []byte) (n int, done bool, err error) {
	for i := 0; i < len(b); {
		if c.state == inString {
			if i = c.skipString(b, i); i == len(b) {
				break
			}
		}
		again, err := c.step(b[i])
		if err != nil {
			return i, true, err
		}
		if !again {
			i++
		}
		if len(c.open) == 0 && c.state == wantNext {
			return i, true, nil
		}
	}
	return len(b), false, nil
}

// finish answers when there is no more: a number at the end is whole, whatever else
// has begun is cut.
func (c *checker) finish() error {
	if len(c.open) == 0 && c.state.endsNumber() {
		return nil
	}
	return ErrCut
}

func (s checkState) endsNumber() bool {
	return s == inZero || s == inWhole || s == inFraction || s == inPower
}

// skipString moves over what needs no look, eight bytes at a step.
func (c *checker) skipString(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		quote, slash, feed := w^(ones*'"'), w^(ones*'\\'), w^(ones*'\n')
		m := ((quote - ones) &^ quote) | ((slash - ones) &^ slash) | ((feed - ones) &^ feed)
		if m &= highs; m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for ; i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] != '\n'; i++ {
	}
	return i
}

// step takes one byte; again means that it ended a number and counts once more.
func (c *checker) step(b byte) (again bool, err error) {
	switch c.state {
	case inString:
		return false, c.stringByte(b)
	case inEscape:
		return false, c.escaped(b)
	case inHex:
		if hexDigit(b) < 0 {
			return false, ErrSyntax
		}
		if c.hex--; c.hex == 0 {
			c.state = inString
		}
		return false, nil
	case inWord:
		if b != c.word[0] {
			return false, ErrSyntax
		}
		if c.word = c.word[1:]; c.word == "" {
			c.state = wantNext
		}
		return false, nil
	}
	if c.state >= inMinus {
		return c.numberByte(b)
	}
	if b == ' ' || b == '\n' || b == '\r' || b == '\t' {
		return false, nil
	}
	return false, c.structure(b)
}

func (c *checker) stringByte(b byte) error {
	switch b {
	case '"':
		c.state = wantNext
		if c.key {
			c.state = wantColon
		}
	case '\\':
		c.state = inEscape
	case '\n':
		return ErrSyntax
	}
	return nil
}

func (c *checker) escaped(b byte) error {
	switch b {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		c.state = inString
	case 'u':
		c.state, c.hex = inHex, 4
	default:
		return ErrSyntax
	}
	return nil
}

// structure takes a byte between values.
func (c *checker) structure(b byte) error {
	inObject := len(c.open) > 0 && c.open[len(c.open)-1]
	switch {
	case c.state == wantColon:
		if b != ':' {
			return ErrSyntax
		}
		c.state = wantValue
	case c.state == wantElement && b == ']', c.state == wantNameOrEnd && b == '}',
		c.state == wantNext && (inObject && b == '}' || !inObject && b == ']'):
		c.open, c.state = c.open[:len(c.open)-1], wantNext
	case c.state == wantNext:
		if b != ',' {
			return ErrSyntax
		}
		c.state = wantValue
		if inObject {
			c.state = wantName
		}
	case c.state == wantName || c.state == wantNameOrEnd:
		if b != '"' {
			return ErrSyntax
		}
		c.state, c.key = inString, true
		c.nodes++
	default:
		return c.begin(b)
	}
	return nil
}

// begin takes the first byte of a value.
func (c *checker) begin(b byte) error {
	if c.nodes >= maxNodes {
		return ErrTooMany
	}
	c.nodes++
	switch b {
	case '{', '[':
		if len(c.open) == c.depth {
			return ErrTooDeep
		}
		c.open = append(c.open, b == '{')
		c.state = wantElement
		if b == '{' {
			c.state = wantNameOrEnd
		}
	case '"':
		c.state, c.key = inString, false
	case 't':
		c.state, c.word = inWord, "rue"
	case 'f':
		c.state, c.word = inWord, "alse"
	case 'n':
		c.state, c.word = inWord, "ull"
	case '-':
		c.state = inMinus
	case '0':
		c.state = inZero
	default:
		if b < '1' || b > '9' {
			return ErrSyntax
		}
		c.state = inWhole
	}
	return nil
}

// numberByte takes a byte of a number, or the one behind it.
func (c *checker) numberByte(b byte) (again bool, err error) {
	digit := b >= '0' && b <= '9'
	switch s := c.state; {
	case s == inMinus && b == '0':
		c.state = inZero
	case s == inMinus && digit, s == inWhole && digit:
		c.state = inWhole
	case (s == inPoint || s == inFraction) && digit:
		c.state = inFraction
	case (s == inExponent || s == inSign || s == inPower) && digit:
		c.state = inPower
	case s == inExponent && (b == '+' || b == '-'):
		c.state = inSign
	case (s == inZero || s == inWhole) && b == '.':
		c.state = inPoint
	case s != inPower && s.endsNumber() && (b == 'e' || b == 'E'):
		c.state = inExponent
	case s.endsNumber():
		c.state = wantNext
		return true, nil
	default:
		return false, ErrSyntax
	}
	return false, nil
}
