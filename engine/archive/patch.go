package archive

import "strings"

// looksLikePatch reports whether text holds a patch whose headers may be trusted.
func looksLikePatch(s string) bool {
	return strings.Contains(s, "*** Begin Patch") || strings.Contains(s, "diff --git ")
}

var patchHeaders = []string{
	"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "*** Move File: ",
}

// patchPaths gives add the paths in the headers of a patch, in order: those of
// apply_patch between its begin and end, of a unified diff, and of git. A "---"
// line is a header only if a "+++" line follows, since it may be a removed line.
func patchPaths(s string, add func(string)) {
	envelope, from, hasFrom := false, "", false
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, "\r\n")
		removed, wasFrom := from, hasFrom
		hasFrom = false
		switch {
		case strings.HasPrefix(line, "*** "):
			envelope = !strings.HasPrefix(line, "*** End Patch")
			for _, h := range patchHeaders {
				if p, ok := strings.CutPrefix(line, h); ok {
					add(p)
				}
			}
		case envelope:
		case strings.HasPrefix(line, "diff --git "):
			fields := strings.Fields(line)
			add(diffPath(fields[len(fields)-1]))
		case strings.HasPrefix(line, "--- "):
			from, hasFrom = line[4:], true
		case strings.HasPrefix(line, "+++ ") && wasFrom:
			add(diffPath(removed))
			add(diffPath(line[4:]))
		}
	}
}

// diffPath is the path in a header of a unified diff: without the prefix a/ or
// b/ and without the time after a tab; empty for /dev/null.
func diffPath(p string) string {
	p, _, _ = strings.Cut(p, "\t")
	p = strings.Trim(strings.TrimSpace(p), `"`)
	if p == "/dev/null" {
		return ""
	}
	if len(p) > 2 && (p[0] == 'a' || p[0] == 'b') && p[1] == '/' {
		p = p[2:]
	}
	return p
}
