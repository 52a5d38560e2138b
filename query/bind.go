package query

import (
	"slices"
	"strings"
	"time"

	"github.com/hansard-search/hansard/lexer"
)

// Options are what binding needs to know about the world. The zero value is
// production: the time is now, in UTC, with the vocabularies of this build.
type Options struct {
	Now      time.Time      // what relative dates are relative to; zero means the present
	Location *time.Location // of dates without a zone; nil means UTC
	Origins  []string       // the origins that exist; nil means DefaultOrigins
}

// DefaultOrigins returns the tokens that origin: accepts unless Options say
// otherwise.
func DefaultOrigins() []string {
	return []string{"aistudio-drive", "antigravity-session", "chatgpt-export", "claude-ai-export",
		"claude-code-session", "claude-design-session", "codex-session", "gemini-cli-session",
		"grok-export", "hermes-session", "unknown-export"}
}

// ActionTypes returns the semantic types that action: accepts.
func ActionTypes() []string {
	return []string{"file_read", "file_write", "file_edit", "shell", "git", "search", "web", "agent", "subagent", "other", "none"}
}

// HasWords returns what has: accepts: features of a session, and the types of blocks.
func HasWords() []string {
	return []string{"attachments", "paste", "summary", "tools", "text", "thinking", "tool_use", "tool_result", "image", "code", "document"}
}

// Compile parses and binds text. The error is an *[Error].
func Compile(text string, o Options) (*Plan, error) {
	q, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return Bind(q, o)
}

// Bind checks the values of q and makes it ready to run. The plan may be used by
// many runs at once. The error is an *[Error].
func Bind(q *Query, o Options) (*Plan, error) {
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	if o.Location == nil {
		o.Location = time.UTC
	}
	if o.Origins == nil {
		o.Origins = DefaultOrigins()
	}
	b := &binder{query: q, options: o, now: o.Now.In(o.Location), rows: &units[0], compact: q.Mode == Compact}
	plan := &Plan{Query: q}
	var err *Error
	if err = b.where(plan, q); err != nil {
		return nil, err
	}
	if q.Match != nil {
		if plan.match, err = b.text(q.Match, true); err != nil {
			return nil, err
		}
		plan.ranked = true
	}
	plan.units, plan.phrases, plan.Warnings, plan.nodes, plan.lineages = b.units, b.phrases, b.warnings, b.nodes, b.lineages
	return plan, nil
}

type binder struct {
	scan     lexer.Scanner
	query    *Query
	options  Options
	now      time.Time
	rows     *UnitSpec // what the predicate selects that is being bound
	compact  bool      // it stands by itself, with no more than a compact query allows
	paths    []*onPath // clauses of the path of a file
	units    []*unit
	phrases  []*phrase
	nodes    int
	terms    int // of all phrases
	warnings []string
	lineages []*lineage
}

func (b *binder) pred(p Pred) (predicate, *Error) {
	if owned := ownersClause(p); owned != nil && b.rows.Name != UnitSession {
		return b.owned(owned)
	}
	switch n := p.(type) {
	case *Matches:
		return b.matches(n)
	case *Exists:
		return b.exists(n)
	case *Seq:
		return b.seq(n)
	case *Field:
		return b.field(n)
	case *Compare:
		return b.compare(n)
	case *Range:
		return b.between(n)
	case *Exclude:
		return b.exclude(n)
	case *And:
		of, err := b.preds(n.Of)
		if err != nil {
			return nil, err
		}
		return newAllOf(of), nil
	case *Or:
		of, err := b.preds(n.Of)
		if err != nil {
			return nil, err
		}
		return anyOf(of), nil
	case *Not:
		f, ok := n.Of.(*Field)
		if ok && n.Dash && f.Name == "lineage" {
			return nil, negation(LookupField("lineage"), n.At, n.Of.String())
		}
		if spec := b.fieldOf(f, ok); spec != nil && n.Dash && !spec.Negatable && !spec.Later && b.compact {
			err := negation(spec, n.At, n.Of.String())
			if _, wrong := b.field(f); wrong != nil {
				err.Suggestions = nil
			}
			return nil, err
		}
		of, err := b.pred(n.Of)
		if err != nil {
			return nil, err
		}
		return noneOf{of}, nil
	default:
		panic("query: unknown predicate node")
	}
}

func (b *binder) fieldOf(f *Field, ok bool) *FieldSpec {
	if !ok {
		return nil
	}
	return b.rows.Lookup(f.Name)
}

func (b *binder) preds(of []Pred) ([]predicate, *Error) {
	out := make([]predicate, 0, len(of))
	for _, k := range of {
		p, err := b.pred(k)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// spec finds a field; clause is the predicate that names it.
func (b *binder) spec(name string, clause Pred, p Position) (*FieldSpec, *Error) {
	f := b.rows.Lookup(name)
	switch {
	case f == nil:
		return nil, unknownField(name, p, b.query.Mode == Where)
	case f.Later:
		return nil, at(CodeNotSupportedYet, p, "field '%s' is not supported yet", f.Name).field(f.Name)
	case f.BooleanOnly && b.compact:
		return nil, at(CodeFieldScope, p, "field '%s' is supported only inside Boolean queries", f.Name).field(f.Name).
			example("join it to another field with AND, as in", joined(f, clause))
	}
	return f, nil
}

// joined is a clause in a query that works: some fields do not stand by themselves.
func joined(f *FieldSpec, clause Pred) string {
	text := predString(clause)
	if f.BooleanOnly {
		text += " AND messages >= 0"
	}
	if len(text) > longestExample || !parses(text) {
		return f.Example
	}
	return text
}

// longestExample is how long a query is that an error shows.
const longestExample = 80

// field binds name:value by the match rule of the field.
func (b *binder) field(n *Field) (predicate, *Error) {
	f, err := b.spec(n.Name, n, n.At)
	if err != nil {
		return nil, err
	}
	values := make([]string, 0, len(n.Values))
	for _, v := range n.Values {
		values = append(values, v.Text)
	}
	if f.Match == MatchLineage {
		return b.lineage(n)
	}
	if f.Match == MatchPath && b.rows.Name == UnitFile {
		p := &onPath{newContains(values, true), len(b.paths)}
		b.paths = append(b.paths, p)
		return p, nil
	}
	if f.Match == MatchStored {
		return newStored(f, b.rows, values), nil
	}
	k := newKeyword(f, b.rows)
	switch f.Match {
	case MatchEqual:
		k.match = equals(values)
	case MatchFold:
		k.match = newFolded(values)
	case MatchBool:
		k.match = equals(truths(values))
	case MatchOrigin:
		if err := vocabulary(f, n.Values, b.options.Origins, "origin", false); err != nil {
			return nil, err
		}
		k.match = equals(values)
	case MatchHas:
		if err := vocabulary(f, n.Values, HasWords(), f.Name, true); err != nil {
			return nil, err
		}
		k.match = equals(lower(values))
	case MatchPrefix:
		k.match = begins(values)
	case MatchSubstring:
		k.match = newContains(values, false)
	case MatchPath:
		k.match = newContains(values, true)
	case MatchDirectory:
		k.match = newUnder(values)
	case MatchTool:
		k.action(lower(values))
	case MatchAction:
		if err := vocabulary(f, n.Values, ActionTypes(), "action", true); err != nil {
			return nil, err
		}
		k.action(lower(values))
	case MatchFlag:
		flags, err := flags(f, n.Values)
		if err != nil {
			return nil, err
		}
		k.match = equals(flags)
	case MatchSince, MatchUntil:
		return b.bound(f, n)
	default:
		panic("query: field " + f.Name + " has no rule for values")
	}
	return k, nil
}

// action sets the match of a field of actions, among whose values is "none".
func (k *keyword) action(values []string) {
	rest := slices.DeleteFunc(values, func(v string) bool { return v == "none" })
	k.none = len(rest) < len(values)
	if len(rest) > 0 {
		k.match = equals(rest)
	}
}

// bound binds since and until.
func (b *binder) bound(f *FieldSpec, n *Field) (predicate, *Error) {
	op := ">="
	if f.Match == MatchUntil {
		op = "<="
	}
	p := &numbers{column: f.Columns[0], time: f.Kind != KindNumber}
	for _, v := range n.Values {
		d, err := b.date(f, v)
		if err != nil {
			return nil, err
		}
		p.in = append(p.in, compareDate(op, d))
	}
	return p, nil
}

func (b *binder) compare(n *Compare) (predicate, *Error) {
	f, err := b.spec(n.Name, n, n.At)
	if err != nil {
		return nil, err
	}
	p := &numbers{column: f.Columns[0], time: f.Kind != KindNumber}
	if f.Kind == KindNumber {
		v, err := number(f, n.Value)
		if err != nil {
			return nil, err
		}
		p.in = []interval{compareNumber(n.Op, v)}
		return p, nil
	}
	d, err := b.date(f, n.Value)
	if err != nil {
		return nil, err
	}
	p.in = []interval{compareDate(n.Op, d)}
	return p, nil
}

func (b *binder) between(n *Range) (predicate, *Error) {
	f, err := b.spec(n.Name, n, n.At)
	if err != nil {
		return nil, err
	}
	var lo, hi interval
	if f.Kind == KindNumber {
		a, err := number(f, n.Low)
		if err != nil {
			return nil, err
		}
		z, err := number(f, n.High)
		if err != nil {
			return nil, err
		}
		lo, hi = interval{a, a}, interval{z, z}
	} else {
		if lo, err = b.date(f, n.Low); err != nil {
			return nil, err
		}
		if hi, err = b.date(f, n.High); err != nil {
			return nil, err
		}
	}
	if lo.lo > hi.hi {
		return nil, inverted(f, n)
	}
	return &numbers{column: f.Columns[0], in: []interval{{lo.lo, hi.hi}}, time: f.Kind != KindNumber}, nil
}

func (b *binder) date(f *FieldSpec, v Value) (interval, *Error) {
	d, ok := parseDate(v.Text, b.now)
	if !ok {
		return d, at(CodeInvalidDate, v.At, "invalid %s: %s", f.Name, v.Text).field(f.Name).
			hint("write a date like 2026-01-31, 7d, yesterday or \"last week\"").expect("date")
	}
	return d, nil
}

func vocabulary(f *FieldSpec, values []Value, words []string, what string, fold bool) *Error {
	for _, v := range values {
		text := v.Text
		if fold {
			text = strings.ToLower(text)
		}
		if slices.Contains(words, text) {
			continue
		}
		sorted := slices.Sorted(slices.Values(words))
		e := at(CodeInvalidValue, v.At, "unknown %s '%s'; recognized: %s", what, v.Text, strings.Join(sorted, ", ")).
			field(f.Name).expect(sorted...)
		low := strings.ToLower(text)
		for _, w := range sorted {
			if strings.HasPrefix(w, low) {
				e.Suggestions = append(e.Suggestions, f.Name+":"+w)
			}
		}
		if e.Suggestions == nil {
			for _, w := range closest(low, sorted) {
				e.Suggestions = append(e.Suggestions, f.Name+":"+w)
			}
		}
		return e
	}
	return nil
}

func flags(f *FieldSpec, values []Value) ([]string, *Error) {
	var out []string
	for _, v := range values {
		switch strings.ToLower(v.Text) {
		case "true", "1", "yes":
			out = append(out, "true")
		case "false", "0", "no":
			out = append(out, "false")
		default:
			return nil, at(CodeInvalidValue, v.At, "invalid %s value '%s'; expected %s:true or %s:false",
				f.Name, v.Text, f.Name, f.Name).field(f.Name).expect("true", "false").
				suggest(f.Name+":true", f.Name+":false")
		}
	}
	return out, nil
}

func lower(values []string) []string {
	out := make([]string, 0, len(values))
	for _, v := range values {
		out = append(out, strings.ToLower(v))
	}
	return out
}
