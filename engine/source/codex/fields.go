package codex

import (
	"slices"
	"strings"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

func isObject(v jsonx.Value) bool { return v.Type() == jsonx.Object }

// firstStr is the first non-empty string among the members.
func firstStr(v jsonx.Value, keys ...string) string {
	for _, k := range keys {
		if s := v.Get(k).Str(); s != "" {
			return s
		}
	}
	return ""
}

func triOf(v jsonx.Value) archive.Tri {
	if b, ok := v.Bool(); ok {
		return archive.TriOf(b)
	}
	return archive.Unknown
}

func intOf(v jsonx.Value) archive.Int {
	if n, ok := v.Int(); ok {
		return archive.IntOf(n)
	}
	return archive.Int{}
}

// joinText joins the non-empty parts with newlines.
func joinText(parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	return strings.Join(slices.DeleteFunc(slices.Clone(parts), func(s string) bool { return s == "" }), "\n")
}

// An object is a JSON object that this package composes: canonical JSON by name.
type object map[string]string

func (o object) text(key, s string) {
	if s != "" {
		o[key] = string(jsonx.AppendQuoted(nil, s))
	}
}

func (o object) list(key string, list []string) {
	dst := []byte{'['}
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonx.AppendQuoted(dst, s)
	}
	o[key] = string(append(dst, ']'))
}

func (o object) value(key string, v jsonx.Value) {
	if v.Exists() {
		o[key] = v.Canonical()
	}
}

func (o object) String() string {
	keys := make([]string, 0, len(o))
	for k := range o {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	dst := []byte{'{'}
	for i, k := range keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(jsonx.AppendQuoted(dst, k), ':'), o[k]...)
	}
	return string(append(dst, '}'))
}

// objectOf takes over the members of v.
func objectOf(v jsonx.Value) object {
	o := make(object, v.Len())
	for k, w := range v.Object() {
		o[k] = w.Canonical()
	}
	return o
}

// Bounds of an event's payload: an event is a note, not a copy of its record.
const (
	briefText  = 512
	briefItems = 16
	briefDepth = 4
	briefBytes = 8 << 10
)

// brief is the canonical form of an object without its type, cut to a bounded
// size: long strings, long lists and deep values lose their ends.
func brief(v jsonx.Value) string {
	o := object{}
	n := 0
	for k, w := range v.Object() {
		if k == "type" {
			continue
		}
		s := string(appendBrief(nil, w, briefDepth))
		if n += len(k) + len(s); n > briefBytes {
			break
		}
		o[shorten(k, briefText)] = s
	}
	return o.String()
}

func appendBrief(dst []byte, v jsonx.Value, depth int) []byte {
	switch v.Type() {
	case jsonx.String:
		return jsonx.AppendQuoted(dst, shorten(v.Str(), briefText))
	case jsonx.Array:
		dst = append(dst, '[')
		i := 0
		for w := range v.Array() {
			if depth == 0 || i == briefItems {
				break
			}
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendBrief(dst, w, depth-1)
			i++
		}
		return append(dst, ']')
	case jsonx.Object:
		o := object{}
		for k, w := range v.Object() {
			if depth == 0 || len(o) == briefItems {
				break
			}
			o[shorten(k, briefText)] = string(appendBrief(nil, w, depth-1))
		}
		return append(dst, o.String()...)
	}
	return v.AppendCanonical(dst)
}

// shorten cuts s at a rune to about n bytes, with a sign.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}
