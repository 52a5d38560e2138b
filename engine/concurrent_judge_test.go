package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/query"
)

// look takes a snapshot and notes what its store, its index and a search show of the
// sessions that change.
func (d *drama) look(r *rand.Rand, reader int) {
	s := sight{reader: reader, before: d.clock.Add(1), stored: map[archive.SessionID]shown{}, indexed: map[archive.SessionID]int{},
		found: map[archive.SessionID]int{}}
	snap, err := d.snapshot(context.Background())
	if err != nil {
		d.t.Error(err)
		return
	}
	defer snap.release()
	s.after = d.clock.Add(1)
	if err := s.fill(d, snap); err != nil {
		d.t.Errorf("look: %v", err)
		return
	}
	d.mu.Lock()
	d.sights = append(d.sights, s)
	d.mu.Unlock()
}

func (s *sight) fill(d *drama, snap *snapshot) error {
	ctx := context.Background()
	for sum, err := range snap.store.Sessions() {
		if err != nil {
			return err
		}
		if !strings.Contains(string(sum.ID), "actor-") {
			continue
		}
		has := shown{edition: -2}
		for m, err := range snap.store.Messages(sum.No, 0) {
			if err != nil {
				return err
			}
			var k, n int
			if _, err := fmt.Sscanf(m.Blocks[0].Text, "chronicle k%de%d", &k, &n); err != nil || has.edition != -2 && has.edition != n {
				n = -1
			}
			has.edition = n
			has.messages++
		}
		s.stored[sum.ID] = has
	}
	plan, err := compile("chronicle", testNow, nil)
	if err != nil {
		return err
	}
	hits, err := query.MatchBlocks(ctx, plan, snap.sources(), query.RunOptions{Workers: 2})
	if err != nil {
		return err
	}
	for _, h := range hits {
		key, err := snap.blockKey(h.Source, h.Block)
		if err != nil {
			return err
		}
		if strings.Contains(string(key.session), "actor-") {
			s.indexed[key.session]++
		}
	}
	for k := range actorsSessions {
		id := d.actor(k)
		if has, ok := s.stored[id]; ok {
			s.found[id] = strings.Count(d.answerOf(snap, SearchRequest{Query: fmt.Sprintf("k%de%d", k, has.edition)}), `"match":{`)
		}
	}
	return nil
}

// judge holds the notes against the laws.
func (d *drama) judge() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.t.Logf("%d imports, %d deletions, %d rebuilds; %d snapshots looked at, %d answers asked twice, %d walks",
		d.imports, d.deletes, d.rebuilds, len(d.sights), len(d.twice), len(d.walks))
	if min(len(d.sights), len(d.twice), len(d.walks)) == 0 || *long && min(d.imports, d.deletes, d.rebuilds) == 0 {
		d.t.Error("an actor did nothing")
	}
	latest := map[string]int{}
	for i := range d.sights {
		d.judgeSight(&d.sights[i], latest)
	}
	for _, e := range d.twice {
		if e.first != e.second {
			d.t.Errorf("%s: a snapshot answers\n%s\nand later\n%s", e.request, e.first, e.second)
		}
	}
	for _, w := range d.walks {
		seen := slices.DeleteFunc(slices.Clone(w.ids), func(id string) bool { return !slices.Contains(d.steady, id) })
		slices.Sort(seen)
		if !slices.Equal(seen, d.steady) {
			d.t.Errorf("%q: pages show %v, want each of the steady sessions once", w.query, w.ids)
		}
		if !slices.IsSorted(w.scores) {
			d.t.Errorf("%q: scores over the pages are %v", w.query, w.scores)
		}
	}
}

// judgeSight holds one snapshot to what had been acknowledged and what had begun.
// latest is, per reader and session, the least edition that it may still show.
func (d *drama) judgeSight(s *sight, latest map[string]int) {
	for k := range actorsSessions {
		id := d.actor(k)
		list := d.editions[id]
		lo, hi := -1, -1
		for n, e := range list {
			if e.acked != 0 && e.acked < s.before {
				lo = n
			}
			if e.begun < s.after {
				hi = n
			}
		}
		key := fmt.Sprint(s.reader, id)
		if before, ok := latest[key]; ok {
			lo = max(lo, before)
		}
		has, there := s.stored[id]
		n := has.edition
		if !there {
			n = lo
			for n >= 0 && n <= hi && !list[n].gone {
				n++
			}
		}
		latest[key] = n
		switch {
		case n < lo || n > hi || there && (n < 0 || list[n].gone):
			d.t.Errorf("reader %d sees edition %d of %s (there: %v) between times %d and %d, when %d was acknowledged and %d had begun",
				s.reader, n, id, there, s.before, s.after, lo, hi)
		case there && (has.messages != list[n].messages || s.indexed[id] != list[n].messages):
			d.t.Errorf("edition %d of %s has %d messages; the store shows %d, the index %d", n, id, list[n].messages, has.messages, s.indexed[id])
		case there && s.found[id] != 1:
			d.t.Errorf("edition %d of %s: a search for its word finds %d sessions", n, id, s.found[id])
		case !there && s.indexed[id] != 0:
			d.t.Errorf("%s is deleted; the index still shows %d blocks", id, s.indexed[id])
		}
	}
}
