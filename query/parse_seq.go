package query

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// seq reads seq ( P -> Q … ): predicates over actions, with what may stand between.
func (p *parser) seq() (Pred, *Error) {
	t := p.peek()
	p.i++
	n := &Seq{}
	var step Step
	for {
		of, err := p.inside(UnitAction.spec(), p.or)
		if err != nil {
			return nil, err
		}
		if !positive(of) {
			return nil, at(CodeInvalidValue, of.Pos(), "seq() steps must include at least one positive action predicate")
		}
		step.Of = of
		n.Steps = append(n.Steps, step)
		arrow := p.peek()
		if arrow.kind != tokArrow {
			break
		}
		p.i++
		if step, err = link(arrow); err != nil {
			return nil, err
		}
	}
	if len(n.Steps) < 2 && p.peek().kind != tokError {
		return nil, p.misplaced(true).expect("->")
	}
	if err := p.close(t); err != nil {
		return nil, err
	}
	n.At = position(p.text, t.at.Start, p.toks[p.i-1].at.End)
	return n, nil
}

// positive reports whether a row can be told to fit p by something that it has.
func positive(p Pred) bool {
	switch n := p.(type) {
	case *Not:
		return false
	case *And:
		for _, k := range n.Of {
			if positive(k) {
				return true
			}
		}
		return false
	case *Or:
		for _, k := range n.Of {
			if !positive(k) {
				return false
			}
		}
	}
	return true
}

var withinPattern = regexp.MustCompile(`^within:(\d+)(ms|s|m|h|d)$`)

var withinUnits = map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}

// link reads the constraint of an arrow.
func link(t token) (Step, *Error) {
	if t.text == "" {
		return Step{}, nil
	}
	if t.text == "next" {
		return Step{Next: true}, nil
	}
	m := withinPattern.FindStringSubmatch(t.text)
	if m == nil {
		return Step{}, at(CodeSyntax, t.at, "invalid seq constraint '[%s]'", t.text).expect("[next]", "[within:5m]").
			hint("write [next], or [within:N] with ms, s, m, h or d behind N")
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	unit := withinUnits[m[2]]
	switch {
	case err != nil || n > int64(1<<62)/int64(unit):
		return Step{}, at(CodeInvalidValue, t.at, "seq within duration %s is too long", strings.TrimPrefix(t.text, "within:"))
	case n == 0:
		return Step{}, at(CodeInvalidValue, t.at, "seq within duration must be greater than zero")
	}
	return Step{Within: time.Duration(n) * unit}, nil
}
