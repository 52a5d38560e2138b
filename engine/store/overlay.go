package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hansard-search/hansard/engine/archive"
)

// Overlays are what people set. They hang on session ids and other names, not on
// numbers or revisions: they outlive the session, and never mark it dirty.

const (
	overlayTags  = "tags"
	overlayTitle = "title"
)

// An Overlay is one value of a kind, under a key of its own. Kinds are the caller's,
// but "tags" and "title".
type Overlay struct {
	Kind, Key string
	Value     []byte // nil deletes
}

// PutOverlays sets and deletes values in one synced batch.
func (s *Store) PutOverlays(ctx context.Context, list []Overlay) error {
	for _, o := range list {
		if o.Kind == "" || strings.IndexByte(o.Kind, 0) >= 0 {
			return fmt.Errorf("overlay kind %q is empty or has a zero byte", o.Kind)
		}
	}
	err := s.do(ctx, func() error {
		t, err := s.begin()
		if err != nil {
			return err
		}
		defer t.close()
		t.state.Overlays++
		for _, o := range list {
			key := append(keyOverlays(o.Kind), o.Key...)
			if o.Value == nil {
				err = t.b.Delete(key, nil)
			} else {
				err = t.b.Set(key, o.Value, nil)
			}
			if err != nil {
				return err
			}
		}
		return t.sync()
	})
	if err != nil {
		return fmt.Errorf("overlays: %w", err)
	}
	return nil
}

// SetTags sets the tags that people gave a session; none takes them all away. They
// are stored sorted and distinct. The session need not exist.
func (s *Store) SetTags(ctx context.Context, id archive.SessionID, tags []string) error {
	o := Overlay{Kind: overlayTags, Key: string(id)}
	if len(tags) > 0 {
		tags = slices.Clone(tags)
		slices.Sort(tags)
		var e encoder
		e.strs(slices.Compact(tags))
		o.Value = e.b
	}
	return s.PutOverlays(ctx, []Overlay{o})
}

// SetTitle sets the title that people gave a session; an empty one takes it away.
func (s *Store) SetTitle(ctx context.Context, id archive.SessionID, title string) error {
	o := Overlay{Kind: overlayTitle, Key: string(id)}
	if title != "" {
		o.Value = []byte(title)
	}
	return s.PutOverlays(ctx, []Overlay{o})
}

func decodeTags(v []byte) ([]string, error) {
	d := decoder{s: string(v)}
	tags := d.strs()
	return tags, d.finish("tags")
}

// PublishSegments makes next the live segments and clears the dirty marks that they
// hold, in one synced batch: it is the swap of the index. The caller has synced the
// files and their folder. A mark that was set again after it was read stays.
func (s *Store) PublishSegments(ctx context.Context, next []SegmentRecord, cleared []Ref) error {
	err := s.do(ctx, func() error {
		t, err := s.begin()
		if err != nil {
			return err
		}
		defer t.close()
		p := []byte{prefixSegment}
		if err := t.b.DeleteRange(p, prefixEnd(p), nil); err != nil {
			return err
		}
		for i := range next {
			if err := t.b.Set(keySegment(i), next[i].encode(), nil); err != nil {
				return err
			}
		}
		for _, r := range cleared {
			if err := t.clear(r); err != nil {
				return err
			}
		}
		return t.sync()
	})
	if err != nil {
		return fmt.Errorf("publish segments: %w", err)
	}
	return nil
}

func (t *txn) clear(r Ref) error {
	key := key64(prefixDirty, uint64(r.No))
	var d Dirty
	found, err := get(t.b, key, func(v []byte) error {
		var err error
		d, err = decodeDirty(r.No, v)
		return err
	})
	if err != nil || !found || d.Generation != r.Generation {
		return err
	}
	return t.b.Delete(key, nil)
}

// MarkAllDirty marks every session, for an index that is built anew.
func (s *Store) MarkAllDirty(ctx context.Context) error {
	err := s.do(ctx, func() error {
		t, err := s.begin()
		if err != nil {
			return err
		}
		defer t.close()
		t.state.Generation++
		err = scan(s.db, []byte{prefixPointer}, func(k, v []byte) error {
			p, err := decodeSummary(No(get64(k[1:])), v)
			if err != nil {
				return err
			}
			return t.mark(p.No, p.Rev)
		})
		if err != nil {
			return err
		}
		return t.sync()
	})
	if err != nil {
		return fmt.Errorf("mark all dirty: %w", err)
	}
	return nil
}
