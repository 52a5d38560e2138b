package engine

import (
	"bytes"
	"context"
	"slices"

	"github.com/hansard-search/hansard/engine/store"
	"github.com/hansard-search/hansard/postings"
	"github.com/hansard-search/hansard/segments"
)

// deep makes each segment anew from the store's sessions and compares the bytes. A
// writer and a merge give the same bytes for the same sessions, so any difference is a
// fault. Segments with faults of their own are left out: their bytes are known to be
// wrong.
func (a *agreement) deep(ctx context.Context) error {
	faulty := map[string]bool{}
	for _, f := range a.r.Faults {
		faulty[f.File] = true
	}
	for i, v := range a.snap.views {
		if faulty[a.snap.names[i]] || !slices.Equal(v.Segment().Columns(), schema()) {
			continue // an older segment may lack columns
		}
		if err := a.deepOf(ctx, a.snap.names[i], v); err != nil {
			return err
		}
	}
	return nil
}

func (a *agreement) deepOf(ctx context.Context, file string, v *segments.View) error {
	id := v.Segment().Info().ID
	w, err := segments.NewWriter(segments.Options{Schema: schema(), ID: id})
	if err != nil {
		return err
	}
	defer w.Close()
	f := newFeeder(w)
	dead := postings.NewBits(v.Rows(postings.Session))
	v.Dead().AddTo(dead)
	for row := range postings.Ord(v.Rows(postings.Session)) {
		if dead.Has(row) {
			continue
		}
		ref, err := v.Segment().SessionRef(row)
		if err != nil {
			return err
		}
		err = readThrough(ctx, a.snap.store, store.No(ref.No))
		if isUnreadable(err) {
			dead.Add(row) // named by the store's check
			continue
		}
		if err == nil {
			err = f.add(ctx, a.snap.store, store.No(ref.No))
		}
		if err != nil {
			return err
		}
	}
	if dead.Count() == v.Rows(postings.Session) {
		return nil
	}
	var want bytes.Buffer
	if _, err := w.Finish(&want); err != nil {
		return err
	}
	anew, err := segments.OpenBytes(file, want.Bytes())
	if err != nil {
		return err
	}
	have := v.Segment()
	if dead.Any() {
		var got bytes.Buffer
		if _, err := segments.Merge(ctx, &got, []segments.MergeInput{{Segment: have, Dead: postings.SetOf(dead)}}, segments.MergeOptions{ID: id}); err != nil {
			return err
		}
		if have, err = segments.OpenBytes(file, got.Bytes()); err != nil {
			return err
		}
	}
	for _, d := range segments.Compare(have, anew) {
		a.r.Faults = append(a.r.Faults, Fault{Code: d.Code, File: file, Section: d.Section, Where: "segment " + file + ": " + d.Section, What: d.Reason})
	}
	return nil
}
