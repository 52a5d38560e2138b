package query

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// ExplainVersion names the shape of [Explanation].
const ExplainVersion = "hansard.explain/1"

// An Explanation says how a query was read and how it will run. It needs no
// archive.
type Explanation struct {
	Schema           string       `json:"schema"`
	SourceText       string       `json:"source_text"`
	Canonical        string       `json:"canonical"` // parses to the same query
	Clauses          []Clause     `json:"clauses"`
	AST              ExplainedAST `json:"ast"`
	Lowerer          string       `json:"lowerer"`
	LoweringPlan     LoweringPlan `json:"lowering_plan"`
	SelectedUnits    []string     `json:"selected_units"`
	ExecutionLegs    []string     `json:"execution_legs"`
	PlanDescription  []string     `json:"plan_description"`
	UnsupportedNodes []string     `json:"unsupported_nodes"`
	Warnings         []string     `json:"warnings"`
}

// A Clause is a top-level part of the query, in the order written.
type Clause struct {
	Kind     string   `json:"kind"` // field, count, count_range, date, date_range, text, predicate
	Text     string   `json:"text"` // canonical
	Field    string   `json:"field,omitempty"`
	Operator string   `json:"operator,omitempty"`
	Values   []string `json:"values,omitempty"`
	Negated  bool     `json:"negated"`
	Position Position `json:"position"`
}

// An ExplainedAST is the query as a tree.
type ExplainedAST struct {
	Entry     string   `json:"entry"` // compact or boolean
	Predicate *ASTNode `json:"predicate"`
	Text      *ASTNode `json:"text"`
}

// An ASTNode is a node of an ExplainedAST.
type ASTNode struct {
	Kind     string     `json:"kind"` // and, or, not, field, compare, range, exclude, exists, sequence, fts, phrase
	Field    string     `json:"field,omitempty"`
	Operator string     `json:"operator,omitempty"`
	Values   []string   `json:"values,omitempty"`
	Prefix   bool       `json:"prefix,omitempty"`
	Children []*ASTNode `json:"children,omitempty"`
	Unit     string     `json:"unit,omitempty"` // of exists and sequence
	// Constraints stand between the steps of a sequence.
	Constraints []Constraint `json:"constraints,omitempty"`
}

// A Constraint says what may stand between two steps of a sequence.
type Constraint struct {
	Kind     string `json:"kind"` // ordered, next, within
	WithinMS int64  `json:"within_ms,omitempty"`
}

func constraint(s Step) Constraint {
	switch {
	case s.Next:
		return Constraint{Kind: "next"}
	case s.Within > 0:
		return Constraint{Kind: "within", WithinMS: s.Within.Milliseconds()}
	}
	return Constraint{Kind: "ordered"}
}

// A LoweringPlan is what the query was lowered to.
type LoweringPlan struct {
	Lowerer         string   `json:"lowerer"`
	SelectedUnits   []string `json:"selected_units"`
	ExecutionLegs   []string `json:"execution_legs"`
	PlanDescription []string `json:"plan_description"`
}

const lowerer = "query-expression-to-session-plan"

// Explain describes p.
func (p *Plan) Explain() *Explanation {
	e := &Explanation{
		Schema: ExplainVersion, SourceText: p.Query.Source, Canonical: p.Query.String(),
		Clauses: []Clause{}, Lowerer: lowerer, SelectedUnits: []string{string(p.Unit())},
		ExecutionLegs: []string{}, PlanDescription: []string{}, UnsupportedNodes: []string{},
		Warnings: append([]string{}, p.Warnings...),
	}
	for _, n := range p.Query.Clauses {
		e.Clauses = append(e.Clauses, clause(n))
	}
	e.AST = ExplainedAST{Entry: p.Query.Mode.String(), Predicate: explainPred(p.Query.Where), Text: explainText(p.Query.Match)}
	if p.where != nil {
		e.ExecutionLegs = append(e.ExecutionLegs, "filter")
	}
	switch {
	case p.rows != nil:
		e.ExecutionLegs = append(e.ExecutionLegs, "rows")
	case p.ranked:
		e.ExecutionLegs = append(e.ExecutionLegs, "fts")
	default:
		e.ExecutionLegs = append(e.ExecutionLegs, "list")
	}
	for _, s := range p.Operations() {
		e.PlanDescription = append(e.PlanDescription, fmt.Sprintf("%s (%s): %s", s.Name, s.Cost, s.Detail))
	}
	e.LoweringPlan = LoweringPlan{e.Lowerer, e.SelectedUnits, e.ExecutionLegs, e.PlanDescription}
	return e
}

// JSON is the explanation as an indented document.
func (e *Explanation) JSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(e); err != nil {
		return nil, fmt.Errorf("query: explain: %w", err)
	}
	return b.Bytes(), nil
}

func clause(n Node) Clause {
	c := Clause{Kind: "predicate", Text: n.String(), Position: n.Pos()}
	if not, ok := n.(*Not); ok {
		c.Negated = true
		n = not.Of
	}
	switch n := n.(type) {
	case Text:
		c.Kind = "text"
	case *Exclude:
		c.Kind, c.Negated = "text", true
	case *Field:
		c.Kind, c.Field, c.Values = "field", n.Name, texts(n.Values)
	case *Compare:
		c.Kind, c.Field, c.Operator, c.Values = comparedKind(n.Name), n.Name, n.Op, []string{n.Value.Text}
	case *Range:
		c.Kind, c.Field, c.Operator, c.Values = comparedKind(n.Name)+"_range", n.Name, "between", []string{n.Low.Text, n.High.Text}
	}
	return c
}

func comparedKind(name string) string {
	if f := anyField(name); f != nil && f.Kind == KindTime {
		return "date"
	}
	return "count"
}

func texts(values []Value) []string {
	var out []string
	for _, v := range values {
		out = append(out, v.Text)
	}
	return out
}

// ExplainPredicate is p as a tree; nil for nil.
func ExplainPredicate(p Pred) *ASTNode { return explainPred(p) }

// ExplainRows is the predicate of the rows that q asks for as a tree, with that of the
// sessions which own them in front of it.
func (q *Query) ExplainRows() *ASTNode {
	rows := explainPred(q.Where)
	if q.Scope == nil {
		return rows
	}
	scope := explainPred(q.Scope)
	scope.own()
	return &ASTNode{Kind: "and", Children: []*ASTNode{scope, rows}}
}

// own makes the fields of sessions below n fields of the owner of a row.
func (n *ASTNode) own() {
	if n.Field != "" {
		n.Field = ownerPrefix + n.Field
	}
	if n.Kind == "exists" || n.Kind == "sequence" {
		return
	}
	for _, k := range n.Children {
		k.own()
	}
}

func explainPred(p Pred) *ASTNode {
	children := func(of []Pred) []*ASTNode {
		var out []*ASTNode
		for _, k := range of {
			out = append(out, explainPred(k))
		}
		return out
	}
	switch n := p.(type) {
	case nil:
		return nil
	case *Field:
		return &ASTNode{Kind: "field", Field: n.Name, Values: texts(n.Values)}
	case *Compare:
		return &ASTNode{Kind: "compare", Field: n.Name, Operator: n.Op, Values: []string{n.Value.Text}}
	case *Range:
		return &ASTNode{Kind: "range", Field: n.Name, Operator: "between", Values: []string{n.Low.Text, n.High.Text}}
	case *Exclude:
		return &ASTNode{Kind: "exclude", Children: []*ASTNode{explainText(n.Of)}}
	case *Matches:
		return &ASTNode{Kind: "fts", Children: []*ASTNode{explainText(n.Of)}}
	case *Exists:
		return &ASTNode{Kind: "exists", Unit: string(n.Unit), Children: []*ASTNode{explainPred(n.Of)}}
	case *Seq:
		node := &ASTNode{Kind: "sequence", Unit: string(UnitAction)}
		for i, s := range n.Steps {
			node.Children = append(node.Children, explainPred(s.Of))
			if i > 0 {
				node.Constraints = append(node.Constraints, constraint(s))
			}
		}
		return node
	case *And:
		return &ASTNode{Kind: "and", Children: children(n.Of)}
	case *Or:
		return &ASTNode{Kind: "or", Children: children(n.Of)}
	case *Not:
		return &ASTNode{Kind: "not", Children: []*ASTNode{explainPred(n.Of)}}
	default:
		panic("query: unknown predicate node")
	}
}

func explainText(t Text) *ASTNode {
	children := func(of ...Text) []*ASTNode {
		var out []*ASTNode
		for _, k := range of {
			out = append(out, explainText(k))
		}
		return out
	}
	switch n := t.(type) {
	case nil:
		return nil
	case *Phrase:
		return &ASTNode{Kind: "phrase", Values: []string{n.Text}, Prefix: n.Prefix}
	case *TextAnd:
		return &ASTNode{Kind: "and", Children: children(n.Of...)}
	case *TextOr:
		return &ASTNode{Kind: "or", Children: children(n.Of...)}
	case *TextNot:
		return &ASTNode{Kind: "not", Children: children(n.Left, n.Right)}
	default:
		panic("query: unknown text node")
	}
}
