package engine

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hansard-search/hansard/engine/archive"
)

// resolve finds what ref points at and fills the reading.
func (r *Reading) resolve(ref string) error {
	ref = strings.TrimSpace(ref)
	if kind, _, ok := strings.Cut(ref, ":"); !ok || !slices.Contains(refKinds, kind) {
		return r.byID(ref)
	}
	refs, err := archive.ParseRef(ref)
	if id, ok := strings.CutPrefix(ref, "session:"); ok && err != nil {
		// The beginning of an id is no reference, but may be of one session.
		var e *Error
		if found := r.bySession(id); !errors.As(found, &e) || e.Code != CodeNotFound {
			return found
		}
	}
	if err != nil {
		return &Error{Code: CodeInvalidRef, Field: "ref", Message: strings.Replace(err.Error(), strconv.Quote(ref), strconv.Quote(brief(ref)), 1), Hint: "references look like session:codex-session:ID, message:…, block:…"}
	}
	for _, candidate := range refs {
		found, err := r.open(candidate.Session)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		if found, err = r.within(candidate); err != nil {
			return err
		} else if found {
			return r.describe(ref, candidate)
		}
	}
	if k := refs[0].Kind; k == archive.RefSession {
		return r.bySession(strings.TrimPrefix(ref, "session:"))
	}
	return notFound(ref)
}

// refKinds are the kinds of reference that a word before a colon may be; any other
// word is an origin.
var refKinds = []string{"session", "message", "block", "run", "context-snapshot", "observed-event"}

// byID resolves an id without its kind: a session's, or else a message's or block's.
func (r *Reading) byID(id string) error {
	err := r.bySession(id)
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeNotFound {
		return err
	}
	for _, kind := range []archive.RefKind{archive.RefMessage, archive.RefBlock} {
		refs, parseErr := archive.ParseRef(string(kind) + ":" + id)
		if parseErr != nil || len(refs) == 0 {
			continue
		}
		found := r.resolve(refs[0].String())
		if !errors.As(found, &e) || e.Code != CodeNotFound {
			return found
		}
	}
	return err
}

// bySession resolves an id, a native id, or a prefix of either that fits exactly
// one session.
func (r *Reading) bySession(text string) error {
	ids, err := r.sessionsLike(text)
	switch {
	case err != nil:
		return err
	case len(ids) == 0:
		return notFound(text)
	case len(ids) > 1:
		e := &Error{Code: CodeAmbiguous, Field: "ref", Message: fmt.Sprintf("%q is the beginning of more than one session's id", text),
			Hint: "write more of it"}
		for _, id := range ids[:min(len(ids), 10)] {
			e.Suggestions = append(e.Suggestions, string(id))
		}
		return e
	}
	if _, err := r.open(ids[0]); err != nil {
		return err
	}
	return r.describe(text, archive.Ref{Kind: archive.RefSession, Session: ids[0]})
}

// sessionsLike lists the sessions that a text names: exactly, else by the
// beginning of the id or of the native id.
func (r *Reading) sessionsLike(text string) ([]archive.SessionID, error) {
	if text == "" {
		return nil, nil
	}
	starts := []string{text}
	for _, o := range archive.Origins {
		starts = append(starts, string(o)+":"+text)
	}
	var out []archive.SessionID
	for _, s := range starts {
		if _, ok, err := r.snap.store.Lookup(archive.SessionID(s)); err != nil {
			return nil, err
		} else if ok {
			return []archive.SessionID{archive.SessionID(s)}, nil
		}
		ids, err := r.snap.store.IDs(s, 11)
		if err != nil {
			return nil, err
		}
		out = append(out, ids...)
	}
	return out, nil
}

// open loads the head of a session and reports whether it exists.
func (r *Reading) open(id archive.SessionID) (bool, error) {
	no, ok, err := r.snap.store.Lookup(id)
	if err != nil || !ok {
		return false, err
	}
	r.no = no
	r.head, err = r.snap.store.Head(no)
	return err == nil, err
}

// within narrows the reading to the part of the session that ref names and reports
// whether it is there.
func (r *Reading) within(ref archive.Ref) (bool, error) {
	switch ref.Kind {
	case archive.RefMessage, archive.RefBlock:
		m, err := r.message(ref.Message)
		if m == nil || err != nil {
			return false, err
		}
		r.from, r.count = m.Position, 1
		if ref.Kind == archive.RefBlock {
			r.block = ref.Block
			return ref.Block < len(m.Blocks), nil
		}
	case archive.RefRun:
		r.count, r.Head.Payload = 0, runRow(r.head, archive.RunOf(r.head, ""))
	case archive.RefSnapshot:
		r.count = 0
		return r.derived(ref, func(yield func(string, any)) {
			for _, s := range archive.Snapshots(r.head) {
				yield(s.Ref, snapshotRow(r.head, s))
			}
		}), nil
	case archive.RefEvent:
		r.count = 0
		return r.derived(ref, r.events), nil
	}
	return true, nil
}

// derived looks for the derived row that ref names.
func (r *Reading) derived(ref archive.Ref, all func(yield func(string, any))) bool {
	found := false
	all(func(name string, row any) {
		if name == ref.String() {
			r.Head.Payload, found = row, true
		}
	})
	return found
}

// events yields the observed events of the session. Their messages are read to
// name them.
func (r *Reading) events(yield func(string, any)) {
	ids := map[int]string{}
	tools := map[[2]int]string{}
	for m, err := range r.snap.store.Messages(r.no, 0) {
		if err != nil {
			return // the event is not found; reading the session names the damage
		}
		ids[m.Position] = archive.MessageID(r.head.ID(), m, r.head.Duplicates)
		for i := range m.Blocks {
			tools[[2]int{m.Position, i}] = m.Blocks[i].ToolID
		}
	}
	rows := archive.ObservedEvents(r.head, func(p int) string { return ids[p] },
		func(a *archive.Action) string { return tools[[2]int{a.UseMessage, a.UseBlock}] })
	for _, ev := range rows {
		yield(ev.Ref, eventRow(r.head, ev))
	}
}

// message finds a message by its position, its native id or an alias.
func (r *Reading) message(key archive.MessageKey) (*archive.Message, error) {
	if key.Native == "" {
		m, err := r.snap.store.Message(r.no, key.Position)
		if isNotFound(err) || err == nil && m.Variant != key.Variant {
			return nil, nil
		}
		return m, err
	}
	for m, err := range r.snap.store.Messages(r.no, 0) {
		if err != nil {
			return nil, err
		}
		if archive.NormalNative(m.Native) == key.Native || slices.Contains(m.Aliases, key.Native) {
			return m, nil
		}
	}
	return nil, nil
}

// describe fills the head of the reading.
func (r *Reading) describe(asked string, ref archive.Ref) error {
	sum, err := r.snap.summary(r.head)
	if err != nil {
		return err
	}
	h := &r.Head
	h.Schema, h.Mode, h.Ref, h.NormalizedRef = readSchema, "ref-resolution", asked, ref.String()
	h.Kind, h.Resolved, h.PayloadKind = string(ref.Kind), true, payloadKinds[ref.Kind]
	h.Session, h.TotalMessages = sum, r.head.Counters.Messages
	h.ObjectRefs, h.Caveats = []string{"session:" + sum.ID}, []string{}
	return nil
}

var payloadKinds = map[archive.RefKind]string{
	archive.RefSession: "session", archive.RefMessage: "message", archive.RefBlock: "block",
	archive.RefRun: "run", archive.RefSnapshot: "context-snapshot", archive.RefEvent: "observed-event",
}
