package query

import (
	"strconv"
	"strings"
	"unicode"
)

// String prints q in canonical form: predicates first, then text.
func (q *Query) String() string {
	var b strings.Builder
	if q.Mode == Where {
		if q.Scope != nil {
			b.WriteString("sessions where " + predString(q.Scope) + " | ")
		}
		b.WriteString(q.Unit.Plural() + " where " + predString(q.Where))
		for _, s := range q.Stages {
			b.WriteString(" | " + s.String())
		}
		return b.String()
	}
	switch w := q.Where.(type) {
	case nil:
	case *And:
		sep := " "
		if q.Mode == Boolean {
			sep = " AND "
		}
		for i, p := range w.Of {
			if i > 0 {
				b.WriteString(sep)
			}
			printPred(&b, p, true)
		}
	default:
		printPred(&b, w, q.Match != nil)
	}
	if q.Match != nil {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		printText(&b, q.Match, precOr)
	}
	return b.String()
}

func (n *Phrase) String() string  { return textString(n) }
func (n *TextAnd) String() string { return textString(n) }
func (n *TextOr) String() string  { return textString(n) }
func (n *TextNot) String() string { return textString(n) }
func (n *Field) String() string   { return predString(n) }
func (n *Compare) String() string { return predString(n) }
func (n *Range) String() string   { return predString(n) }
func (n *Exclude) String() string { return predString(n) }
func (n *Exists) String() string  { return predString(n) }
func (n *Seq) String() string     { return predString(n) }
func (n *Matches) String() string { return predString(n) }
func (n *And) String() string     { return predString(n) }
func (n *Or) String() string      { return predString(n) }
func (n *Not) String() string     { return predString(n) }

func textString(t Text) string {
	var b strings.Builder
	printText(&b, t, precOr)
	return b.String()
}

func predString(p Pred) string {
	var b strings.Builder
	printPred(&b, p, false)
	return b.String()
}

// How tightly text operators bind: side by side before NOT before AND before OR.
// TextAnd prints side by side, so precAnd never prints by itself.
const (
	precOr = iota
	precNot
	precList
	precPrimary
)

func printText(b *strings.Builder, t Text, outer int) {
	open := func(prec int) func() {
		if prec >= outer {
			return func() {}
		}
		b.WriteByte('(')
		return func() { b.WriteByte(')') }
	}
	switch n := t.(type) {
	case *Phrase:
		printPhrase(b, n)
	case *TextAnd:
		end := open(precList)
		for i, k := range n.Of {
			if i > 0 {
				b.WriteByte(' ')
			}
			printText(b, k, precPrimary)
		}
		end()
	case *TextNot:
		end := open(precNot)
		printText(b, n.Left, precNot)
		b.WriteString(" NOT ")
		printText(b, n.Right, precList)
		end()
	case *TextOr:
		end := open(precOr)
		for i, k := range n.Of {
			if i > 0 {
				b.WriteString(" OR ")
			}
			printText(b, k, precNot)
		}
		end()
	default:
		panic("query: unknown text node")
	}
}

// printPred prints p; nested says that p stands beside another operand.
func printPred(b *strings.Builder, p Pred, nested bool) {
	list := func(of []Pred, op string) {
		if nested {
			b.WriteByte('(')
		}
		for i, k := range of {
			if i > 0 {
				b.WriteString(op)
			}
			printPred(b, k, true)
		}
		if nested {
			b.WriteByte(')')
		}
	}
	switch n := p.(type) {
	case *Field:
		b.WriteString(n.Name)
		b.WriteByte(':')
		for i, v := range n.Values {
			if i > 0 {
				b.WriteByte('|')
			}
			printValue(b, v.Text)
		}
	case *Compare:
		b.WriteString(n.Name + " " + n.Op + " ")
		printOperand(b, n.Value.Text)
	case *Range:
		b.WriteString(n.Name + " between ")
		printOperand(b, n.Low.Text)
		b.WriteString(" and ")
		printOperand(b, n.High.Text)
	case *Exclude:
		b.WriteByte('-')
		printPhrase(b, n.Of)
	case *Matches:
		b.WriteByte('~')
		if strings.HasPrefix(n.Of.Text, "/") { // ~/src is a path
			quote(b, n.Of.Text)
			if n.Of.Prefix {
				b.WriteByte('*')
			}
			break
		}
		printPhrase(b, n.Of)
	case *Exists:
		b.WriteString("exists " + string(n.Unit) + "(")
		printPred(b, n.Of, false)
		b.WriteByte(')')
	case *Seq:
		b.WriteString("seq(")
		for i, s := range n.Steps {
			if i > 0 {
				b.WriteString(" -> ")
				printLink(b, s)
			}
			printPred(b, s.Of, false)
		}
		b.WriteByte(')')
	case *And:
		list(n.Of, " AND ")
	case *Or:
		list(n.Of, " OR ")
	case *Not:
		if n.Dash {
			b.WriteByte('-')
		} else {
			b.WriteString("NOT ")
		}
		printPred(b, n.Of, true)
	default:
		panic("query: unknown predicate node")
	}
}

// printLink prints the constraint before a step of a sequence.
func printLink(b *strings.Builder, s Step) {
	switch ms := s.Within.Milliseconds(); {
	case s.Next:
		b.WriteString("[next] ")
	case ms > 0:
		b.WriteString("[within:" + strconv.FormatInt(ms, 10) + "ms] ")
	}
}

// printOperand prints a value that stands alone, where name: would begin a clause.
func printOperand(b *strings.Builder, v string) {
	if fieldName(v) != "" {
		quote(b, v)
		return
	}
	printValue(b, v)
}

func printPhrase(b *strings.Builder, n *Phrase) {
	if plainWord(n.Text) {
		b.WriteString(n.Text)
	} else {
		quote(b, n.Text)
	}
	if n.Prefix {
		b.WriteByte('*')
	}
}

func printValue(b *strings.Builder, v string) {
	for _, r := range v {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_./:@+,-\\", r) {
			quote(b, v)
			return
		}
	}
	if v == "" || v[0] == '-' {
		quote(b, v)
		return
	}
	b.WriteString(v)
}

// plainWord reports whether s needs no quotes as a text term. It is strict:
// whatever could mean something else is quoted.
func plainWord(s string) bool {
	if s == "" || s[0] == '-' {
		return false
	}
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_./-@'", r) {
			return false
		}
	}
	return !reserved(s)
}

// reserved reports whether s, unquoted, may be read as something else than text.
func reserved(s string) bool {
	s = strings.ToLower(s)
	switch s {
	case "and", "or", "not", "between", "with", "where", "exists", "seq", "from":
		return true
	}
	if LookupUnit(s) != nil {
		return true
	}
	return LookupField(s) != nil
}

// quote writes s as a JSON string, the quoted form of the language.
func quote(b *strings.Builder, s string) {
	const hex = "0123456789abcdef"
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ':
			b.WriteString(`\u00`)
			b.WriteByte(hex[r>>4])
			b.WriteByte(hex[r&15])
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
}
