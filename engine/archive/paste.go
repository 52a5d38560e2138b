package archive

import (
	"strconv"
	"strings"
)

// BoundaryProjected marks a paste whose marker is in the text.
const BoundaryProjected = "projected"

// FindPastes returns the pastes whose markers "[Pasted text #N …]" are in text.
// A Position is the marker's N.
func FindPastes(text string) []Paste {
	const head = "[Pasted text #"
	var pastes []Paste
	for from := 0; ; {
		i := strings.Index(text[from:], head)
		if i < 0 {
			return pastes
		}
		i += from
		from = i + len(head)
		digits := from
		for digits < len(text) && text[digits] >= '0' && text[digits] <= '9' {
			digits++
		}
		n, err := strconv.ParseInt(text[from:digits], 10, 32)
		end := strings.IndexByte(text[digits:], ']')
		if err != nil || end < 0 {
			continue
		}
		end += digits + 1
		pastes = append(pastes, Paste{Position: int(n), Start: i, End: end, Boundary: BoundaryProjected})
		from = end
	}
}
