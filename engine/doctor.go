package engine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/hansard-search/hansard/engine/store"
)

// A Diagnosis is what Diagnose found, for people: what is wrong, what that means for
// their data, and what to do next. Programs branch on the codes.
type Diagnosis struct {
	Schema   string     `json:"schema"`
	Archive  string     `json:"archive"`
	Sound    bool       `json:"sound"`    // nothing is wrong; old evidence may be there
	Opens    bool       `json:"opens"`    // the archive could be looked at
	Worst    string     `json:"worst"`    // of the findings; empty if sound
	Findings []Finding  `json:"findings"` // worst first
	Evidence []Evidence `json:"evidence"` // damaged files that were put aside
	Fixed    []string   `json:"fixed"`    // what was done about it, if anything was asked for
	Sessions int        `json:"sessions"`
	Segments int        `json:"segments"`
	// Error is the fault that kept the archive from being opened, or would keep it from
	// being written; nil if it opens.
	Error *Error `json:"-"`

	held *ReadOnly // why the process that has the archive open cannot write
}

// A Finding is one thing that is wrong, wherever it shows.
type Finding struct {
	Code     string   `json:"code"`     // stable
	Severity string   `json:"severity"` // one of the severities below
	What     string   `json:"what"`
	Means    string   `json:"means"` // for the data
	Do       []Step   `json:"do"`
	Places   []string `json:"places"` // files, sections, sessions; at most ten
	Count    int      `json:"count"`  // of faults
	Fixable  bool     `json:"fixable"`
}

// A Step is something to do: a command to type, or words if there is none.
type Step struct {
	Command []string `json:"command"` // arguments; nil if it is not a command
	Text    string   `json:"text"`    // why, or what
}

// Severities of findings, worst first.
const (
	SeverityBlocked  = "blocked"  // the archive cannot be used as it is; nothing says that data is lost
	SeverityLost     = "lost"     // stored sessions, or a part of one, cannot be read
	SeverityDerived  = "derived"  // the search index: it is made from what is stored
	SeverityEvidence = "evidence" // source bytes, which nothing else needs
	SeverityUpkeep   = "upkeep"   // bookkeeping, without effect on answers
)

var severities = []string{SeverityBlocked, SeverityLost, SeverityDerived, SeverityEvidence, SeverityUpkeep}

const doctorSchema = "hansard.doctor/1"

// maxPlaces is how many places a finding names.
const maxPlaces = 10

// A Checker is an open archive.
type Checker interface {
	Check(ctx context.Context) (*CheckReport, error)
}

// Diagnose looks at the archive in dir without changing a byte, also if it cannot be
// opened. An error means that the looking itself was cut short.
func Diagnose(ctx context.Context, dir string, o Options) (*Diagnosis, error) {
	o.ReadOnly, o.Create, o.NoHeal, o.NoMerge = true, false, true, true
	d := newDiagnosis(dir)
	e, err := Open(dir, o)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		d.closedDoor(o.withDefaults(), err)
		return d.finish(o), nil
	}
	err = d.examine(ctx, e)
	if err = errors.Join(err, e.Close()); err != nil {
		return nil, err
	}
	return d.finish(o), nil
}

// DiagnoseOpen is Diagnose of an archive that another process has open, through that
// process.
func DiagnoseOpen(ctx context.Context, dir string, o Options, c Checker) (*Diagnosis, error) {
	d := newDiagnosis(dir)
	if err := d.examine(ctx, c); err != nil {
		return nil, err
	}
	return d.finish(o), nil
}

func newDiagnosis(dir string) *Diagnosis {
	return &Diagnosis{Schema: doctorSchema, Archive: dir, Findings: []Finding{}, Evidence: []Evidence{}, Fixed: []string{}}
}

// examine checks an open archive.
func (d *Diagnosis) examine(ctx context.Context, c Checker) error {
	d.Opens = true
	r, err := c.Check(ctx)
	if err != nil {
		var known *Error
		if ctx.Err() == nil && errors.As(err, &known) && known.Code == CodeArchiveDamaged {
			d.Error = known
			d.add(Finding{Code: known.Code, Severity: SeverityLost, What: known.Message, Means: meansNoStore, Do: d.startAgain(), Count: 1})
			return nil
		}
		return err
	}
	d.Sessions, d.Segments, d.held = r.Sessions, r.Segments, r.ReadOnly
	d.explain(r.Faults)
	return nil
}

// finish lists the evidence and sums up.
func (d *Diagnosis) finish(o Options) *Diagnosis {
	o = o.withDefaults()
	d.room(o)
	d.stuck(d.held)
	dir := o.FS.PathJoin(d.Archive, quarantineDir)
	names, err := quarantined(o.FS, dir)
	if err == nil {
		for _, n := range names {
			e, _ := readNote(o.FS, o.FS.PathJoin(dir, n))
			e.File = o.FS.PathJoin(dir, n)
			if info, err := o.FS.Stat(e.File); err == nil {
				e.Bytes = info.Size()
			}
			d.Evidence = append(d.Evidence, e)
		}
	}
	var sorted []Finding
	for _, s := range severities {
		for _, f := range d.Findings {
			if f.Severity == s {
				sorted = append(sorted, f)
			}
		}
	}
	if d.Findings = sorted; len(sorted) > 0 {
		d.Worst = sorted[0].Severity
	} else {
		d.Findings = []Finding{}
	}
	d.Sound = len(sorted) == 0
	return d
}

// Fixable reports whether making the index anew would help.
func (d *Diagnosis) Fixable() bool {
	return slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Fixable })
}

func (d *Diagnosis) add(f Finding) {
	if f.Places == nil {
		f.Places = []string{}
	}
	if f.Do == nil {
		f.Do = []Step{}
	}
	d.Findings = append(d.Findings, f)
}

// command is a step that runs hansard on this archive.
func (d *Diagnosis) command(text string, args ...string) Step {
	return Step{Command: append([]string{"hansard", "--archive", d.Archive}, args...), Text: text}
}

func advice(text string) Step { return Step{Text: text} }

const (
	meansNoStore = "The sessions are in the store, and the store cannot be opened. They are not in any other file of the archive. " +
		"What the agents' own folders still hold can be imported again; the rest needs a backup."
	meansNothing = "Nothing is lost and nothing was changed."
)

// startAgain is what to do about a store that cannot be opened.
func (d *Diagnosis) startAgain() []Step {
	return []Step{
		advice("If you have a backup of the folder, put it back."),
		{Command: []string{"mv", d.Archive, d.Archive + ".damaged"}, Text: "else, to put the folder aside; do not delete it"},
		d.command("then, to import what the agents still have", "import"),
	}
}

// closedDoor explains why the archive cannot be opened.
func (d *Diagnosis) closedDoor(o Options, err error) {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Code: CodeInternal, Message: err.Error(), Err: err}
	}
	d.Error = e
	f := Finding{Code: e.Code, Severity: SeverityBlocked, What: e.Message, Means: meansNothing, Count: 1}
	var other *store.KindError
	switch {
	case e.Code == CodeArchiveMissing, errors.Is(err, store.ErrNoFormat), isFile(o, d.Archive):
		f = d.noArchive(o, f)
	case errors.Is(err, store.ErrBadFormat):
		f = d.noFormat(o, f, "does not name a format")
	case errors.As(err, &other):
		f = d.otherKind(other, f)
	case e.Code == CodeArchiveBusy:
		f.Means = meansNothing + " Another process has the archive open and does not let others in."
		f.Do = []Step{advice("Wait until it ends, or end it, and look again.")}
	case e.Code == CodeArchiveNewer:
		f.Means = meansNothing + " A newer version of hansard wrote this archive; this one keeps its hands off."
		f.Do = []Step{advice("Use that version or a newer one.")}
	case e.Code == CodeDiskFull:
		f.Means = "What is stored is safe, but the archive needs some room to open."
		f.Do = []Step{advice("Free some space on the disk of " + d.Archive + " (50 MB will do) and look again.")}
	case e.Code == CodeArchiveUnreadable || errors.Is(err, fs.ErrPermission):
		f.Means = meansNothing + " The system does not let you read the folder or a file in it."
		f.Do = []Step{{Command: []string{"ls", "-la", d.Archive}, Text: "to see whose the files are; they must be yours to read and write"}}
	case e.Code == CodeArchiveDamaged:
		f.Severity, f.Means, f.Do = SeverityLost, meansNoStore, d.startAgain()
	default:
		f.Do = []Step{advice("Look again; if it stays so, report it with this message.")}
	}
	d.add(f)
}

func isFile(o Options, path string) bool {
	info, err := o.FS.Stat(path)
	return err == nil && !info.IsDir()
}

// noArchive tells a folder that is not there from one that lost its format file.
func (d *Diagnosis) noArchive(o Options, f Finding) Finding {
	names, err := o.FS.List(d.Archive)
	_, statErr := o.FS.Stat(d.Archive)
	switch {
	case isFile(o, d.Archive):
		f.What = d.Archive + " is a file, and an archive is a folder"
		f.Do = []Step{advice("Name the folder with --archive.")}
	case errors.Is(statErr, os.ErrNotExist) || err == nil && len(names) == 0:
		f.What = "there is no archive in " + d.Archive
		f.Means = "Nothing was imported into this folder yet, or it was moved or deleted."
		f.Do = []Step{advice("If it is elsewhere, name it with --archive."), d.command("else, to make one", "import")}
	case looksLikeStore(names):
		f = d.noFormat(o, f, "is missing")
	default:
		f.What = d.Archive + " holds other files and no archive"
		f.Do = []Step{advice("Name the folder of the archive with --archive.")}
	}
	return f
}
