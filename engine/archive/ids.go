package archive

import (
	"slices"
	"strconv"
	"strings"
)

// NormalNative is a native id as identity sees it: clean text without
// surrounding white space.
func NormalNative(native string) string { return strings.TrimSpace(CleanText(native)) }

// MessageID is the public id of a message: "<session>:n:<native>" when its
// native id occurs once in the session, else "<session>:p:<position>.<variant>".
// Duplicates are the session's [Session.Duplicates].
func MessageID(s SessionID, m *Message, duplicates []string) string {
	native := NormalNative(m.Native)
	if native != "" {
		if _, twice := slices.BinarySearch(duplicates, native); twice {
			native = ""
		}
	}
	return MessageKey{Native: native, Position: m.Position, Variant: m.Variant}.ID(s)
}

// BlockID is the public id of the block at position pos of a message.
func BlockID(messageID string, pos int) string {
	return messageID + ":" + strconv.Itoa(pos)
}

// A MessageKey names a message inside its session: by native id, or by position
// and variant when Native is empty.
type MessageKey struct {
	Native            string
	Position, Variant int
}

// ID is the public id of the message that k names in session s.
func (k MessageKey) ID(s SessionID) string {
	if k.Native != "" {
		return string(s) + ":n:" + k.Native
	}
	return string(s) + ":p:" + strconv.Itoa(k.Position) + "." + strconv.Itoa(k.Variant)
}

// Split divides a session id into its origin and its native id. It reports
// whether both are there.
func (id SessionID) Split() (Origin, string, bool) {
	o, native, ok := strings.Cut(string(id), ":")
	return Origin(o), native, ok && o != "" && native != ""
}

// parseMessageID returns every way to read id as a message id, the shortest
// session id first.
func parseMessageID(id string) []Ref {
	var refs []Ref
	colon := strings.IndexByte(id, ':')
	if colon <= 0 {
		return nil
	}
	for i := colon + 2; i+3 <= len(id); i++ {
		if id[i] != ':' || id[i+2] != ':' {
			continue
		}
		s, rest := SessionID(id[:i]), id[i+3:]
		switch id[i+1] {
		case 'n':
			if rest != "" {
				refs = append(refs, Ref{Session: s, Message: MessageKey{Native: rest}})
			}
		case 'p':
			if pos, variant, ok := parsePosition(rest); ok {
				refs = append(refs, Ref{Session: s, Message: MessageKey{Position: pos, Variant: variant}})
			}
		}
	}
	return refs
}

func parsePosition(s string) (pos, variant int, ok bool) {
	a, b, ok := strings.Cut(s, ".")
	if !ok {
		return 0, 0, false
	}
	pos, ok1 := parseOrdinal(a)
	variant, ok2 := parseOrdinal(b)
	return pos, variant, ok1 && ok2
}

// parseOrdinal reads a number in its only spelling: no sign, no leading zero.
func parseOrdinal(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && strconv.Itoa(n) == s && n >= 0
}
