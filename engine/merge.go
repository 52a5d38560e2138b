package engine

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/hansard-search/hansard/engine/store"
	"github.com/hansard-search/hansard/postings"
	"github.com/hansard-search/hansard/segments"
)

const (
	maxFiles     = 8       // segments that a query should see at the most
	maxMergeRows = 4 << 20 // blocks of one segment: a query's bitsets stay within 512 KiB
)

// inputs freezes what a merge of the members starts from.
func inputs(run []*member) []segments.MergeInput {
	in := make([]segments.MergeInput, len(run))
	for i, m := range run {
		in[i] = segments.MergeInput{Segment: m.seg, Dead: m.deadSet()}
	}
	return in
}

// merge writes the live sessions of the inputs into the new file name. It does not
// need mu. Without a live session there is no file, and the member is nil.
func (x *index) merge(ctx context.Context, name string, in []segments.MergeInput) (*member, error) {
	live := 0
	for _, i := range in {
		live += i.Segment.Rows(postings.Session) - i.Dead.Len()
	}
	if live == 0 {
		return nil, nil
	}
	return x.write(name, func(w io.Writer) (segments.Info, error) {
		return segments.Merge(ctx, w, in, segments.MergeOptions{FS: x.opts.FS, TempDir: x.folder.Dir()})
	})
}

// replace puts m, which may be nil, where the members of old were. Sessions that
// changed since the merge began are dead in m from the start.
func (x *index) replace(ctx context.Context, old []*member, m *member) error {
	leaving := map[*member]bool{}
	for _, o := range old {
		leaving[o] = true
	}
	if err := x.repoint(leaving, m); err != nil {
		return err
	}
	next, placed := []*member(nil), m == nil
	for _, have := range x.members {
		if !leaving[have] {
			next = append(next, have)
		} else if !placed {
			next, placed = append(next, m), true
		}
	}
	x.members = next
	x.order()
	if err := x.publish(ctx); err != nil {
		return err
	}
	for _, o := range old {
		x.retire(o)
	}
	return nil
}

// repoint makes m's copies of sessions the live ones where the members that leave
// hold them.
func (x *index) repoint(leaving map[*member]bool, m *member) error {
	if m == nil {
		return nil
	}
	for row := range postings.Ord(m.sessions()) {
		ref, err := m.seg.SessionRef(row)
		if err != nil {
			return err
		}
		no := store.No(ref.No)
		if at, ok := x.where[no]; ok && at.rev == ref.Rev && leaving[at.member] {
			x.where[no] = place{m, row, ref.Rev}
		} else {
			m.dead.Add(row)
		}
	}
	m.refresh()
	return nil
}

// retire gives back a member that left the list; its file goes with it. Open
// readers keep the mapping. After a failed write nobody knows which list is on disk:
// no file goes until the archive is opened again.
func (x *index) retire(m *member) {
	err := m.seg.Unref()
	if m.inFile() && !x.readOnly() {
		err = errors.Join(err, x.folder.Remove(m.name))
	}
	if err != nil {
		x.log.Warn("old segment not removed", "file", m.name, "error", err)
	}
}

// pickMerge chooses the adjacent run of files whose merge costs least per segment
// that it saves, or nothing while there are few and none is mostly dead.
func (x *index) pickMerge() []*member {
	files := x.files()
	for _, m := range files {
		if m.dead.Count()*2 > m.sessions() {
			return []*member{m}
		}
	}
	if len(files) <= maxFiles {
		return nil
	}
	var best []*member
	cost := math.MaxFloat64
	for i := range files {
		bytes, rows := int64(0), 0
		for j := i; j < len(files) && j < i+maxFiles; j++ {
			bytes += files[j].size
			if rows += files[j].blocks(); rows > maxMergeRows {
				break
			}
			if c := float64(bytes) / float64(j-i); j > i && c < cost {
				best, cost = files[i:j+1], c
			}
		}
	}
	return best
}

// A mergeJob is one merge that was decided on: its inputs as they were then.
type mergeJob struct {
	run  []*member
	in   []segments.MergeInput
	name string
}

// plan decides on the next merge, holding its segments open; nil when none is due.
func (x *index) plan() *mergeJob {
	x.mu.Lock()
	defer x.mu.Unlock()
	run := x.pickMerge()
	if run == nil || x.readOnly() {
		return nil
	}
	for _, m := range run {
		m.seg.Ref()
	}
	return &mergeJob{run: run, in: inputs(run), name: x.newName()}
}

// mergeOnce runs one merge if one is due. It holds mu only to decide and to
// replace, so that searches and imports go on meanwhile.
func (x *index) mergeOnce(ctx context.Context) (did bool, err error) {
	if err := lockWithin(ctx, &x.merging); err != nil {
		return false, err
	}
	defer x.merging.Unlock()
	job := x.plan()
	if job == nil {
		return false, nil
	}
	defer func() {
		for _, m := range job.run {
			err = errors.Join(err, m.seg.Unref())
		}
	}()
	m, err := x.merge(ctx, job.name, job.in)
	x.mu.Lock()
	defer x.mu.Unlock()
	if err != nil {
		return x.suspect(err), err // without the damaged one the others merge
	}
	if !x.holds(job.run) {
		if m != nil {
			x.retire(m)
		}
		return true, nil // one of them turned out damaged meanwhile
	}
	return true, x.replace(ctx, job.run, m)
}

// holds reports whether all of the members are in the list.
func (x *index) holds(run []*member) bool {
	for _, m := range run {
		if !slices.Contains(x.members, m) {
			return false
		}
	}
	return true
}
