package query

import (
	"strconv"
	"strings"
	"time"
)

// field turns a field clause into a predicate.
func (p *parser) field(t token) (item, *Error) {
	f := LookupField(t.name)
	if f.Kind == KindNumber || f.Kind == KindTime {
		if t.neg {
			return item{}, negation(f, t.at, negated(f, t))
		}
		return p.fieldCompare(f, t)
	}
	n := &Field{Name: f.Name, Values: t.values, At: t.at}
	if t.neg {
		return item{pred: &Not{Of: n, Dash: true, At: t.at}, at: t.at}, nil
	}
	return item{pred: n, at: t.at}, nil
}

// fieldCompare reads name:>=5, the compact form of a comparison.
func (p *parser) fieldCompare(f *FieldSpec, t token) (item, *Error) {
	v := t.values[0]
	op, rest := splitOp(v.Text)
	if op == "" || len(t.values) > 1 {
		return item{}, at(CodeInvalidValue, t.at, "use comparison operator for '%s': e.g. %s", f.Name, f.Example).
			field(f.Name).expect(">=", "<=", "=", ">", "<")
	}
	v.At.Start += len(v.Text) - len(rest)
	v.At.Column += len(v.Text) - len(rest)
	if rest == "" {
		return p.compare(t, f.Name, op, nil)
	}
	return p.compare(t, f.Name, op, []Value{{Text: rest, At: v.At}})
}

// readable reads the spaced forms: messages > 10, date between a and b. A word
// that merely is the name of such a field is not one.
func (p *parser) readable() (item, bool, *Error) {
	t := p.peek()
	if t.kind != tokWord || t.neg || t.prefix {
		return item{}, false, nil
	}
	name, _, _ := strings.Cut(t.raw, "!=")
	f := LookupField(name)
	if f == nil || !f.Kind.ordered() {
		return item{}, false, nil
	}
	if err := p.unequal(f, t); err != nil {
		return item{}, false, err
	}
	if name != t.raw {
		return item{}, false, nil
	}
	next := p.ahead(1)
	if next.kind != tokWord || next.neg || next.prefix {
		return item{}, false, nil
	}
	if strings.EqualFold(next.raw, "between") {
		return p.between(f, t)
	}
	op, rest := splitOp(next.raw)
	if op == "" {
		return item{}, false, nil
	}
	p.i += 2
	t.at.End = next.at.End
	var values []Value
	if rest != "" {
		values = []Value{{Text: rest, At: position(p.text, next.at.End-len(rest), next.at.End)}}
	}
	it, err := p.compare(t, f.Name, op, values)
	return it, true, err
}

// unequal refuses messages != 5, however it is spaced, which would otherwise be a search
// for the words. With a value that the field cannot have it is text, as in pasted code.
func (p *parser) unequal(f *FieldSpec, t token) *Error {
	run, last := t.raw, t
	for n := 1; n <= 2 && (!strings.Contains(run, "!=") || strings.HasSuffix(run, "!=")); n++ {
		last = p.ahead(n)
		v, ok := p.value(last)
		if !ok {
			return nil
		}
		run += v.Text
	}
	name, value, _ := strings.Cut(run, "!=")
	if LookupField(name) != f {
		return nil // something stood before the operator
	}
	v := Value{Text: value}
	clause := Pred(&Compare{Name: f.Name, Op: "=", Value: v})
	_, bad := strconv.ParseUint(value, 10, 63)
	if f.Kind == KindTime {
		clause = &Range{Name: f.Name, Low: v, High: v}
		_, bad = time.Parse(time.DateOnly, value)
	}
	if bad != nil {
		return nil
	}
	text := joined(f, &Not{Of: clause})
	return at(CodeSyntax, position(p.text, t.at.Start, last.at.End), "there is no comparison with !=").
		field(f.Name).example("write", text).suggest(text)
}

// compare finishes a comparison; values is empty if the value is the next token.
func (p *parser) compare(t token, name, op string, values []Value) (item, *Error) {
	f := LookupField(name)
	if len(values) == 0 {
		v, ok := p.value(p.peek())
		if !ok {
			return item{}, at(CodeSyntax, t.at, "field '%s' requires a value after %s", name, op).
				field(name).expect(valueName(f))
		}
		p.i++
		values = []Value{v}
	}
	n := &Compare{Name: name, Op: op, Value: values[0], At: position(p.text, t.at.Start, values[0].At.End)}
	if f.Kind == KindNumber {
		v, err := number(f, n.Value)
		if err != nil {
			return item{}, err
		}
		if v < 0 || v == 0 && op == "<" {
			return item{}, at(CodeInvalidValue, n.At,
				"%s %s %d is not representable as a non-negative count bound", name, op, v).field(name)
		}
	} else if op == "=" {
		return item{}, at(CodeInvalidValue, n.At,
			"date equality is not supported; use date between A and B").field(name).expect(">=", "<=", ">", "<", "between").
			example("write", "date between 2026-01-15 and 2026-01-15")
	}
	return item{pred: n, at: n.At}, nil
}

// between reads name between a and b. For a number, both must begin with a digit:
// "words between friends and foes" is text.
func (p *parser) between(f *FieldSpec, t token) (item, bool, *Error) {
	lo, okLo := p.value(p.ahead(2))
	and := p.ahead(3)
	hi, okHi := p.value(p.ahead(4))
	if !okLo || !okHi || and.kind != tokWord || !strings.EqualFold(and.raw, "and") {
		return item{}, false, nil
	}
	if f.Kind == KindNumber && !(digit(lo.Text) && digit(hi.Text)) {
		return item{}, false, nil
	}
	p.i += 5
	n := &Range{Name: f.Name, Low: lo, High: hi, At: position(p.text, t.at.Start, hi.At.End)}
	if f.Kind == KindNumber {
		a, err := number(f, lo)
		if err != nil {
			return item{}, false, err
		}
		b, err := number(f, hi)
		if err != nil {
			return item{}, false, err
		}
		if a > b {
			return item{}, false, inverted(f, n)
		}
	}
	return item{pred: n, at: n.At}, true, nil
}

func inverted(f *FieldSpec, n *Range) *Error {
	return at(CodeInvalidValue, n.At, "%s range lower bound %s is greater than upper bound %s",
		f.Name, n.Low.Text, n.High.Text).field(f.Name).
		suggest(joined(f, &Range{Name: n.Name, Low: n.High, High: n.Low}))
}

// value returns the value that a token is, if it can be one.
func (p *parser) value(t token) (Value, bool) {
	switch {
	case t.neg || t.prefix:
	case t.kind == tokWord:
		return Value{Text: t.raw, At: t.at}, true
	case t.kind == tokQuoted && t.text != "":
		return Value{Text: t.text, At: t.at}, true
	}
	return Value{}, false
}

func digit(s string) bool { return s[0] >= '0' && s[0] <= '9' }

func number(f *FieldSpec, v Value) (int64, *Error) {
	n, err := strconv.ParseInt(v.Text, 10, 64)
	if err != nil {
		return 0, at(CodeInvalidValue, v.At, "field '%s' requires a numeric value", f.Name).
			field(f.Name).hint("write a whole number, or quote the words if they are text").expect("number")
	}
	return n, nil
}

func valueName(f *FieldSpec) string {
	if f.Kind == KindNumber {
		return "number"
	}
	return "date"
}

func negation(f *FieldSpec, p Position, clause string) *Error {
	e := at(CodeNegation, p, "negation is not supported for '%s'", f.Name).field(f.Name)
	if f.Kind == KindFlag {
		e.Message = "use root:false instead of -root: to select non-root (subagent/branch) sessions"
		return e.suggest("root:false")
	}
	return e.hint("write NOT instead of the dash").suggest("NOT " + clause)
}

// negated is a comparison that was written with a dash, as it can stand behind NOT: one
// without an operator is meant as equality.
func negated(f *FieldSpec, t token) string {
	v := t.values[0]
	op, rest := splitOp(v.Text)
	if op == "" {
		op, rest = "=", v.Text
	}
	v.Text = rest
	n := &Compare{Name: f.Name, Op: op, Value: v}
	if text := n.String(); len(t.values) == 1 && f.Kind == KindNumber && parses(text) {
		return text
	}
	return f.Example
}

// parses reports whether text is a query.
func parses(text string) bool {
	_, err := Parse(text)
	return err == nil
}
