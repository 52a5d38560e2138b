package query

import "slices"

// Equal reports whether a and b are the same query: mode, predicates and text,
// wherever they stood.
func Equal(a, b *Query) bool {
	return a.Mode == b.Mode && a.Unit == b.Unit && equalPred(a.Scope, b.Scope) && equalPred(a.Where, b.Where) && equalText(a.Match, b.Match) &&
		slices.EqualFunc(a.Stages, b.Stages, func(s, t Stage) bool { return s.String() == t.String() })
}

func equalText(a, b Text) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case *Phrase:
		b, ok := b.(*Phrase)
		return ok && a.Text == b.Text && a.Prefix == b.Prefix
	case *TextAnd:
		b, ok := b.(*TextAnd)
		return ok && slices.EqualFunc(a.Of, b.Of, equalText)
	case *TextOr:
		b, ok := b.(*TextOr)
		return ok && slices.EqualFunc(a.Of, b.Of, equalText)
	case *TextNot:
		b, ok := b.(*TextNot)
		return ok && equalText(a.Left, b.Left) && equalText(a.Right, b.Right)
	default:
		panic("query: unknown text node")
	}
}

func equalPred(a, b Pred) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case *Field:
		b, ok := b.(*Field)
		return ok && a.Name == b.Name && slices.EqualFunc(a.Values, b.Values, sameValue)
	case *Compare:
		b, ok := b.(*Compare)
		return ok && a.Name == b.Name && a.Op == b.Op && sameValue(a.Value, b.Value)
	case *Range:
		b, ok := b.(*Range)
		return ok && a.Name == b.Name && sameValue(a.Low, b.Low) && sameValue(a.High, b.High)
	case *Exclude:
		b, ok := b.(*Exclude)
		return ok && equalText(a.Of, b.Of)
	case *Matches:
		b, ok := b.(*Matches)
		return ok && equalText(a.Of, b.Of)
	case *Exists:
		b, ok := b.(*Exists)
		return ok && a.Unit == b.Unit && equalPred(a.Of, b.Of)
	case *Seq:
		b, ok := b.(*Seq)
		return ok && slices.EqualFunc(a.Steps, b.Steps, func(s, t Step) bool {
			return s.Next == t.Next && s.Within == t.Within && equalPred(s.Of, t.Of)
		})
	case *And:
		b, ok := b.(*And)
		return ok && slices.EqualFunc(a.Of, b.Of, equalPred)
	case *Or:
		b, ok := b.(*Or)
		return ok && slices.EqualFunc(a.Of, b.Of, equalPred)
	case *Not:
		b, ok := b.(*Not)
		return ok && a.Dash == b.Dash && equalPred(a.Of, b.Of)
	default:
		panic("query: unknown predicate node")
	}
}

func sameValue(a, b Value) bool { return a.Text == b.Text }
