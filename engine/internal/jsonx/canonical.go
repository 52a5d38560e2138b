package jsonx

import (
	"slices"
	"strings"
)

// AppendCanonical appends the value with sorted names, without spaces, with the
// fewest escapes and numbers as they were written. Values that differ only in
// member order, spacing, escapes or overridden members give equal bytes, and a
// canonical value parses to itself. A missing value appends nothing.
func (v Value) AppendCanonical(dst []byte) []byte {
	switch v.Type() {
	case Missing:
		return dst
	case String:
		return v.appendString(dst)
	case Array:
		dst = append(dst, '[')
		first := true
		for e := range v.Array() {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = e.AppendCanonical(dst)
		}
		return append(dst, ']')
	case Object:
		return v.appendObject(dst)
	}
	return append(dst, v.Raw()...)
}

// Canonical is AppendCanonical as a string.
func (v Value) Canonical() string {
	if v.p == nil {
		return ""
	}
	return string(v.AppendCanonical(make([]byte, 0, len(v.Raw())+2)))
}

func (v Value) appendString(dst []byte) []byte {
	n := v.node()
	raw := v.p.src[n.start:n.end]
	if !n.dirty {
		return AppendQuoted(dst, raw)
	}
	return AppendQuoted(dst, appendDecoded(make([]byte, 0, len(raw)+8), raw))
}

func (v Value) appendObject(dst []byte) []byte {
	type member struct {
		name  string
		value Value
	}
	members := make([]member, 0, v.Len())
	for k, e := range v.Object() {
		members = append(members, member{k, e})
	}
	slices.SortStableFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	dst = append(dst, '{')
	first := true
	for i, m := range members {
		if i+1 < len(members) && m.name == members[i+1].name {
			continue // the last of equal names counts
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = AppendQuoted(dst, m.name)
		dst = append(dst, ':')
		dst = m.value.AppendCanonical(dst)
	}
	return append(dst, '}')
}
