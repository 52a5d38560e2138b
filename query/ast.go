package query

// A Node is a part of a parsed query. The set of kinds is closed: this file
// declares them all. Every node prints as query text that parses to an equal node
// ([Equal]).
type Node interface {
	Pos() Position
	String() string
	node()
}

// A Text is a node of the text expression: what is matched against blocks and
// ranked. Kinds: *Phrase, *TextAnd, *TextOr, *TextNot.
type Text interface {
	Node
	text()
}

// A Pred is a node of a predicate: two-valued, per row of the unit that it stands in.
// Kinds: *Field, *Compare, *Range, *Exclude, *Exists, *Seq, *Matches, *And, *Or, *Not.
type Pred interface {
	Node
	pred()
}

// Mode says which grammar a query uses.
type Mode uint8

const (
	Compact Mode = iota // clauses side by side, all of which must hold
	Boolean             // AND, OR, NOT between field clauses
	Where               // <unit> where a predicate, without text to rank
)

func (m Mode) String() string { return [...]string{"compact", "boolean", "where"}[m] }

// A Query is a parsed query: sessions where Where holds, ranked by their blocks
// that match Match. Either may be nil; both nil selects every session.
type Query struct {
	Source string // the text as given
	Mode   Mode
	Unit   Unit // what is asked for
	Scope  Pred // of the sessions that own the rows; nil for sessions and where no stage names one
	Where  Pred // of the rows
	Match  Text
	Stages []Stage // of the pipeline behind a query for rows
	// Clauses are the top-level parts of the query in the order written.
	Clauses []Node
}

type (
	// A Phrase is a word, a quoted phrase, or a run of words without spaces: its
	// terms must stand side by side in one block.
	Phrase struct {
		Text   string // decoded, without quotes and star
		Prefix bool   // the last term stands for all that begin with it
		At     Position
	}
	// TextAnd matches blocks that every one of Of matches. It has at least two.
	TextAnd struct {
		Of []Text
		At Position
	}
	// TextOr matches blocks that any of Of matches. It has at least two.
	TextOr struct {
		Of []Text
		At Position
	}
	// TextNot matches the blocks of Left without those of Right.
	TextNot struct {
		Left, Right Text
		At          Position
	}
)

type (
	// A Field is name:value or name:(a|b): any of the values.
	Field struct {
		Name   string // canonical, lower case; of the owner with "session." before it
		Values []Value
		At     Position
	}
	// A Compare is a number or a date beside an operator.
	Compare struct {
		Name  string
		Op    string // one of >= <= = > <
		Value Value
		At    Position
	}
	// A Range is name between Low and High, both inclusive.
	Range struct {
		Name      string
		Low, High Value
		At        Position
	}
	// An Exclude drops sessions that have a block matching the phrase.
	Exclude struct {
		Of *Phrase
		At Position
	}
	// And holds where all of Of hold; it has at least two.
	And struct {
		Of []Pred
		At Position
	}
	// Or holds where any of Of holds; it has at least two.
	Or struct {
		Of []Pred
		At Position
	}
	// Not holds where Of does not.
	Not struct {
		Of   Pred
		Dash bool // written -field:value, which only some fields allow
		At   Position
	}
)

// A Value is one value of a field.
type Value struct {
	Text string
	At   Position
}

func (n *Phrase) Pos() Position  { return n.At }
func (n *TextAnd) Pos() Position { return n.At }
func (n *TextOr) Pos() Position  { return n.At }
func (n *TextNot) Pos() Position { return n.At }
func (n *Field) Pos() Position   { return n.At }
func (n *Compare) Pos() Position { return n.At }
func (n *Range) Pos() Position   { return n.At }
func (n *Exclude) Pos() Position { return n.At }
func (n *And) Pos() Position     { return n.At }
func (n *Or) Pos() Position      { return n.At }
func (n *Not) Pos() Position     { return n.At }

func (*Phrase) node()  {}
func (*TextAnd) node() {}
func (*TextOr) node()  {}
func (*TextNot) node() {}
func (*Field) node()   {}
func (*Compare) node() {}
func (*Range) node()   {}
func (*Exclude) node() {}
func (*And) node()     {}
func (*Or) node()      {}
func (*Not) node()     {}

func (*Phrase) text()  {}
func (*TextAnd) text() {}
func (*TextOr) text()  {}
func (*TextNot) text() {}

func (*Field) pred()   {}
func (*Compare) pred() {}
func (*Range) pred()   {}
func (*Exclude) pred() {}
func (*And) pred()     {}
func (*Or) pred()      {}
func (*Not) pred()     {}
