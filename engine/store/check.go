package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/hansard-search/hansard/engine/archive"
)

// A Fault is one thing in the store that cannot be right.
type Fault struct {
	Kind    FaultKind
	What    string            // which session, frame, cursor, …
	Session archive.SessionID // the session, if it is one and its name is known
	Detail  string
}

func (f Fault) String() string { return fmt.Sprintf("%s: %s: %s", f.Kind, f.What, f.Detail) }

// FaultKind names a sort of fault.
type FaultKind string

const (
	FaultDamaged       FaultKind = "damaged"                // bytes that do not decode
	FaultNoHead        FaultKind = "session without head"   // the pointer's head is not there
	FaultNoFrames      FaultKind = "session without frames" // the pointer's frames are not all there
	FaultHash          FaultKind = "session hash"           // stored bytes have another hash than the pointer says
	FaultCounters      FaultKind = "session counters"       // pointer or head count otherwise than the messages
	FaultOrphan        FaultKind = "orphan frames"          // frames or head of no revision
	FaultDuplicate     FaultKind = "duplicate session"      // one id lives twice
	FaultID            FaultKind = "session id"             // id, number and head do not agree
	FaultEdge          FaultKind = "edge"                   // edge from or to nowhere, or a missing one
	FaultCursor        FaultKind = "cursor ahead"           // cursor past its file or the store's generation
	FaultDirty         FaultKind = "dirty mark"             // mark that fits no session
	FaultRaw           FaultKind = "raw bytes"              // source bytes missing or of another hash
	FaultRawOrphan     FaultKind = "orphan raw bytes"       // source bytes or chunks of nothing
	FaultRawLink       FaultKind = "raw link"               // link between source bytes and what came from them
	FaultSegment       FaultKind = "segment list"           // two records of one name, or a nameless one
	FaultCounter       FaultKind = "store counters"         // numbers that would be given twice
	FaultLost          FaultKind = "lost commits"           // written, and not there any more
	FaultNoMark        FaultKind = "no high-water mark"     // its file was removed
	FaultNoSeal        FaultKind = "no seal"                // its file was removed
	FaultUnknownRecord FaultKind = "unknown record"         // key of no known kind
	FaultNoFrame       FaultKind = "missing frame"          // one of the frames of a session is not there
	FaultTable         FaultKind = "damaged table"          // a block of it that nothing needs, as far as was found
)

// Code is the kind as a word that programs branch on; it does not change.
func (k FaultKind) Code() string { return faultCodes[k] }

var faultCodes = map[FaultKind]string{
	FaultDamaged:       "STORE_DAMAGED",
	FaultNoHead:        "STORE_NO_HEAD",
	FaultNoFrames:      "STORE_NO_FRAMES",
	FaultNoFrame:       "STORE_NO_FRAME",
	FaultHash:          "STORE_HASH",
	FaultCounters:      "STORE_COUNTERS",
	FaultOrphan:        "STORE_ORPHAN",
	FaultDuplicate:     "STORE_DUPLICATE",
	FaultID:            "STORE_ID",
	FaultEdge:          "STORE_EDGE",
	FaultCursor:        "STORE_CURSOR_AHEAD",
	FaultDirty:         "STORE_DIRTY_MARK",
	FaultRaw:           "STORE_RAW",
	FaultRawOrphan:     "STORE_RAW_ORPHAN",
	FaultRawLink:       "STORE_RAW_LINK",
	FaultSegment:       "STORE_SEGMENT_LIST",
	FaultCounter:       "STORE_NUMBERS",
	FaultLost:          "STORE_LOST_COMMITS",
	FaultNoMark:        "STORE_NO_MARK",
	FaultNoSeal:        "STORE_NO_SEAL",
	FaultUnknownRecord: "STORE_UNKNOWN_RECORD",
	FaultTable:         "STORE_TABLE",
}

// Check reads everything and compares everything that says the same thing twice. It
// returns the faults, and an error only if it could not go on.
func (s *Store) Check(ctx context.Context) ([]Fault, error) {
	sn, err := s.Snapshot()
	if err != nil {
		return nil, err
	}
	c := &checker{s: s, ctx: ctx, state: sn.state}
	err = sn.use(func(db *pebble.Snapshot) error {
		c.db = db
		return c.run()
	})
	if err2 := sn.Close(); err == nil {
		err = err2
	}
	return c.faults, err
}

type checker struct {
	s      *Store
	ctx    context.Context // of the one call that the checker lives for
	db     *pebble.Snapshot
	state  state
	faults []Fault
}

func (c *checker) fault(kind FaultKind, what any, format string, args ...any) {
	f := Fault{Kind: kind, What: fmt.Sprint(what), Detail: fmt.Sprintf(format, args...)}
	f.Session, _ = what.(archive.SessionID)
	c.faults = append(c.faults, f)
}

// alive ends a check that nobody waits for.
func (c *checker) alive() error {
	select {
	case <-c.s.quit:
		return ErrClosed
	default:
		return c.ctx.Err()
	}
}

func (c *checker) run() error {
	c.losses()
	for _, step := range []func() error{
		c.pointers, c.ids, c.orphans, c.edges, c.dirty, c.cursors, c.segments,
		c.raws, c.links, c.uses, c.chunks, c.batches, c.unknown, c.tables,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// each is scan for a check: damage that ends a scan is a fault and not an error.
func (c *checker) each(prefix byte, f func(k, v []byte) error) error {
	err := scan(c.db, []byte{prefix}, func(k, v []byte) error {
		if err := c.alive(); err != nil {
			return err
		}
		return f(k, v)
	})
	if err != nil && c.alive() == nil {
		c.fault(FaultDamaged, recordNames[prefix], "%v", err)
		return nil
	}
	return err
}

// recordNames say what is under a prefix.
var recordNames = map[byte]string{
	prefixBatch: "links of batches", prefixCursor: "cursors", prefixDict: "dictionaries", prefixEdge: "edges", prefixFrame: "frames", prefixHead: "heads",
	prefixID: "session ids", prefixUse: "uses of source bytes", prefixLink: "links of source bytes", prefixMeta: "counters",
	prefixOverlay: "tags and titles", prefixPending: "pending revisions", prefixUpload: "pending source bytes",
	prefixRaw: "manifests of source bytes", prefixSegment: "list of segments", prefixPointer: "pointers",
	prefixDirty: "dirty marks", prefixChunk: "chunks of source bytes",
}

func (c *checker) pointers() error {
	return c.each(prefixPointer, func(k, v []byte) error {
		if len(k) != 9 {
			c.fault(FaultDamaged, "pointer", "bad key")
			return nil
		}
		no := No(get64(k[1:]))
		p, err := decodeSummary(no, v)
		if err != nil {
			c.fault(FaultDamaged, fmt.Sprintf("session %d", no), "%v", err)
			return nil
		}
		if no >= c.state.NextNo || p.Rev >= c.state.NextRev || p.Generation > c.state.Generation {
			c.fault(FaultCounter, p.ID, "number %d, revision %d, generation %d are past the store's", no, p.Rev, p.Generation)
		}
		mapped, ok, err := lookup(c.db, p.ID)
		switch {
		case err != nil:
			c.fault(FaultDamaged, p.ID, "%v", err)
		case !ok:
			c.fault(FaultID, p.ID, "its id leads nowhere")
		case mapped != no:
			c.fault(FaultDuplicate, p.ID, "lives as number %d and as number %d", no, mapped)
		}
		c.session(&p)
		return nil
	})
}

// session reads a session whole.
func (c *checker) session(p *Summary) {
	head, err := c.s.readHead(c.db, p)
	if err != nil {
		kind := FaultDamaged
		if found, err := hasPrefix(c.db, keyRevision(prefixHead, p.No, p.Rev)); err == nil && !found {
			kind = FaultNoHead
		}
		c.fault(kind, p.ID, "%v", err)
	} else if head.ID() != p.ID {
		c.fault(FaultID, p.ID, "the head is that of %s", head.ID())
	}
	got, ok := c.messages(p)
	if !ok {
		return
	}
	if got.msgs != p.Messages || got.blocks != p.Blocks || got.bytes != p.Bytes {
		c.fault(FaultCounters, p.ID, "%d messages, %d blocks, %d bytes are stored, the pointer says %d, %d, %d",
			got.msgs, got.blocks, got.bytes, p.Messages, p.Blocks, p.Bytes)
	}
	if head == nil {
		return
	}
	if n := head.Counters; n.Messages != got.ownMsgs || n.Blocks != got.ownBlocks {
		c.fault(FaultCounters, p.ID, "%d own messages and %d own blocks are stored, the head says %d and %d",
			got.ownMsgs, got.ownBlocks, n.Messages, n.Blocks)
	}
	var e encoder
	appendBrief(&e, head)
	brief := len(e.b)
	appendRest(&e, head)
	c.headEnd(p, len(e.b)-brief)
	if p.Hash != ([32]byte{}) && contentHash(got.sum, e.b, p.Fingerprint) != p.Hash { // Distrust takes the hash away
		c.fault(FaultHash, p.ID, "what is stored is not what was committed")
	}
	c.parents(p, head)
}

// headEnd looks for chunks after the end of a head, which no reader would see.
func (c *checker) headEnd(p *Summary, rest int) {
	chunks := 1 + (rest+headChunkBytes-1)/headChunkBytes
	err := scanRange(c.db, keyHead(p.No, p.Rev, uint32(chunks)), prefixEnd(keyRevision(prefixHead, p.No, p.Rev)), func(_, _ []byte) error {
		c.fault(FaultOrphan, p.ID, "the head goes on after its end")
		return errStop
	})
	if err != nil {
		c.fault(FaultDamaged, p.ID, "%v", err)
	}
}

func (c *checker) parents(p *Summary, head *archive.Session) {
	if want := parents(head); fmt.Sprint(want) != fmt.Sprint(p.Parents) {
		c.fault(FaultEdge, p.ID, "hangs on %v, the pointer says %v", want, p.Parents)
	}
	for _, parent := range p.Parents {
		if ok, err := has(c.db, keyEdge(parent, p.No)); err != nil || !ok {
			c.fault(FaultEdge, p.ID, "no edge from %s (%v)", parent, err)
		}
	}
	for _, id := range p.Raw {
		if ok, err := has(c.db, keyLinkSession(id, p.No)); err != nil || !ok {
			c.fault(FaultRawLink, p.ID, "no link from raw %v (%v)", id, err)
		}
	}
}

type tally struct {
	msgs, blocks, bytes, ownMsgs, ownBlocks int64
	sum                                     []byte
}

// messages walks over a session's messages; ok is false if it could not.
func (c *checker) messages(p *Summary) (t tally, ok bool) {
	h := sha256.New()
	t.sum = h.Sum(nil)
	prefix := keyRevision(prefixFrame, p.No, p.Rev)
	found, err := hasPrefix(c.db, prefix)
	if err == nil && !found {
		if p.Messages > 0 {
			c.fault(FaultNoFrames, p.ID, "no frames for %d messages", p.Messages)
			return t, false
		}
		return t, true
	}
	var w *items
	if err == nil {
		w, err = c.s.items(c.db, p, place{}, func(raw []byte) {
			h.Write(raw)
			t.bytes += int64(len(raw))
		})
	}
	if err != nil {
		c.fault(frameKind(err), p.ID, "%v", err)
		return t, false
	}
	defer w.close() //nolint:errcheck // every error of the walk was returned by it
	for more := true; more; {
		if c.alive() != nil {
			return t, false
		}
		m, err := w.message()
		if err == nil {
			t.msgs++
			t.blocks += int64(len(m.Blocks))
			if !m.Inherited {
				t.ownMsgs++
				t.ownBlocks += int64(len(m.Blocks))
			}
			more, err = w.advance(place{msg: uint32(t.msgs)})
		}
		if err != nil {
			c.fault(frameKind(err), p.ID, "message %d: %v", t.msgs, err)
			return t, false
		}
	}
	t.sum = h.Sum(nil)
	return t, true
}

// frameKind tells a frame that is not there from one that does not decode.
func frameKind(err error) FaultKind {
	if errors.Is(err, errNoFrame) {
		return FaultNoFrame
	}
	return FaultDamaged
}

func (c *checker) ids() error {
	return c.each(prefixID, func(k, v []byte) error {
		if len(v) != 8 {
			c.fault(FaultDamaged, string(k[1:]), "bad number")
			return nil
		}
		no := No(get64(v))
		if no >= c.state.NextNo {
			c.fault(FaultCounter, string(k[1:]), "number %d is past the store's", no)
		}
		p, ok, err := pointer(c.db, no)
		if err == nil && ok && string(p.ID) != string(k[1:]) {
			c.fault(FaultID, string(k[1:]), "leads to number %d, which is %s", no, p.ID)
		}
		return nil
	})
}

// orphans looks for frames and heads of revisions that are neither current nor being
// written.
func (c *checker) orphans() error {
	for _, prefix := range []byte{prefixFrame, prefixHead} {
		if err := c.orphansUnder(prefix); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) orphansUnder(prefix byte) (err error) {
	it, err := c.db.NewIter(&pebble.IterOptions{LowerBound: []byte{prefix}, UpperBound: []byte{prefix + 1}})
	if err != nil {
		return mapErr(err)
	}
	defer func() {
		if err2 := it.Close(); err2 != nil && err == nil {
			c.fault(FaultDamaged, recordNames[prefix], "%v", mapErr(err2))
		}
	}()
	for ok := it.First(); ok; {
		if err := c.alive(); err != nil {
			return err
		}
		k := bytes.Clone(it.Key())
		if len(k) < 17 {
			c.fault(FaultDamaged, fmt.Sprintf("record %q", k), "bad key")
			ok = it.Next()
			continue
		}
		no, rev := No(get64(k[1:])), get64(k[9:])
		p, living, err := pointer(c.db, no)
		if err == nil && (!living || p.Rev != rev) {
			if pending, err := has(c.db, keyRevision(prefixPending, no, rev)); err == nil && !pending {
				c.fault(FaultOrphan, fmt.Sprintf("session %d revision %d", no, rev), "no pointer leads here")
			}
		}
		ok = it.SeekGE(prefixEnd(k[:17]))
	}
	return nil
}
