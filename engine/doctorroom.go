package engine

import (
	"fmt"
	"strings"

	"github.com/hansard-search/hansard/engine/store"
)

// openingBytes is what the opening of an archive for writing takes beside its logs: the
// files in which the store's engine notes that it was opened, and the index of a few
// sessions.
const openingBytes = 1 << 20

// room adds a finding if the disk has no room to open the archive for writing: what the
// logs hold is written out then.
func (d *Diagnosis) room(o Options) {
	if there, err := store.Exists(d.Archive, o.FS); !there || err != nil {
		return
	}
	usage, err := o.FS.GetDiskUsage(d.Archive)
	if err != nil {
		return // a file system that does not tell
	}
	need := uint64(openingBytes)
	names, err := o.FS.List(d.Archive)
	for _, n := range names {
		if info, statErr := o.FS.Stat(o.FS.PathJoin(d.Archive, n)); statErr == nil && strings.HasSuffix(n, ".log") {
			need += uint64(info.Size())
		}
	}
	if err != nil || usage.AvailBytes >= need {
		return
	}
	what := fmt.Sprintf("the disk of %s is full: %s are free, and %s are needed to open the archive for writing", d.Archive, amount(usage.AvailBytes), amount(need))
	if len(d.Findings) == 0 {
		d.Error = &Error{Code: CodeDiskFull, Message: what}
	}
	d.add(Finding{Code: CodeDiskFull, Severity: SeverityBlocked, What: what, Count: 1,
		Means: "Nothing is lost: what was stored is read and searched as before. Nothing can be imported until there is room.",
		Do: []Step{advice(fmt.Sprintf("Free %s or more on that disk; an import needs room for what it brings besides.", amount(need-usage.AvailBytes))),
			d.command("then, to look again", "doctor")}})
}

// named reports whether a finding has the code.
func (d *Diagnosis) named(code string) bool {
	for _, f := range d.Findings {
		if f.Code == code {
			return true
		}
	}
	return false
}

// stuck adds a finding about an archive that another process has open and cannot write
// any more.
func (d *Diagnosis) stuck(why *ReadOnly) {
	if why == nil || d.named(why.Code) {
		return
	}
	if len(d.Findings) == 0 {
		d.Error = &Error{Code: why.Code, Message: why.Reason}
	}
	d.add(Finding{Code: why.Code, Severity: SeverityBlocked, What: "the process that has the archive open cannot write: " + why.Reason, Count: 1,
		Means: "Nothing is lost: what was stored is read and searched as before. Nothing can be imported until that process ends.",
		Do:    []Step{advice("See to the cause (" + why.Hint + "), and end the process: the next one opens the archive anew.")}})
}

// amount spells a number of bytes.
func amount(n uint64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1e6:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 1e9:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
