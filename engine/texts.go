package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/store"
	"github.com/hansard-search/hansard/postings"
	"github.com/hansard-search/hansard/query"
	"github.com/hansard-search/hansard/segments"
)

// A textSource is a segment with the stored texts of its rows.
type textSource struct {
	*segments.View
	store *store.Snapshot
	// left are sessions that were found damaged: to a query they are dead, so that what
	// it says of missing text is never said of text that cannot be read.
	left map[postings.Ord]error

	mu     sync.Mutex
	unread map[postings.Ord]error // further ones
}

// AllLive is that of query.Source.
func (s *textSource) AllLive() bool { return len(s.left) == 0 && s.View.AllLive() }

// Live is that of query.Source.
func (s *textSource) Live(u postings.Unit) (*postings.Bits, error) {
	live, err := s.View.Live(u)
	if err != nil || len(s.left) == 0 {
		return live, err
	}
	out := postings.NewBits(live.Len())
	out.Or(live)
	if u == postings.Session {
		for o := range s.left {
			out.Remove(o)
		}
		return out, nil
	}
	spans, err := s.Spans(postings.Session, u)
	if err != nil {
		return nil, err
	}
	for session := range s.left {
		for o, end := spans.Run(session); o < end; o++ {
			out.Remove(o)
		}
	}
	return out, nil
}

// Texts is that of query.Source. A session that is damaged in the store has no texts, and
// is remembered.
func (s *textSource) Texts(ctx context.Context, u postings.Unit, rows *postings.Bits, part query.Part, visit func(postings.Ord, string) bool) error {
	sessions, err := s.Spans(postings.Session, u)
	if err != nil {
		return err
	}
	r := &textReader{source: s, ctx: ctx, part: part, visit: visit}
	for row, ok := rows.Next(0); ok; {
		session := sessions.Of(row)
		first, end := sessions.Run(session)
		ref, err := s.Segment().SessionRef(session)
		if err != nil {
			return err
		}
		if u == postings.Action {
			err = r.actions(store.No(ref.No), first, end, rows)
		} else {
			err = r.blocks(store.No(ref.No), session, end, rows, row)
		}
		if isNotFound(err) {
			err = fmt.Errorf("%w: the index has a session that the store lacks: %w", store.ErrCorrupt, err)
		}
		if errors.Is(err, store.ErrCorrupt) {
			s.remember(session, err)
		} else if err != nil {
			return err
		}
		row, ok = rows.Next(end)
	}
	return nil
}

func (s *textSource) remember(session postings.Ord, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unread == nil {
		s.unread = map[postings.Ord]error{}
	}
	s.unread[session] = err
}

// A textReader reads the texts of rows of one session after the other.
type textReader struct {
	source *textSource
	ctx    context.Context
	part   query.Part
	visit  func(postings.Ord, string) bool
	input  archive.InputReader
	parts  []string // reused
}

// manyMessages is the number of messages of a session from which on all are read in one
// go, and not each by itself.
const manyMessages = 4

// blocks visits the texts of the blocks of a session in [row, end).
func (r *textReader) blocks(no store.No, session, end postings.Ord, rows *postings.Bits, row postings.Ord) error {
	blocks, err := r.source.Spans(postings.Message, postings.Block)
	if err != nil {
		return err
	}
	messages, err := r.source.Spans(postings.Session, postings.Message)
	if err != nil {
		return err
	}
	firstMessage, _ := messages.Run(session)
	var wanted []int // messages, by position
	for o, ok := row, true; ok && o < end; {
		m := blocks.Of(o)
		wanted = append(wanted, int(m-firstMessage))
		_, behind := blocks.Run(m)
		o, ok = rows.Next(behind)
	}
	var outputs map[[2]int]string
	if r.part == query.Output {
		if outputs, err = r.outputs(no, wanted); err != nil {
			return err
		}
	}
	return r.messages(no, wanted, func(m *archive.Message) {
		first, _ := blocks.Run(firstMessage + postings.Ord(m.Position))
		for i := range m.Blocks {
			o := first + postings.Ord(i)
			if !rows.Has(o) {
				continue
			}
			if r.part == query.Output {
				if text, ok := outputs[[2]int{m.Position, i}]; ok {
					r.visit(o, text)
				}
				continue
			}
			for _, text := range r.ofBlock(&m.Blocks[i]) {
				if !r.visit(o, text) {
					break
				}
			}
		}
	})
}

// messages reads messages of a session by position.
func (r *textReader) messages(no store.No, wanted []int, visit func(*archive.Message)) error {
	if len(wanted) < manyMessages {
		for _, pos := range wanted {
			if err := r.ctx.Err(); err != nil {
				return err
			}
			m, err := r.source.store.Message(no, pos)
			if err != nil {
				return err
			}
			visit(m)
		}
		return nil
	}
	next := 0
	for m, err := range r.source.store.Messages(no, wanted[0]) {
		if err == nil {
			err = r.ctx.Err()
		}
		if err != nil {
			return err
		}
		if m.Position == wanted[next] {
			visit(m)
			if next++; next == len(wanted) {
				return nil
			}
		}
	}
	return fmt.Errorf("%w: the index has a message that the store lacks", store.ErrCorrupt)
}

// ofBlock are the texts of a block.
func (r *textReader) ofBlock(b *archive.Block) []string {
	if r.part == query.Command {
		if b.Type != archive.BlockToolUse {
			return nil
		}
		return []string{archive.Command(b.ToolName, b.ToolInput)}
	}
	r.parts = r.input.AppendSearchParts(r.parts[:0], b)
	return r.parts
}

// outputs are the texts of the results of the calls in some messages of a session, by
// the message and the block of the call.
func (r *textReader) outputs(no store.No, messages []int) (map[[2]int]string, error) {
	head, err := r.source.store.Head(no)
	if err != nil {
		return nil, err
	}
	in := map[int]bool{}
	for _, m := range messages {
		in[m] = true
	}
	out := map[[2]int]string{}
	for i := range head.Actions {
		a := &head.Actions[i]
		if !in[a.UseMessage] || a.ResultMessage < 0 {
			continue
		}
		b, err := r.source.store.Block(no, a.ResultMessage, a.ResultBlock)
		if err != nil {
			return nil, err
		}
		out[[2]int{a.UseMessage, a.UseBlock}] = b.Text
	}
	return out, nil
}

// actions visits the texts of the actions of a session, whose rows are [first, end).
func (r *textReader) actions(no store.No, first, end postings.Ord, rows *postings.Bits) error {
	head, err := r.source.store.Head(no)
	if err != nil {
		return err
	}
	if len(head.Actions) != int(end-first) {
		return fmt.Errorf("%w: the index has %d actions of %d", store.ErrCorrupt, end-first, len(head.Actions))
	}
	for o, ok := rows.Next(first); ok && o < end; o, ok = rows.Next(o + 1) {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		a := &head.Actions[o-first]
		more := true
		for _, text := range r.ofAction(a) {
			if more = r.visit(o, text); !more {
				break
			}
		}
		if !more {
			continue
		}
		if r.part == query.ActionText {
			b, err := r.source.store.Block(no, a.UseMessage, a.UseBlock)
			if err != nil {
				return err
			}
			if more = r.visitInput(o, b.ToolInput); !more {
				continue
			}
		}
		if r.part != query.FileText && r.part != query.Command && a.ResultMessage >= 0 {
			b, err := r.source.store.Block(no, a.ResultMessage, a.ResultBlock)
			if err != nil {
				return err
			}
			r.visit(o, b.Text)
		}
	}
	return nil
}

// ofAction are the texts of an action that its session's head holds.
func (r *textReader) ofAction(a *archive.Action) []string {
	switch r.part {
	case query.Output:
		return nil
	case query.Command:
		return append(r.parts[:0], a.Command)
	}
	r.parts = append(r.parts[:0], a.ToolName, cmp.Or(a.Semantic, "other"), a.Command)
	r.parts = append(r.parts, a.Paths...)
	return r.parts
}

// visitInput visits the keys and strings of a tool's input.
func (r *textReader) visitInput(o postings.Ord, input string) (more bool) {
	more = true
	r.input.Strings(input, func(s string) bool {
		more = r.visit(o, s)
		return more
	})
	return more
}
