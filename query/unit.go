package query

import (
	"slices"
	"strings"

	"github.com/hansard-search/hansard/postings"
)

// A Unit is a kind of row that a query can ask for, by its name in the singular.
type Unit string

// The units of the language.
const (
	UnitSession         Unit = "session"
	UnitMessage         Unit = "message"
	UnitAction          Unit = "action"
	UnitBlock           Unit = "block"
	UnitFile            Unit = "file" // a path that actions of one session touched
	UnitAssertion       Unit = "assertion"
	UnitRun             Unit = "run"
	UnitObservedEvent   Unit = "observed-event"
	UnitContextSnapshot Unit = "context-snapshot"
	UnitDelegation      Unit = "delegation"
)

// A UnitSpec declares one unit: what its rows are made of and which fields it has.
type UnitSpec struct {
	Name Unit
	// Rows are the rows of a source that the predicates of the unit select: a file is
	// a path that selected actions touch.
	Rows   postings.Unit
	Fields []FieldSpec // by name
	// Groups are what group by takes, Metrics what the functions of agg take; a unit
	// without groups has no aggregates.
	Groups   []string
	Metrics  []string
	Timeless bool // its rows cannot be sorted by time
	Later    bool // declared by the language, not executed by this build
}

func (u *UnitSpec) aggregates() bool { return len(u.Groups) > 0 }

// Units returns the units of the language. The slice is shared: read it.
func Units() []UnitSpec { return units }

var units = []UnitSpec{
	{Name: UnitSession, Rows: postings.Session, Fields: sessionFields},
	{Name: UnitMessage, Rows: postings.Message, Fields: messageFields,
		Groups: groups("role", "type"), Metrics: []string{"word_count"}},
	{Name: UnitAction, Rows: postings.Action, Fields: actionFields,
		Groups: groups("action", "exit_code", "followup_class", "is_error", "tool", "tool_family", "type"), Metrics: []string{"exit_code", "is_error"}},
	{Name: UnitBlock, Rows: postings.Block, Fields: blockFields, Groups: groups("action", "type")},
	{Name: UnitFile, Rows: postings.Action, Fields: fileFields, Groups: groups("path")},
	{Name: UnitAssertion, Fields: assertionFields, Groups: groups("author_kind", "kind", "status", "visibility"), Later: true},
	{Name: UnitRun, Fields: runFields, Later: true},
	{Name: UnitObservedEvent, Fields: eventFields, Groups: groups("delivery_state", "handler", "kind", "status", "tool"), Later: true},
	{Name: UnitContextSnapshot, Fields: snapshotFields, Later: true},
	{Name: UnitDelegation, Fields: delegationFields, Timeless: true, Later: true,
		Groups: groups("basis", "child_model", "dispatch_model", "mapping_state", "requested_model", "result_status")},
}

// groups are the group fields of a unit with those of the session, sorted.
func groups(own ...string) []string {
	out := append(own, "session.origin", "session.repo")
	slices.Sort(out)
	return out
}

// Plural is the name of the rows: "messages".
func (u Unit) Plural() string { return string(u) + "s" }

// LookupUnit returns the unit of that name, singular or plural, in any case, or nil.
func LookupUnit(name string) *UnitSpec {
	name = strings.TrimSuffix(strings.ToLower(name), "s")
	for i := range units {
		if string(units[i].Name) == name {
			return &units[i]
		}
	}
	return nil
}

// spec is the declaration of a unit of the language.
func (u Unit) spec() *UnitSpec { return LookupUnit(string(u)) }

// Lookup returns the field of u of that name or alias, in any case, or nil.
func (u *UnitSpec) Lookup(name string) *FieldSpec {
	name = strings.ToLower(name)
	i, ok := slices.BinarySearchFunc(u.Fields, name, func(f FieldSpec, n string) int {
		return strings.Compare(f.Name, n)
	})
	if ok {
		return &u.Fields[i]
	}
	for i := range u.Fields {
		if slices.Contains(u.Fields[i].Aliases, name) {
			return &u.Fields[i]
		}
	}
	return nil
}

// structuralFields are the names of the fields of all units besides sessions.
func structuralFields() []string {
	var out []string
	for _, u := range units {
		if u.Name == UnitSession {
			continue
		}
		for _, f := range u.Fields {
			out = append(out, f.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ownerPrefix stands before a field of the session that owns a row.
const ownerPrefix = "session."

// ownerField returns the session field that session.name means inside a predicate
// of another unit, or nil.
func ownerField(name string) *FieldSpec {
	rest, ok := strings.CutPrefix(strings.ToLower(name), ownerPrefix)
	if !ok {
		return nil
	}
	return LookupField(rest)
}

// anyField returns the declaration of a field of any unit, or of the session that
// owns its rows, or nil.
func anyField(name string) *FieldSpec {
	for i := range units {
		if f := units[i].Lookup(name); f != nil {
			return f
		}
	}
	return ownerField(name)
}

// structuralField is anyField, and a stand-in for a name that only a predicate can judge:
// a field of the owner, or of the value of an assertion.
func structuralField(name string) *FieldSpec {
	if f := anyField(name); f != nil {
		return f
	}
	low := strings.ToLower(name)
	if strings.HasPrefix(low, ownerPrefix) || strings.HasPrefix(low, "value.") {
		return &FieldSpec{Name: low}
	}
	return nil
}

// compares reports whether name is a field of some unit that stands beside an operator.
func compares(name string) bool {
	for i := range units {
		if f := units[i].Lookup(name); f != nil && f.Kind.ordered() {
			return true
		}
	}
	f := ownerField(name)
	return f != nil && f.Kind.ordered()
}
