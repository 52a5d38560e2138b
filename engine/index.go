package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"sync"

	"github.com/hansard-search/hansard/engine/store"
	"github.com/hansard-search/hansard/postings"
	"github.com/hansard-search/hansard/segments"
)

// An index is the live list of segments over the store: every acknowledged session
// is in exactly one of them, or dirty. Its methods are called with mu held unless
// they say otherwise.
type index struct {
	store  *store.Store
	folder *segments.Folder
	dir    string // of the archive
	opts   Options
	log    *slog.Logger

	merging sync.Mutex // held by a merge of files and by a rebuild; taken before mu

	mu      sync.Mutex
	members []*member              // oldest first; files before tail segments
	where   map[store.No]place     // the live copy of each session
	marks   map[store.No]store.Ref // dirty marks that are indexed, but not durably
	next    uint64                 // number of the next segment file
	broken  []brokenSegment        // listed segments that cannot be read
	aside   int                    // segments that were set aside since the archive was opened
	// unreadable are dirty sessions that the store cannot give.
	unreadable map[store.No]unreadable
	suspects   map[store.No]bool // sessions whose damage the store was told of
	doubt      bool              // some members may hold what the store has lost
	at         *store.Snapshot   // what the members hold, exactly; nil when not known
}

func openIndex(dir string, st *store.Store, o Options) (*index, error) {
	o.FS = st.Files()
	at := o.FS.PathJoin(dir, "segments")
	folder := segments.ReadFolder(o.FS, at)
	if !o.ReadOnly {
		var err error
		if folder, err = segments.OpenFolder(o.FS, at); err != nil {
			return nil, err
		}
	}
	x := &index{store: st, folder: folder, dir: dir, opts: o, log: o.Logger, doubt: doubtful(st.Losses()),
		where: map[store.No]place{}, marks: map[store.No]store.Ref{},
		unreadable: map[store.No]unreadable{}, suspects: map[store.No]bool{}}
	if err := x.load(); err != nil {
		return nil, errors.Join(err, x.close())
	}
	return x, nil
}

// load opens the segments of the store's list and removes files that are not in it.
func (x *index) load() error {
	snap, err := x.store.Snapshot()
	if err != nil {
		return err
	}
	defer snap.Close()
	records, err := snap.Segments()
	if err != nil {
		return err
	}
	listed := map[string]bool{}
	for _, r := range records {
		listed[r.Name] = true
		x.passName(r.Name)
		err := x.open(r)
		if errors.Is(err, segments.ErrVersion) {
			return fmt.Errorf("%w: %w", store.ErrVersion, err)
		}
		if err != nil {
			x.lose(r, err)
		}
	}
	if len(x.broken) == 1 {
		lost, err := x.missing(snap)
		if err == nil {
			x.broken[0].damage.Sessions = int64(len(lost))
		}
	}
	return x.sweep(listed)
}

func (x *index) open(r store.SegmentRecord) error {
	seg, err := x.folder.Open(r.Name)
	if err != nil {
		return err
	}
	if got := segmentID(seg); got != r.ID {
		err := &segments.CorruptError{File: r.Name, Section: "footer", Page: -1, Reason: fmt.Sprintf("segment id is %016x, the list says %016x", got, r.ID)}
		return errors.Join(err, seg.Unref())
	}
	var dead postings.Set
	if len(r.Dead) > 0 {
		if dead, err = postings.ReadSet(r.Dead); err != nil {
			return errors.Join(err, seg.Unref())
		}
	}
	if err := x.adopt(newMember(r.Name, seg, r.Bytes, dead)); err != nil {
		return errors.Join(err, seg.Unref())
	}
	return nil
}

// segmentID is the first half of a segment's id, as the store's list holds it.
func segmentID(s *segments.Segment) uint64 {
	id := s.Info().ID
	return binary.LittleEndian.Uint64(id[:8])
}

// sweep removes segment files that are not in the list: left by a crash before
// their commit, or replaced while a reader still held them.
func (x *index) sweep(listed map[string]bool) error {
	names, err := x.folder.Names()
	if err != nil && !(x.opts.ReadOnly && errors.Is(err, fs.ErrNotExist)) {
		return err
	}
	evidence, err := quarantined(x.opts.FS, x.opts.FS.PathJoin(x.dir, quarantineDir))
	if err != nil {
		return err
	}
	for _, n := range evidence {
		x.passName(n)
	}
	for _, n := range names {
		x.passName(n)
		if !listed[n] && !x.opts.ReadOnly {
			if err := x.folder.Remove(n); err != nil {
				return err
			}
		}
	}
	if x.opts.ReadOnly {
		return nil
	}
	return x.folder.RemoveTemporary()
}

// passName keeps new files from taking the number of a known one, be it lost or not.
func (x *index) passName(name string) {
	var number uint64
	if _, err := fmt.Sscanf(name, "%x", &number); err == nil && number >= x.next {
		x.next = number + 1
	}
}

// adopt adds a member to the list, and makes its sessions the live copies. With an
// error nothing has changed.
func (x *index) adopt(m *member) error {
	touched := map[*member]bool{}
	for row := range postings.Ord(m.sessions()) {
		if m.dead.Has(row) {
			continue
		}
		ref, err := m.seg.SessionRef(row) // all of them can be read, or none
		if err != nil {
			return err
		}
		no := store.No(ref.No)
		if old, ok := x.where[no]; ok {
			old.member.dead.Add(old.row)
			touched[old.member] = true
		}
		x.where[no] = place{m, row, ref.Rev}
	}
	for old := range touched {
		old.refresh()
	}
	m.refresh()
	x.members = append(x.members, m)
	x.order()
	return nil
}

// order puts files before tail segments, so that merges see files adjacent.
func (x *index) order() { x.members = append(x.files(), x.tail()...) }

// finish turns what fill writes into a member, in a file or in memory.
func (x *index) finish(fill func(io.Writer) (segments.Info, error), toFile bool) (*member, error) {
	if toFile {
		return x.write(x.newName(), fill)
	}
	var buf bytes.Buffer
	if _, err := fill(&buf); err != nil {
		return nil, err
	}
	seg, err := segments.OpenBytes("tail", buf.Bytes())
	if err != nil {
		return nil, err
	}
	return newMember("", seg, int64(buf.Len()), postings.Set{}), nil
}

func (x *index) newName() string {
	x.next++
	return segments.Name(x.next - 1)
}

// write makes the durable segment file name and opens it. It does not need mu.
func (x *index) write(name string, fill func(io.Writer) (segments.Info, error)) (*member, error) {
	info, err := x.folder.Write(name, fill)
	if err != nil {
		return nil, err
	}
	seg, err := x.folder.Open(name)
	if err != nil {
		return nil, errors.Join(err, x.folder.Remove(name))
	}
	return newMember(name, seg, info.Bytes, postings.Set{}), nil
}

// publish makes the file members the store's list, with the broken ones, so that
// damage stays known, and clears the dirty marks of the sessions that are in them now,
// or gone.
func (x *index) publish(ctx context.Context) error {
	var next []store.SegmentRecord
	for _, b := range x.broken {
		next = append(next, b.record)
	}
	for _, m := range x.files() {
		rec, err := m.record()
		if err != nil {
			return err
		}
		next = append(next, rec)
	}
	var cleared []store.Ref
	for no, mark := range x.marks {
		if at, ok := x.where[no]; !ok || at.member.inFile() {
			cleared = append(cleared, mark)
		}
	}
	if err := x.store.PublishSegments(ctx, next, cleared); err != nil {
		return err
	}
	for _, mark := range cleared {
		delete(x.marks, mark.No)
	}
	return nil
}

func (x *index) files() []*member { return x.among(true) }
func (x *index) tail() []*member  { return x.among(false) }

func (x *index) among(inFile bool) []*member {
	var out []*member
	for _, m := range x.members {
		if m.inFile() == inFile {
			out = append(out, m)
		}
	}
	return out
}

func (x *index) tailBytes() (n int64) {
	for _, m := range x.tail() {
		n += m.size
	}
	return n
}

// close gives back every segment.
func (x *index) close() error {
	x.setAt(nil)
	var errs []error
	for _, m := range x.members {
		errs = append(errs, m.seg.Unref())
	}
	x.members = nil
	return errors.Join(errs...)
}
