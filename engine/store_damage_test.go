package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/store"
)

// plant changes records of a closed archive's store behind its back. Keys are as
// docs/format.md has them.
func (w *world) plant(change func(db *pebble.DB) error) {
	w.t.Helper()
	db, err := pebble.Open("archive", &pebble.Options{FS: w.opts.FS, FormatMajorVersion: pebble.FormatValueSeparation, Logger: quiet{}})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := errors.Join(change(db), db.Flush(), db.Close()); err != nil {
		w.t.Fatal(err)
	}
}

type quiet struct{}

func (quiet) Infof(string, ...any)              {}
func (quiet) Errorf(string, ...any)             {}
func (quiet) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// recordKey is a key of numbers behind its prefix.
func recordKey(prefix byte, numbers ...uint64) []byte {
	k := []byte{prefix}
	for _, n := range numbers {
		k = binary.BigEndian.AppendUint64(k, n)
	}
	return k
}

// overwrite gives the first record under a prefix another value.
func overwrite(db *pebble.DB, prefix []byte, value []byte) error {
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: prefix})
	if err != nil {
		return err
	}
	if !it.First() || !strings.HasPrefix(string(it.Key()), string(prefix)) {
		return errors.Join(fmt.Errorf("no record under %q", prefix), it.Close())
	}
	k := slices.Clone(it.Key())
	return errors.Join(it.Close(), db.Set(k, value, pebble.Sync))
}

// victimOf is what the store says of one session.
func (w *world) victimOf(id archive.SessionID) store.Summary {
	w.t.Helper()
	snap, err := w.store.Snapshot()
	if err != nil {
		w.t.Fatal(err)
	}
	defer snap.Close()
	no, _, err := snap.Lookup(id)
	if err != nil {
		w.t.Fatal(err)
	}
	sum, err := snap.Summary(no)
	if err != nil {
		w.t.Fatal(err)
	}
	return sum
}

var junk = []byte("\x01\x00junk")

// TestDamagedSession damages one session in the store: it is named, everything else
// goes on, also a rebuild, and a new import of its source makes all as it was.
func TestDamagedSession(t *testing.T) {
	for _, c := range []struct {
		name  string
		plant func(db *pebble.DB, s store.Summary) error
		force bool // the file must be read again by name: nothing says where the session came from
	}{
		{"frame", func(db *pebble.DB, s store.Summary) error {
			return overwrite(db, recordKey('f', uint64(s.No), s.Rev), junk)
		}, false},
		{"frame missing", func(db *pebble.DB, s store.Summary) error {
			k := recordKey('f', uint64(s.No), s.Rev)
			return db.DeleteRange(k, recordKey('f', uint64(s.No), s.Rev+1), pebble.Sync)
		}, false},
		{"brief", func(db *pebble.DB, s store.Summary) error {
			return overwrite(db, recordKey('h', uint64(s.No), s.Rev), junk)
		}, false},
		{"head missing", func(db *pebble.DB, s store.Summary) error {
			return db.DeleteRange(recordKey('h', uint64(s.No), s.Rev), recordKey('h', uint64(s.No), s.Rev+1), pebble.Sync)
		}, false},
		{"pointer", func(db *pebble.DB, s store.Summary) error { return overwrite(db, recordKey('t', uint64(s.No)), junk) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := seeded(t)
			w := newWorld(t, Options{NoMerge: true})
			scripts := randomScripts(r, 10)
			for _, s := range scripts {
				s.parent = ""
				s.turns = append(s.turns, turn{kind: "user", text: "everywhere"})
			}
			victim := scripts[3]
			victim.turns[len(victim.turns)-1].text = "everywhere wolpertinger"
			w.put(scripts...)
			w.load()
			requests := append(metamorphicQueries(r, 10), SearchRequest{Query: "wolpertinger"}, SearchRequest{Query: "everywhere"})
			want := w.answers(requests)
			sum := w.victimOf(w.idOf(victim))
			w.close()
			w.plant(func(db *pebble.DB) error { return c.plant(db, sum) })
			w.open()

			w.damagedAnswers(sum, len(scripts))
			fresh := randomScript(r, 50)
			fresh.parent, fresh.turns[0].text = "", "quite new basilisk"
			names := w.put(fresh)
			if r := w.load(names...); r.Added != 1 {
				t.Errorf("another import adds %d sessions, want 1", r.Added)
			}
			if env := w.search(SearchRequest{Query: "basilisk"}); env.Total != 1 {
				t.Errorf("the new session is found %d times", env.Total)
			}
			w.checkNames(string(sum.ID), sum.No)
			rep, err := w.Rebuild(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if rep.Sessions != len(scripts) || len(rep.Unreadable) != 1 {
				t.Errorf("rebuild indexes %d sessions and leaves out %v", rep.Sessions, rep.Unreadable)
			}
			w.reopen(w.opts)
			if env := w.search(SearchRequest{Query: "everywhere", Limit: 100}); !env.Partial || env.Total != len(scripts)-1 {
				t.Errorf("after a rebuild and a restart %d sessions are found, partial %v; want %d, true", env.Total, env.Partial, len(scripts)-1)
			}
			req := ImportRequest{Paths: []string{w.src}, Force: c.force}
			again, err := w.Import(context.Background(), req)
			if err != nil || again.Updated != 1 {
				t.Fatalf("import of the source updates %d sessions, %v; problems %v", again.Updated, err, again.Problems)
			}
			w.remove(w.idOf(fresh))
			w.sameAnswers(requests, want, "imported again")
			w.check()
		})
	}
}

// damagedAnswers wants all sessions but the damaged one, and a sign.
func (w *world) damagedAnswers(bad store.Summary, sessions int) {
	w.t.Helper()
	env := w.search(SearchRequest{Query: "everywhere", Limit: 100})
	if len(env.Hits) != sessions-1 || slices.Contains(ids(env), string(bad.ID)) || !env.Partial {
		w.t.Errorf("%d hits, partial %v, want %d, true", len(env.Hits), env.Partial, sessions-1)
	}
	if env.Returned != len(env.Hits) {
		w.t.Errorf("returned says %d, there are %d", env.Returned, len(env.Hits))
	}
	named := slices.ContainsFunc(env.Missing, func(d Damage) bool {
		return d.File == storeFile && (d.Session == string(bad.ID) || strings.Contains(d.Session, fmt.Sprint(bad.No)))
	})
	if !named {
		w.t.Errorf("missing %+v does not name %s", env.Missing, bad.ID)
	}
	if env = w.search(SearchRequest{Query: "the"}); env.Partial && env.Total == 0 {
		w.t.Error("searches beside the damage find nothing")
	}
	if _, err := w.Stats(context.Background()); err != nil {
		w.t.Errorf("status: %v", err)
	}
}

// checkNames wants a fault of the session.
func (w *world) checkNames(id string, no store.No) {
	w.t.Helper()
	r, err := w.Check(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range r.Faults {
		if strings.Contains(f.Where, id) || strings.Contains(f.Where, fmt.Sprintf("session %d", no)) {
			return
		}
	}
	w.t.Errorf("faults %v do not name %s", r.Faults, id)
}

// TestDamagedRaw damages source bytes: they are not read as something else, the
// session is as good as ever, and an import brings them back.
func TestDamagedRaw(t *testing.T) {
	w := newWorld(t, Options{NoMerge: true})
	s := randomScript(seeded(t), 0)
	w.put(s)
	w.load()
	id := string(w.idOf(s))
	w.close()
	w.plant(func(db *pebble.DB) error { return overwrite(db, []byte{'y'}, junk) })
	w.open()
	in, err := w.Raw(context.Background(), id)
	if err == nil {
		_, err = io.ReadAll(in)
		err = errors.Join(err, in.Close())
	}
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeArchiveDamaged || !strings.Contains(e.Message, id) {
		t.Errorf("damaged source bytes read as %v, want %s that names %s", err, CodeArchiveDamaged, id)
	}
	if env := w.search(SearchRequest{}); env.Partial || env.Total != 1 {
		t.Errorf("%d sessions, partial %v", env.Total, env.Partial)
	}
	w.checkNames("", 1)
	w.plant2(func(db *pebble.DB) error { return db.DeleteRange([]byte{'y'}, []byte{'z'}, pebble.Sync) })
	if _, err := w.Import(context.Background(), ImportRequest{Paths: []string{w.src}, Force: true}); err != nil {
		t.Fatal(err)
	}
	if in, err = w.Raw(context.Background(), id); err == nil {
		_, err = io.ReadAll(in)
		err = errors.Join(err, in.Close())
	}
	if err != nil {
		t.Errorf("source bytes after an import: %v", err)
	}
}

// plant2 is plant on an open archive.
func (w *world) plant2(change func(db *pebble.DB) error) {
	w.t.Helper()
	w.close()
	w.plant(change)
	w.open()
}
