package engine

import (
	"errors"
	"fmt"

	"github.com/hansard-search/hansard/engine/store"
)

// Codes of the findings that this file explains.
const (
	findingLost   = "LOST_COMMITS"
	findingWatch  = "WATCH_FILES"
	findingFormat = "FORMAT_FILE"
)

// explainLosses makes findings of what is missing from the store.
func (d *Diagnosis) explainLosses(lost, watch []Fault) {
	const settle = "and when that is done, to be told no more"
	if len(lost) > 0 {
		d.add(Finding{Code: findingLost, Severity: SeverityLost, Count: len(lost), Places: details(lost),
			What: "writes that were acknowledged are missing from the store",
			Means: "A write-ahead log was removed or damaged, or the disk did not keep what it said it had written. Sessions that were imported in the lost part are gone or stand as they were before, " +
				"and so do tags and titles that were set then. Everything else is there, and nothing is served that was not stored.",
			Do: []Step{advice("If you have the lost file, or a backup of the whole folder, put it back before anything else."),
				d.command("else, to read again the agents' files that the lost part held", "import"),
				d.command(settle+"; answers say that they are partial until then", "doctor", "--settle")}})
	}
	if len(watch) > 0 {
		d.add(Finding{Code: findingWatch, Severity: SeverityUpkeep, Count: len(watch), Places: details(watch),
			What: "files that would tell of a loss were removed from the archive",
			Means: "Nothing that is stored is in them. But had the last writes been lost (MARK), or had the end of the MANIFEST been damaged (SEAL), before they were made anew, nobody would have noticed. " +
				"They are made anew, if they are not there yet, by the next command that opens the archive for writing: MARK when it begins, SEAL when it ends. " +
				"No answer is called partial for it.",
			Do: []Step{d.command("to make sure that all the agents' files are in the archive", "import", "--force"), d.command(settle, "doctor", "--settle")}})
	}
}

// details are what faults say, the first few of them.
func details(g []Fault) []string {
	var out []string
	for _, f := range g[:min(len(g), maxPlaces)] {
		out = append(out, f.Where+": "+f.What)
	}
	return out
}

// Unsettled reports whether there is something to settle.
func (d *Diagnosis) Unsettled() bool { return d.has(findingLost) || d.has(findingWatch) }

// NeedsFormat reports whether [RestoreFormat] would help.
func (d *Diagnosis) NeedsFormat() bool { return d.has(findingFormat) }

func (d *Diagnosis) has(code string) bool {
	for _, f := range d.Findings {
		if f.Code == code {
			return true
		}
	}
	return false
}

// noFormat explains a store whose file FORMAT is of no use: how says what it is instead.
func (d *Diagnosis) noFormat(o Options, f Finding, how string) Finding {
	d.Error = &Error{Code: CodeArchiveDamaged, Message: "the file FORMAT " + how}
	f.Severity, f.Code = SeverityBlocked, findingFormat
	f.What = fmt.Sprintf("%s holds a store, but its file FORMAT %s", d.Archive, how)
	v, err := store.FormatOf(d.Archive, store.Options{FS: o.FS, Logger: o.Logger, Now: o.Now})
	switch {
	case err == nil:
		f.Means = fmt.Sprintf("The sessions are all there: the database opens, and says that its format is %d. Without the file nothing is opened.", v)
		f.Do = []Step{d.command("to write the file again", "doctor", "--fix"), d.command("then, to check every byte", "doctor")}
	case errors.Is(err, store.ErrVersion):
		f.Code, d.Error = CodeArchiveNewer, &Error{Code: CodeArchiveNewer, Message: "the file FORMAT " + how + ", and the archive has a newer format"}
		f.Means = meansNothing + " A newer version of hansard wrote this archive; this one keeps its hands off."
		f.Do = []Step{advice("Use that version or a newer one, and its doctor.")}
	default:
		f.Code = CodeArchiveDamaged
		f.Means = "More than that file is damaged: " + err.Error() + ". Most files of the store are there."
		f.Do = d.startAgain()
	}
	return f
}

// RestoreFormat writes the file FORMAT of an archive again, after the database itself
// has said which format it has.
func RestoreFormat(dir string, o Options) error {
	o = o.withDefaults()
	return storeError(store.RestoreFormat(dir, store.Options{FS: o.FS, Logger: o.Logger, Now: o.Now}))
}
