package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hansard-search/hansard/engine/store"
)

// looksLikeStore tells the files of a store.
func looksLikeStore(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		return strings.HasSuffix(n, ".sst") || strings.HasPrefix(n, "MANIFEST-")
	})
}

// shellQuote makes one word of s for a POSIX shell.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// explain makes findings of the faults of a check: one per sort.
func (d *Diagnosis) explain(faults []Fault) {
	groups := map[string][]Fault{}
	for _, f := range faults {
		k := sortOf(f)
		groups[k] = append(groups[k], f)
	}
	if g := groups["index"]; len(g) > 0 {
		d.add(d.indexFinding(g))
	}
	if g := groups["session"]; len(g) > 0 {
		d.add(d.sessionFinding(g))
	}
	d.explainLosses(groups["lost"], groups["watch"])
	if g := groups["raw"]; len(g) > 0 {
		d.add(Finding{Code: "SOURCE_BYTES", Severity: SeverityEvidence, Count: len(g), Places: places(g),
			What:  fmt.Sprintf("kept source bytes are damaged or missing (%s)", quantity(len(g), "fault")),
			Means: "Search and reading are not affected. `read --view raw` of the sessions that came from them fails, and a better importer could not parse them again.",
			Do: []Step{d.command("to keep the bytes again of files that still exist", "import", "--force"),
				advice("What stays after that came from a file that is gone: a copy of it from a backup, in the same place, is kept again in the same way.")}})
	}
	if g := groups["store"]; len(g) > 0 {
		d.add(Finding{Code: "STORE_RECORDS", Severity: SeverityLost, Count: len(g), Places: places(g),
			What:  fmt.Sprintf("records of the store cannot be read (%s)", quantity(len(g), "fault")),
			Means: "Which sessions they belong to cannot be told. Everything else is read as before.",
			Do: []Step{d.command("to read the agents' files again and replace what is damaged", "import", "--force"),
				d.command("then, to index everything that the store holds", "rebuild")}, Fixable: true})
	}
	if g := groups["table"]; len(g) > 0 {
		d.add(Finding{Code: "TABLES", Severity: SeverityUpkeep, Count: len(g), Places: places(g), Fixable: true,
			What:  fmt.Sprintf("the store holds damage that nothing needs any more (%s)", quantity(len(g), "block")),
			Means: "No session and no answer is affected. The store cannot put its files in order around it, and an import may have to wait for that.",
			Do: []Step{d.command("to take it out of the store", "doctor", "--fix"),
				d.command("the same without looking first", "rebuild")}})
	}
	if g := groups["upkeep"]; len(g) > 0 {
		d.add(Finding{Code: "BOOKKEEPING", Severity: SeverityUpkeep, Count: len(g), Places: places(g),
			What:  fmt.Sprintf("the store's bookkeeping does not add up (%s)", quantity(len(g), "fault")),
			Means: "No session and no answer is affected. It can cost space, or hide that a file has changed.",
			Do:    []Step{d.command("to read all files again and put their records in order", "import", "--force")}})
	}
}

// sortOf says which finding a fault belongs to.
func sortOf(f Fault) string {
	switch f.Code {
	case "STORE_LOST_COMMITS":
		return "lost"
	case "STORE_NO_MARK", "STORE_NO_SEAL":
		return "watch"
	case "STORE_RAW":
		return "raw"
	case "STORE_TABLE":
		return "table"
	case "STORE_NO_HEAD", "STORE_NO_FRAMES", "STORE_NO_FRAME", "STORE_HASH", "STORE_COUNTERS", "STORE_ID", "STORE_DUPLICATE", FaultSessionUnreadable:
		return "session"
	case "STORE_DAMAGED":
		if strings.Contains(f.Where, "source bytes") {
			return "raw"
		}
		if f.Session != "" || strings.HasPrefix(f.Where, "store: session ") {
			return "session"
		}
		return "store"
	}
	if strings.HasPrefix(f.Code, "STORE_") {
		return "upkeep"
	}
	return "index"
}

// indexFinding is about the derived part.
func (d *Diagnosis) indexFinding(g []Fault) Finding {
	var files []string
	for _, f := range g {
		if f.File != "" && !slices.Contains(files, f.File) {
			files = append(files, f.File)
		}
	}
	what := fmt.Sprintf("the search index is damaged (%s", quantity(len(g), "fault"))
	if len(files) > 0 {
		what += " in " + quantity(len(files), "file")
	}
	return Finding{Code: "INDEX", Severity: SeverityDerived, Count: len(g), Places: places(g), Fixable: true,
		What:  what + ")",
		Means: "Nothing is lost: the index is made from the stored sessions. Searches that meet the damage say that they are partial, and which file it is.",
		Do: []Step{d.command("to put damaged files aside and make the index anew", "doctor", "--fix"),
			d.command("the same without looking first", "rebuild")}}
}

// sessionFinding is about sessions that cannot be read.
func (d *Diagnosis) sessionFinding(g []Fault) Finding {
	var ids []string
	unnamed := 0
	for _, f := range g {
		switch {
		case f.Session == "" || strings.HasPrefix(f.Session, "number "):
			unnamed++
		case !slices.Contains(ids, f.Session):
			ids = append(ids, f.Session)
		}
	}
	n := max(len(ids), 1)
	if len(ids) == 0 {
		n = unnamed
	}
	f := Finding{Code: "SESSIONS", Severity: SeverityLost, Count: len(g), Places: ids[:min(len(ids), maxPlaces)], Fixable: true,
		What: fmt.Sprintf("%s cannot be read whole from the store", quantity(n, "session")),
		Means: "What is damaged of them is lost unless their source files, or the source bytes that the archive kept, are still there. " +
			"All other sessions are read and searched as before.",
		Do: []Step{d.command("to let the next import replace them", "doctor", "--fix"),
			d.command("then, to read the agents' files again", "import")}}
	if len(f.Places) == 0 {
		f.Places = places(g)
		f.Do[1].Command = append(f.Do[1].Command, "--force")
	}
	for _, id := range ids[:min(len(ids), 3)] {
		file := id[strings.LastIndexByte(id, ':')+1:] + ".jsonl"
		f.Do = append(f.Do, Step{Command: []string{"sh", "-c", fmt.Sprintf("hansard --archive %s read --view raw %s > %s && hansard --archive %s import %s",
			shellQuote(d.Archive), shellQuote(id), shellQuote(file), shellQuote(d.Archive), shellQuote(file))},
			Text: "or, if the source file is gone, from the bytes that the archive kept"})
	}
	return f
}

// Treated takes what making the index anew does out of the advice.
func (d *Diagnosis) Treated() {
	for i := range d.Findings {
		if f := &d.Findings[i]; f.Code == "SESSIONS" && len(f.Do) > 1 {
			f.Do, f.Fixable = f.Do[1:], false
			f.Do[0].Text = "to read the agents' files again and replace them"
		}
	}
}

func quantity(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// places names where faults are, the first few of them.
func places(g []Fault) []string {
	out := []string{}
	for _, f := range g {
		p := f.Where
		if f.Where == "" {
			p = f.File
		}
		if !slices.Contains(out, p) && len(out) < maxPlaces {
			out = append(out, p)
		}
	}
	return out
}

// otherKind is about something else in the place of a file.
func (d *Diagnosis) otherKind(other *store.KindError, f Finding) Finding {
	f.Means = meansNothing + " Something else took the name of a file of the archive, and what was in that file may be elsewhere."
	f.Places = []string{other.Path}
	f.Do = []Step{
		{Command: []string{"mv", other.Path, d.Archive + ".aside"}, Text: "to put it aside; if you know where the file is, put that back"},
		d.command("then, to see whether anything is missing", "doctor"),
	}
	return f
}
