package claudecode

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

// Bounds of what an event keeps.
const (
	maxSummary = 512     // bytes
	maxScalar  = 512     // bytes of one string
	maxPrompt  = 3 << 10 // bytes of a queued prompt
	maxItems   = 16      // elements of a list, members of an object below the top
	maxNesting = 3       // levels
	maxPayload = 4 << 10 // bytes; members past it are left out
)

// envelope are the members that every record has, or that say what the session or
// the message already does.
var envelope = []string{
	"type", "uuid", "parentUuid", "sessionId", "session_id", "timestamp", "cwd", "gitBranch", "version", "userType",
	"isSidechain", "entrypoint", "slug", "isMeta", "logicalParentUuid", "hookInfos", "originalFile",
}

// payload is a record's own facts as canonical JSON of bounded size, without the
// members of the given names, whose text is kept elsewhere.
func payload(v jsonx.Value, but ...string) string {
	if v.Type() != jsonx.Object {
		return ""
	}
	var keys []string
	members := make(map[string]jsonx.Value)
	for k, e := range v.Object() {
		if _, again := members[k]; !again && !slices.Contains(envelope, k) && !slices.Contains(but, k) {
			keys = append(keys, k)
		}
		members[k] = e
	}
	slices.Sort(keys)
	out := []byte{'{'}
	for _, k := range keys {
		// What does not fit is left out whole.
		val := bounded(nil, members[k], 1)
		if len(out)+len(k)+len(val)+8 > maxPayload || len(k) > maxScalar {
			continue
		}
		out = appendMember(out, k, string(val))
	}
	if len(out) == 1 {
		return ""
	}
	return string(append(out, '}'))
}

// appendMember appends one member of an object whose brace or members dst ends with.
func appendMember(dst []byte, name, value string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = jsonx.AppendQuoted(dst, name)
	dst = append(dst, ':')
	return append(dst, value...)
}

// bounded appends a value with long strings clipped, lists and objects cut, and
// null in place of what is nested too deeply.
func bounded(dst []byte, v jsonx.Value, depth int) []byte {
	switch v.Type() {
	case jsonx.String:
		return jsonx.AppendQuoted(dst, clip(v.Str(), maxScalar))
	case jsonx.Array:
		if depth > maxNesting {
			return append(dst, "null"...)
		}
		dst = append(dst, '[')
		n := 0
		for e := range v.Array() {
			if n == maxItems {
				break
			}
			if n++; n > 1 {
				dst = append(dst, ',')
			}
			dst = bounded(dst, e, depth+1)
		}
		return append(dst, ']')
	case jsonx.Object:
		if depth > maxNesting {
			return append(dst, "null"...)
		}
		return boundedObject(dst, v, depth)
	}
	if len(v.Raw()) > maxScalar {
		return append(dst, "null"...)
	}
	return append(dst, v.Raw()...)
}

func boundedObject(dst []byte, v jsonx.Value, depth int) []byte {
	var keys []string
	for k := range v.Object() {
		if len(keys) < maxItems && !slices.Contains(keys, k) && len(k) <= maxScalar {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	dst = append(dst, '{')
	for i, k := range keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsonx.AppendQuoted(dst, k), ':')
		dst = bounded(dst, v.Get(k), depth+1)
	}
	return append(dst, '}')
}

// clip cuts a text to at most n bytes, between characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.TrimRight(s[:n], " ") + "…"
}

func itoa[T int | int64](n T) string { return strconv.FormatInt(int64(n), 10) }
