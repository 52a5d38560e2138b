package query

import (
	"slices"
	"strings"

	"github.com/hansard-search/hansard/postings"
)

// A unit is a distinct phrase of a query: what posting lists are read for. Equal
// phrases share one.
type unit struct {
	id     int
	at     Position // where it stands first
	terms  []string // at least one
	keys   [][]byte // the terms as sources take them
	prefix bool     // the last term stands for all that begin with it
	need   postings.Need
}

// setKeys makes the keys, in one piece of memory.
func (u *unit) setKeys() {
	all := []byte(strings.Join(u.terms, ""))
	u.keys = make([][]byte, len(u.terms))
	for i, t := range u.terms {
		u.keys[i], all = all[:len(t):len(t)], all[len(t):]
	}
}

func (u *unit) String() string {
	var b strings.Builder
	if len(u.terms) == 1 && plainWord(u.terms[0]) {
		b.WriteString(u.terms[0])
	} else {
		quote(&b, strings.Join(u.terms, " "))
	}
	if u.prefix {
		b.WriteByte('*')
	}
	return b.String()
}

// simple reports whether u is one exact term, whose posting list is all there is
// to know.
func (u *unit) simple() bool { return len(u.terms) == 1 && !u.prefix }

// A phrase is one occurrence of a unit in the text of a query; it scores where
// every operator above it matches. Repeated phrases score repeatedly.
type phrase struct {
	unit   *unit
	at     Position
	scored bool // not on the right side of a NOT
}

// A matchNode is a bound text expression. Its id is the place of its rows in the
// scratch of a run. Kinds: *leaf, *all, *either, *without, *nothing.
type matchNode interface {
	slot() int
	String() string
}

type (
	leaf struct {
		id     int
		unit   *unit
		phrase int // index into Plan.phrases
	}
	all struct {
		id int
		of []matchNode
	}
	either struct {
		id int
		of []matchNode
	}
	without struct {
		id          int
		left, right matchNode
	}
	nothing struct{ id int }
)

func (n *leaf) slot() int    { return n.id }
func (n *all) slot() int     { return n.id }
func (n *either) slot() int  { return n.id }
func (n *without) slot() int { return n.id }
func (n *nothing) slot() int { return n.id }

func (n *leaf) String() string   { return n.unit.String() }
func (n *all) String() string    { return joinNodes(n.of, " AND ") }
func (n *either) String() string { return joinNodes(n.of, " OR ") }
func (n *without) String() string {
	return "(" + n.left.String() + " NOT " + n.right.String() + ")"
}
func (n *nothing) String() string { return "nothing" }

func joinNodes(of []matchNode, op string) string {
	var parts []string
	for _, k := range of {
		parts = append(parts, k.String())
	}
	return "(" + strings.Join(parts, op) + ")"
}

func (b *binder) nextNode() int {
	b.nodes++
	return b.nodes - 1
}

// text binds a text expression. Phrases without a searchable character are left
// out, with a warning; an expression of nothing else matches nothing.
func (b *binder) text(t Text, scored bool) (matchNode, *Error) {
	switch n := t.(type) {
	case *Phrase:
		u, err := b.unit(n, scored)
		if err != nil {
			return nil, err
		}
		if u == nil {
			return &nothing{b.nextNode()}, nil
		}
		b.phrases = append(b.phrases, &phrase{unit: u, at: n.At, scored: scored})
		return &leaf{b.nextNode(), u, len(b.phrases) - 1}, nil
	case *TextAnd:
		return b.texts(n.Of, scored, func(id int, of []matchNode) matchNode { return &all{id, of} })
	case *TextOr:
		return b.texts(n.Of, scored, func(id int, of []matchNode) matchNode { return &either{id, of} })
	case *TextNot:
		left, err := b.text(n.Left, scored)
		if err != nil {
			return nil, err
		}
		right, err := b.text(n.Right, false)
		if err != nil {
			return nil, err
		}
		if empty(left) || empty(right) {
			return left, nil
		}
		return &without{b.nextNode(), left, right}, nil
	default:
		panic("query: unknown text node")
	}
}

func empty(n matchNode) bool {
	_, ok := n.(*nothing)
	return ok
}

func (b *binder) texts(of []Text, scored bool, join func(int, []matchNode) matchNode) (matchNode, *Error) {
	var out []matchNode
	for _, k := range of {
		n, err := b.text(k, scored)
		if err != nil {
			return nil, err
		}
		if !empty(n) {
			out = append(out, n)
		}
	}
	switch len(out) {
	case 0:
		return &nothing{b.nextNode()}, nil
	case 1:
		return out[0], nil
	}
	return join(b.nextNode(), out), nil
}

// exclude binds -word.
func (b *binder) exclude(n *Exclude) (predicate, *Error) {
	u, err := b.unit(n.Of, false)
	if err != nil {
		return nil, err
	}
	if u == nil {
		return constant(true), nil
	}
	return noneOf{holds{u}}, nil
}

// unit returns the unit of a phrase, nil if it has no term. A star counts only
// behind a character of the last term: the term of "foo-*" is over before it.
func (b *binder) unit(n *Phrase, scored bool) (*unit, *Error) {
	s := &b.scan
	s.ResetString(n.Text)
	u := &unit{id: len(b.units), at: n.At}
	end := 0
	for s.Next() {
		u.terms = append(u.terms, string(s.Term()))
		end = s.End()
	}
	if b.terms += len(u.terms); b.terms > MaxTerms {
		return nil, at(CodeTooManyTerms, n.At, "query has more than %d terms, those within its words counted", MaxTerms).hint("split the query")
	}
	if len(u.terms) == 0 {
		b.warnings = append(b.warnings, n.String()+" has no character that is searched for")
		return nil, nil
	}
	if u.prefix = n.Prefix && end == len(n.Text); u.prefix != n.Prefix {
		b.warnings = append(b.warnings, "the star of "+n.String()+" does not follow a word and is left out")
	}
	u.setKeys()
	switch {
	case len(u.terms) > 1:
		u.need = postings.Positions
	case scored:
		u.need = postings.Freqs
	}
	for _, old := range b.units {
		if old.prefix == u.prefix && slices.Equal(old.terms, u.terms) {
			old.need = max(old.need, u.need)
			return old, nil
		}
	}
	b.units = append(b.units, u)
	return u, nil
}
