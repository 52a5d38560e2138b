package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/archive"
)

// A drama is an archive that one writer changes and many readers watch. Every actor
// notes what it did and saw, with the time of a clock that counts events; the notes
// are judged when all is over.
type drama struct {
	*world
	seed   uint64
	clock  atomic.Int64
	over   context.Context
	steady []string // ids of sessions that never change

	mu       sync.Mutex
	editions map[archive.SessionID][]edition
	sights   []sight
	twice    []echo
	walks    []stroll

	writes                     int // turns of the writer
	imports, deletes, rebuilds int // the writer's and the rebuilder's own
}

// An edition is one state of a session. Each message of edition n of session k says
// "k<k>e<n>"; no other does.
type edition struct {
	begun, acked int64 // acked is 0 until the call has returned
	gone         bool  // deleted
	messages     int
}

// A sight is what one snapshot showed, taken between two times.
type sight struct {
	reader        int
	before, after int64
	stored        map[archive.SessionID]shown
	indexed       map[archive.SessionID]int // blocks that the index has
	found         map[archive.SessionID]int // sessions found by a session's own word
}

// shown is a session as the store has it.
type shown struct {
	edition  int // -1: its messages are of several
	messages int
}

// An echo is one request answered twice by one snapshot.
type echo struct{ request, first, second string }

// A stroll is a walk through the pages of an answer.
type stroll struct {
	query  string
	ids    []string
	scores []float64
}

// TestSnapshots lets one writer import, grow and delete while eight readers search,
// merges run in the background and the index is rebuilt again and again. Afterwards
// the histories must show that a snapshot answers the same twice, that what was
// acknowledged is in every later snapshot, that sessions are seen whole, and that
// pages neither repeat nor skip a session that does not change.
func TestSnapshots(t *testing.T) {
	each := 500 * time.Millisecond
	if *long {
		each = 30 * time.Second
	}
	for _, where := range []string{"memory", "disk"} {
		t.Run(where, func(t *testing.T) {
			d := newDrama(t, where == "disk")
			d.play(each)
			d.judge()
		})
	}
}

func newDrama(t *testing.T, onDisk bool) *drama {
	r := seeded(t)
	w := &world{t: t, src: t.TempDir()}
	o := Options{Create: true, FlushBytes: 6 << 10, Workers: 3, Now: func() time.Time { return testNow }}
	dir := filepath.Join(t.TempDir(), "archive")
	if !onDisk {
		o.FS, dir = vfs.NewMem(), "archive"
	}
	var err error
	if w.Engine, err = Open(dir, o); err != nil {
		t.Fatal(err)
	}
	d := &drama{world: w, seed: r.Uint64(), editions: map[archive.SessionID][]edition{}}
	for i := range 12 {
		s := &script{native: fmt.Sprintf("steady-%d", i), codex: i%2 == 0, cwd: "/srv/app", start: testNow.Add(-time.Duration(i) * time.Hour)}
		for range 1 + i%4 {
			s.turns = append(s.turns, turn{kind: "user", text: "chronicle " + randomText(r, 3+i)})
		}
		w.put(s)
		d.steady = append(d.steady, string(s.id()))
	}
	w.load()
	slices.Sort(d.steady)
	return d
}

func (d *drama) play(long time.Duration) {
	var end context.CancelFunc
	d.over, end = context.WithTimeout(context.Background(), long)
	defer end()
	var all sync.WaitGroup
	actors := []func(r *rand.Rand, n int){d.write, d.rebuildNowAndThen}
	for range 4 {
		actors = append(actors, d.look)
	}
	for range 2 {
		actors = append(actors, d.askTwice, d.stroll)
	}
	for i, act := range actors {
		all.Go(func() {
			r := rand.New(rand.NewPCG(d.seed, uint64(i)))
			for act(r, i); d.over.Err() == nil && !d.t.Failed(); {
				act(r, i)
			}
		})
	}
	all.Wait()
	d.check()
	d.close()
}

const actorsSessions = 10 // sessions that change

// write makes new editions of some sessions, or deletes one: every sixth time, so that a
// slow machine, which does little in all, does that too.
func (d *drama) write(r *rand.Rand, _ int) {
	k := r.IntN(actorsSessions)
	if d.writes++; d.writes%6 == 0 {
		d.delete(k)
		return
	}
	ks := []int{k}
	if r.IntN(3) == 0 {
		ks = append(ks, (k+1)%actorsSessions, (k+2)%actorsSessions)
	}
	var paths []string
	for _, k := range ks {
		paths = append(paths, d.publish(r, k))
	}
	report, err := d.Import(context.Background(), ImportRequest{Paths: paths})
	if err != nil || report.Added+report.Updated != len(ks) {
		d.t.Errorf("import of %d sessions: %+v, %v", len(ks), report, err)
	}
	d.imports++
	for _, k := range ks {
		d.acknowledge(d.actor(k))
	}
}

func (d *drama) actor(k int) archive.SessionID {
	return (&script{native: fmt.Sprintf("actor-%d", k), codex: k%3 == 0}).id()
}

// publish writes the file of the next edition of session k and notes that it began.
func (d *drama) publish(r *rand.Rand, k int) string {
	id := d.actor(k)
	d.mu.Lock()
	n := len(d.editions[id])
	s := &script{native: fmt.Sprintf("actor-%d", k), codex: k%3 == 0, cwd: "/srv/app", start: testNow}
	for range 1 + r.IntN(9) {
		s.turns = append(s.turns, turn{kind: pick(r, "user", "assistant"), text: fmt.Sprintf("chronicle k%de%d %s", k, n, randomText(r, 8))})
	}
	d.editions[id] = append(d.editions[id], edition{begun: d.clock.Add(1), messages: len(s.turns)})
	d.mu.Unlock()
	name, content := s.file()
	path := filepath.Join(d.src, name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		d.t.Error(err)
	}
	return path
}

func (d *drama) acknowledge(id archive.SessionID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := d.editions[id]
	list[len(list)-1].acked = d.clock.Add(1)
}

// delete deletes session k, if it is there.
func (d *drama) delete(k int) {
	id := d.actor(k)
	d.mu.Lock()
	list := d.editions[id]
	there := len(list) > 0 && !list[len(list)-1].gone
	if there {
		d.editions[id] = append(list, edition{begun: d.clock.Add(1), gone: true})
	}
	d.mu.Unlock()
	if !there {
		return
	}
	snap, err := d.store.Snapshot()
	if err != nil {
		d.t.Error(err)
		return
	}
	defer snap.Close()
	no, ok, err := snap.Lookup(id)
	if err == nil && ok {
		err = d.store.Delete(context.Background(), no)
	}
	if err != nil || !ok {
		d.t.Errorf("delete %s: found %v: %v", id, ok, err)
	}
	d.deletes++
	d.acknowledge(id)
}

func (d *drama) rebuildNowAndThen(r *rand.Rand, _ int) {
	select {
	case <-d.over.Done():
		return
	case <-time.After(time.Duration(100+r.IntN(400)) * time.Millisecond):
	}
	if _, err := d.Rebuild(context.Background(), nil); err != nil {
		d.t.Errorf("rebuild: %v", err)
	}
	d.rebuilds++
}

// askTwice asks one snapshot the same twice, with a pause in which others work.
func (d *drama) askTwice(r *rand.Rand, _ int) {
	snap, err := d.snapshot(context.Background())
	if err != nil {
		d.t.Error(err)
		return
	}
	defer snap.release()
	requests := metamorphicQueries(r, 2)[r.IntN(6):]
	requests = append(requests, SearchRequest{Query: "chronicle", Limit: 50})
	first := make([]string, len(requests))
	for i, q := range requests {
		first[i] = d.answerOf(snap, q)
	}
	time.Sleep(time.Duration(r.IntN(60)) * time.Millisecond)
	for i, q := range requests {
		e := echo{q.Query, first[i], d.answerOf(snap, q)}
		d.mu.Lock()
		d.twice = append(d.twice, e)
		d.mu.Unlock()
	}
}

// answerOf is what a snapshot answers.
func (d *drama) answerOf(snap *snapshot, q SearchRequest) string {
	s, err := d.prepare(q)
	var env *SearchEnvelope
	if err == nil {
		s.snap = snap
		env, err = s.answer(context.Background())
	}
	b, err2 := json.Marshal(env)
	if err != nil || err2 != nil {
		d.t.Errorf("%s: %v, %v", q.Query, err, err2)
	}
	return string(b)
}

// stroll walks the pages of an answer by their cursors.
func (d *drama) stroll(r *rand.Rand, _ int) {
	walk := stroll{query: pick(r, "chronicle", "", "chronicle OR retry", "chronicle NOT nowhere")}
	req := SearchRequest{Query: walk.query, Limit: 1 + r.IntN(5)}
	for {
		env, err := d.Search(context.Background(), req)
		if err != nil {
			d.t.Errorf("%s: %v", req.Query, err)
			return
		}
		for _, h := range env.Hits {
			walk.ids = append(walk.ids, h.Session.ID)
			if h.Match != nil {
				walk.scores = append(walk.scores, *h.Match.Score)
			}
		}
		if !env.Truncated {
			break
		}
		req.Cursor = *env.NextCursor
		time.Sleep(time.Duration(r.IntN(8)) * time.Millisecond)
	}
	d.mu.Lock()
	d.walks = append(d.walks, walk)
	d.mu.Unlock()
}
