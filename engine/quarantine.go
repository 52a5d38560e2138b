package engine

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hansard-search/hansard/engine/store"
	"github.com/hansard-search/hansard/postings"
	"github.com/hansard-search/hansard/segments"
)

// A segment that turns out damaged is set aside: it leaves the index, its file goes
// into the folder "quarantine" with a note of what was found, and its sessions are
// indexed again from the store. Its record stays in the store's list until that is
// done, so a crash at any point leaves an archive that knows what it lacks.

// Damage names a part of the archive that cannot be read.
type Damage struct {
	File     string `json:"file"`              // of a segment; "store" for a stored session
	Section  string `json:"section,omitempty"` // of the segment, if it is known
	Session  string `json:"session,omitempty"` // that cannot be read
	Reason   string `json:"reason"`
	Sessions int64  `json:"sessions,omitempty"` // how many sessions are missing for it
}

// storeFile is the File of damage to a stored session.
const storeFile = "store"

const (
	quarantineDir = "quarantine"
	noteSuffix    = ".why" // of the note beside a quarantined file
	maxEvidence   = 16     // quarantined files that are kept; the oldest go first
	maxAside      = 64     // segments that a process heals after it had opened them: a disk may break them faster than they are made
)

// A brokenSegment is listed and cannot be read.
type brokenSegment struct {
	record store.SegmentRecord
	damage Damage
	heals  bool // its sessions are to be indexed again
}

// missingFile is the Reason of a segment whose file is not there.
const missingFile = "the file is missing"

// damageOf describes why a segment cannot be read.
func damageOf(name string, err error, sessions int64) Damage {
	d := Damage{File: name, Reason: err.Error(), Sessions: sessions}
	var ce *segments.CorruptError
	switch {
	case errors.As(err, &ce):
		d.Section = ce.Section
	case errors.Is(err, fs.ErrNotExist):
		d.Reason = missingFile
	}
	return d
}

// isDamage tells bytes that are not what was written from faults that may pass, like
// too many open files.
func isDamage(err error) bool {
	return errors.Is(err, segments.ErrCorrupt) || errors.Is(err, postings.ErrCorrupt) ||
		errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EIO) || errors.As(err, new(*store.KindError))
}

// damagedSegment names the segment whose bytes an error says are not what was written.
func damagedSegment(err error) (string, bool) {
	var ce *segments.CorruptError
	if !errors.As(err, &ce) {
		return "", false
	}
	return ce.File, true
}

// lose notes that a listed segment cannot be read, and puts its file aside if it is
// damage.
func (x *index) lose(r store.SegmentRecord, err error) {
	live := r.Sessions
	if dead, err := postings.ReadSet(r.Dead); err == nil {
		live -= int64(dead.Len())
	}
	b := brokenSegment{record: r, damage: damageOf(r.Name, err, live), heals: isDamage(err) && x.aside < maxAside}
	if note, ok := x.note(r.Name); ok && errors.Is(err, fs.ErrNotExist) {
		b.damage.Section, b.damage.Reason = note.Section, note.Reason // it was put there before a restart
	}
	x.log.Error("segment set aside", "file", r.Name, "error", err)
	x.broken = append(x.broken, b)
	if b.heals && !x.readOnly() && !errors.Is(err, fs.ErrNotExist) {
		if err := x.quarantine(b.damage); err != nil {
			x.log.Error("damaged segment not moved", "file", r.Name, "error", err)
		}
	}
}

// setAside takes the segment, which turned out damaged, out of the index. It reports
// false if it is not in there any more.
func (x *index) setAside(seg *segments.Segment, err error) bool {
	at := slices.IndexFunc(x.members, func(m *member) bool { return m.seg == seg })
	if at < 0 {
		return false
	}
	x.aside++
	x.setAt(nil) // the members do not hold what they held
	m := x.members[at]
	x.members = slices.Delete(x.members, at, at+1)
	for no, p := range x.where {
		if p.member == m {
			delete(x.where, no)
			delete(x.marks, no) // what is dirty is indexed again by the next search
		}
	}
	if m.inFile() {
		r, recErr := m.record()
		if recErr != nil {
			r = store.SegmentRecord{Name: m.name, ID: segmentID(m.seg), Sessions: int64(m.sessions())}
		}
		x.lose(r, err)
	}
	if err := m.seg.Unref(); err != nil {
		x.log.Warn("segment not given back", "file", m.name, "error", err)
	}
	return true
}

// suspect sets the member aside that an error of reading segments names.
func (x *index) suspect(err error) bool {
	file, ok := damagedSegment(err)
	if !ok {
		return false
	}
	for _, m := range x.members {
		if m.seg.Name() == file {
			return x.setAside(m.seg, err)
		}
	}
	return false
}

// damages lists what cannot be read: segments, then sessions.
func (x *index) damages() []Damage {
	var out []Damage
	for _, b := range x.broken {
		out = append(out, b.damage)
	}
	nos := make([]store.No, 0, len(x.unreadable))
	for no := range x.unreadable {
		nos = append(nos, no)
	}
	slices.Sort(nos)
	for _, no := range nos {
		out = append(out, x.unreadable[no].damage)
	}
	return out
}

// quarantine moves the file of a segment into the folder of evidence, beside a note.
func (x *index) quarantine(d Damage) error {
	f := x.opts.FS
	dir := f.PathJoin(x.dir, quarantineDir)
	if err := f.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	note, err := json.Marshal(Evidence{Damage: d, Time: x.opts.Now().UTC().Format(time.RFC3339)})
	if err != nil {
		return err
	}
	if err := segments.WriteFile(f, f.PathJoin(dir, d.File+noteSuffix), note); err != nil {
		return err
	}
	if err := f.Rename(f.PathJoin(x.folder.Dir(), d.File), f.PathJoin(dir, d.File)); err != nil {
		return err
	}
	return errors.Join(segments.SyncDir(f, dir), segments.SyncDir(f, x.folder.Dir()), x.trim(dir))
}

// trim removes the oldest evidence beyond maxEvidence.
func (x *index) trim(dir string) error {
	names, err := quarantined(x.opts.FS, dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, n := range names[:max(0, len(names)-maxEvidence)] {
		errs = append(errs, x.opts.FS.Remove(x.opts.FS.PathJoin(dir, n)))
		if err := x.opts.FS.Remove(x.opts.FS.PathJoin(dir, n+noteSuffix)); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// quarantined lists the segment files in a folder of evidence, oldest first; none if
// there is no such folder.
func quarantined(f store.FS, dir string) ([]string, error) {
	names, err := f.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasSuffix(n, segments.Suffix) })
	slices.Sort(names)
	return names, err
}

// Evidence is a damaged segment that was put aside.
type Evidence struct {
	Damage
	Time  string `json:"time"` // when, RFC 3339
	Bytes int64  `json:"bytes,omitempty"`
}

// note reads why a file was put aside.
func (x *index) note(name string) (e Evidence, ok bool) {
	return readNote(x.opts.FS, x.opts.FS.PathJoin(x.dir, quarantineDir, name))
}

func readNote(f store.FS, path string) (e Evidence, ok bool) {
	in, err := f.Open(path + noteSuffix)
	if err != nil {
		return e, false
	}
	b, err := io.ReadAll(io.LimitReader(in, 64<<10))
	if err = errors.Join(err, in.Close()); err != nil {
		return e, false
	}
	return e, json.Unmarshal(b, &e) == nil
}

// putAside moves those files of broken segments into the folder of evidence that are
// still in their place.
func (x *index) putAside(broken []brokenSegment) {
	for _, b := range broken {
		if _, err := x.opts.FS.Stat(x.opts.FS.PathJoin(x.folder.Dir(), b.record.Name)); err != nil {
			continue
		}
		if err := x.quarantine(b.damage); err != nil {
			x.log.Warn("damaged segment not moved", "file", b.record.Name, "error", err)
		}
	}
}
