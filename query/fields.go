package query

import (
	"slices"
	"strings"

	"github.com/hansard-search/hansard/postings"
)

// Kind is the kind of values that a field takes.
type Kind uint8

const (
	KindText   Kind = iota // any string
	KindWord               // one of a closed vocabulary
	KindFlag               // true or false
	KindNumber             // a whole number, compared
	KindDate               // a date as an argument: since, until
	KindTime               // a date, compared
)

func (k Kind) String() string {
	return [...]string{"text", "word", "flag", "number", "date", "time"}[k]
}

// ordered reports whether fields of k stand beside an operator.
func (k Kind) ordered() bool { return k == KindNumber || k == KindTime }

// Match is the rule by which a field selects rows: the name of an operator.
type Match string

const (
	MatchEqual     Match = "equal"        // byte for byte
	MatchFold      Match = "word"         // equal without regard to case
	MatchBool      Match = "flag-word"    // true or false, in any of their spellings
	MatchOrigin    Match = "origin"       // equal, in the vocabulary of origins
	MatchHas       Match = "has"          // equal without regard to case, in the vocabulary of has
	MatchPrefix    Match = "prefix"       // begins with
	MatchSubstring Match = "substring"    // contains, without regard to case
	MatchPath      Match = "path"         // substring, with / for \
	MatchStored    Match = "stored-text"  // substring of stored text
	MatchDirectory Match = "directory"    // equal, or a directory above
	MatchTool      Match = "tool"         // key of an action, or none
	MatchAction    Match = "action"       // semantic type of an action, or none
	MatchFlag      Match = "flag"         // true or false
	MatchLineage   Match = "lineage"      // of the same root as a session
	MatchNumber    Match = "number"       // compared
	MatchTime      Match = "time"         // compared
	MatchSince     Match = "at-or-after"  // the value is a lower bound of the time
	MatchUntil     Match = "at-or-before" // the value is an upper bound of the time
)

// A FieldSpec declares one field of a unit: everything that binding, explain,
// completion and the documentation know about it.
type FieldSpec struct {
	Name        string
	Aliases     []string
	Kind        Kind
	Match       Match
	Columns     []string      // of [Source], any of which may match
	Negatable   bool          // -name:value is allowed in compact queries
	Signed      bool          // a number that may be below zero
	Of          postings.Unit // of the rows whose texts MatchStored looks at
	Part        Part          // which texts
	BooleanOnly bool          // not in compact queries
	Later       bool          // declared by the language, not executed by this build
	Hidden      bool          // not in the list of recognized fields
	Description string
	Example     string
}

// works is the example, unless this build cannot run it yet.
func (f *FieldSpec) works() string {
	if f.Later {
		return ""
	}
	return f.Example
}

func count(name, description string) FieldSpec {
	f := flatCount(name, description, name+" >= 10 AND root:true")
	f.BooleanOnly = true
	return f
}

func flatCount(name, description, example string) FieldSpec {
	return FieldSpec{Name: name, Kind: KindNumber, Match: MatchNumber, Columns: []string{"session." + name},
		Description: description, Example: example}
}

func stored(name string, of postings.Unit, part Part, description, example string) FieldSpec {
	return FieldSpec{Name: name, Kind: KindText, Match: MatchStored, Of: of, Part: part, Description: description, Example: example}
}

func later(name, description, example string) FieldSpec {
	return FieldSpec{Name: name, Later: true, Description: description, Example: example}
}

// LookupField returns the session field of that name or alias, in any case, or nil.
func LookupField(name string) *FieldSpec { return units[0].Lookup(name) }

// recognized are the names that the unknown-field error lists.
func recognized() []string {
	var names []string
	for _, f := range sessionFields {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	}
	return names
}

// unknownField is the error for a name that no unit declares. In a predicate the
// fields of the units are fields too.
func unknownField(name string, p Position, predicate bool) *Error {
	name = strings.ToLower(name)
	names := recognized()
	e := at(CodeUnknownField, p, "unknown query field '%s'; recognized fields: %s", name, strings.Join(names, ", "))
	if predicate {
		e.Message += "; structural fields: " + strings.Join(structuralFields(), ", ")
	}
	names = slices.DeleteFunc(names, func(n string) bool { return LookupField(n).Later })
	if near := closest(name, names); len(near) > 0 && !strings.Contains(name, ".") {
		e.Message += "; did you mean: " + strings.Join(near, ", ")
		for _, n := range near {
			e.Suggestions = append(e.Suggestions, n+":")
		}
	}
	return e.field(name).hint("quote the text if it is not a field")
}
