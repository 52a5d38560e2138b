package query

import (
	"strconv"
	"strings"
	"time"
)

// lookup finds the field that name means here, and its canonical name: a field of the
// unit or, behind "session.", one of the session that owns the row.
func (p *parser) lookup(name string, pos Position) (*FieldSpec, string, *Error) {
	if name == "lineage" {
		return LookupField(name), name, nil // of the session that owns the row, in every unit
	}
	if f := p.unit.Lookup(name); f != nil {
		if p.strict && p.unit.Name == UnitSession && (f.Name == "near" || f.Name == "lane") {
			return nil, "", outsideOnly(name, pos)
		}
		return f, f.Name, nil
	}
	switch owned, of := strings.CutPrefix(name, ownerPrefix); {
	case !p.strict:
		return nil, "", unknownField(name, pos, false)
	case of && p.unit.Name != UnitSession:
		f := LookupField(owned)
		if owned == "" {
			return nil, "", at(CodeSyntax, pos, "session. predicates require a field name").expect("field")
		}
		if f == nil {
			break
		}
		switch f.Name {
		case "near", "contains", "lane", "root", "project":
			return nil, "", outsideOnly(name, pos)
		case "session":
			return nil, "", p.elsewhere(name, pos).suggest("session.id")
		}
		return f, ownerPrefix + f.Name, nil
	}
	if p.unit.Name == UnitAssertion && strings.HasPrefix(name, "value.") {
		return &FieldSpec{Name: name, Later: true}, name, nil
	}
	if anyField(name) == nil && !strings.HasPrefix(name, "value.") {
		return nil, "", unknownField(name, pos, true)
	}
	e := p.elsewhere(name, pos)
	if f := LookupField(name); f != nil && !f.Later {
		e = e.suggest(ownerPrefix + name)
	}
	return nil, "", e
}

func outsideOnly(name string, pos Position) *Error {
	return at(CodeFieldScope, pos, "field '%s' is not supported inside Boolean SQL predicates yet", name).field(name)
}

// elsewhere is the error for a field that another unit has.
func (p *parser) elsewhere(name string, pos Position) *Error {
	return at(CodeFieldScope, pos, "field '%s' is not supported for %s predicates", name, p.unit.Name).field(name)
}

// field turns a field clause into a predicate.
func (p *parser) field(t token) (Pred, *Error) {
	f, name, err := p.lookup(t.name, t.at)
	if err != nil {
		return nil, err
	}
	if f.Kind.ordered() {
		if t.neg {
			return nil, negation(f, t.at, negated(f, t))
		}
		return p.fieldCompare(f, name, t)
	}
	n := &Field{Name: name, Values: t.values, At: t.at}
	if t.neg {
		return &Not{Of: n, Dash: true, At: t.at}, nil
	}
	return n, nil
}

// fieldCompare reads name:>=5, the compact form of a comparison. Behind "session." a
// number without an operator is meant as equality.
func (p *parser) fieldCompare(f *FieldSpec, name string, t token) (Pred, *Error) {
	v := t.values[0]
	op, rest := splitOp(v.Text)
	owned := name != f.Name
	switch {
	case owned && op == "" && f.Kind == KindTime, owned && op == "=" && f.Kind == KindTime:
		return nil, at(CodeInvalidValue, t.at, "field '%s' supports only >=, <=, >, <, and between", f.Name).
			field(f.Name).expect(">=", "<=", ">", "<", "between")
	case owned && op == "" && len(t.values) == 1:
		op = "="
	case op == "" || len(t.values) > 1:
		return nil, at(CodeInvalidValue, t.at, "use comparison operator for '%s': e.g. %s", name, f.Example).
			field(name).expect(operators(f)...)
	}
	v.At.Start += len(v.Text) - len(rest)
	v.At.Column += len(v.Text) - len(rest)
	if rest == "" {
		return p.compare(t, name, op, nil)
	}
	return p.compare(t, name, op, []Value{{Text: rest, At: v.At}})
}

// operators are what may stand between a field and its value: a date is never equal.
func operators(f *FieldSpec) []string {
	if f.Kind == KindTime {
		return []string{">=", "<=", ">", "<"}
	}
	return []string{">=", "<=", "=", ">", "<"}
}

// readable reads the spaced forms: messages > 10, date between a and b. A word
// that merely is the name of such a field is not one.
func (p *parser) readable() (Pred, bool, *Error) {
	t := p.peek()
	if t.kind != tokWord || t.neg || t.prefix {
		return nil, false, nil
	}
	word, _, _ := strings.Cut(t.raw, "!=")
	if !compares(word) || !p.strict && p.unit.Lookup(word) == nil {
		return nil, false, nil
	}
	next := p.ahead(1)
	between := next.kind == tokWord && strings.EqualFold(next.raw, "between")
	if op, _ := splitOp(next.raw); p.strict && word == t.raw && op == "" && !between {
		return nil, false, nil // a stray word, whatever field it names
	}
	f, name, err := p.lookup(strings.ToLower(word), t.at)
	if err != nil {
		return nil, false, err
	}
	if !f.Kind.ordered() {
		return nil, false, nil
	}
	if err := p.unequal(f, t); err != nil {
		return nil, false, err
	}
	if word != t.raw || next.kind != tokWord || next.neg || next.prefix {
		return nil, false, nil
	}
	if between {
		return p.between(f, name, t)
	}
	op, rest := splitOp(next.raw)
	if op == "" {
		return nil, false, nil
	}
	p.i += 2
	t.at.End = next.at.End
	var values []Value
	if rest != "" {
		values = []Value{{Text: rest, At: position(p.text, next.at.End-len(rest), next.at.End)}}
	}
	pred, err := p.compare(t, name, op, values)
	return pred, true, err
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
	if p.unit.Lookup(name) != f {
		return nil // something stood before the operator, or the field is the owner's
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
func (p *parser) compare(t token, name, op string, values []Value) (Pred, *Error) {
	f, name, err := p.lookup(name, t.at)
	if err != nil {
		return nil, err
	}
	if len(values) == 0 {
		v, ok := p.value(p.peek())
		if p.peek().kind == tokError {
			return nil, p.peek().err
		}
		if t := p.peek(); !ok && t.neg && f.Kind == KindNumber {
			return nil, at(CodeInvalidValue, t.at, "%s %s -%s is not representable as a non-negative count bound", name, op, t.raw).field(name)
		}
		if !ok {
			return nil, at(CodeSyntax, t.at, "field '%s' requires a value after %s", name, op).
				field(name).expect(valueName(f))
		}
		p.i++
		values = []Value{v}
	}
	n := &Compare{Name: name, Op: op, Value: values[0], At: position(p.text, t.at.Start, values[0].At.End)}
	if f.Kind == KindNumber {
		v, err := number(f, n.Value)
		if err != nil {
			return nil, err
		}
		if !f.Signed && (v < 0 || v == 0 && op == "<") {
			return nil, at(CodeInvalidValue, n.At,
				"%s %s %d is not representable as a non-negative count bound", name, op, v).field(name)
		}
	} else if op == "=" {
		e := at(CodeInvalidValue, n.At, "%s equality is not supported; use %s between A and B", name, name).
			field(name).expect(">=", "<=", ">", "<", "between")
		if name == "date" {
			e = e.example("write", "date between 2026-01-15 and 2026-01-15")
		}
		return nil, e
	}
	return n, nil
}

// between reads name between a and b. For a number, both must begin with a digit:
// "words between friends and foes" is text.
func (p *parser) between(f *FieldSpec, name string, t token) (Pred, bool, *Error) {
	lo, okLo := p.value(p.ahead(2))
	and := p.ahead(3)
	hi, okHi := p.value(p.ahead(4))
	for n := 2; n <= 4; n++ {
		if e := p.ahead(n); e.kind == tokError {
			return nil, false, e.err
		}
	}
	if !okLo || !okHi || and.kind != tokWord || !strings.EqualFold(and.raw, "and") {
		return nil, false, nil
	}
	if f.Kind == KindNumber && !p.strict && !(digit(lo.Text) && digit(hi.Text)) {
		return nil, false, nil
	}
	p.i += 5
	n := &Range{Name: name, Low: lo, High: hi, At: position(p.text, t.at.Start, hi.At.End)}
	if f.Kind == KindNumber {
		a, err := number(f, lo)
		if err != nil {
			return nil, false, err
		}
		b, err := number(f, hi)
		if err != nil {
			return nil, false, err
		}
		if a > b {
			return nil, false, inverted(f, n)
		}
		if !f.Signed && a < 0 {
			return nil, false, at(CodeInvalidValue, n.At,
				"%s between %d and %d is not representable as a non-negative count bound", name, a, b).field(name)
		}
	}
	return n, true, nil
}

func inverted(f *FieldSpec, n *Range) *Error {
	return at(CodeInvalidValue, n.At, "%s range lower bound %s is greater than upper bound %s",
		n.Name, n.Low.Text, n.High.Text).field(n.Name).
		suggest(joined(f, &Range{Name: n.Name, Low: n.High, High: n.Low}))
}

// value returns the value that a token is, if it can be one.
func (p *parser) value(t token) (Value, bool) {
	switch {
	case t.kind == tokWord && t.neg && p.strict && !t.prefix:
		return Value{Text: "-" + t.raw, At: t.at}, true
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
