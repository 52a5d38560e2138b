package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/store"
)

// A Reading is what a reference points at: a session with its messages, one of
// them, one block of one, or something derived from the session. Close it.
type Reading struct {
	Head ReadingHead

	ctx   context.Context
	snap  *snapshot
	done  func() // gives everything back, once
	no    store.No
	head  *archive.Session
	from  int // first message position
	count int // messages; -1 means to the end
	block int // the only block shown; -1 means all
}

// A ReadingHead says what was found.
type ReadingHead struct {
	Schema        string         `json:"schema"`
	Mode          string         `json:"mode"`
	Ref           string         `json:"ref"` // as asked for
	NormalizedRef string         `json:"normalized_ref"`
	Kind          string         `json:"kind"`
	Resolved      bool           `json:"resolved"`
	PayloadKind   string         `json:"payload_kind"`
	Session       SessionSummary `json:"session"`
	Payload       any            `json:"payload"` // of derived units, else null
	TotalMessages int64          `json:"total_messages"`
	ObjectRefs    []string       `json:"object_refs"`
	Caveats       []string       `json:"caveats"`
	ReadOnly      *ReadOnly      `json:"read_only"` // as in a SearchEnvelope
}

// A MessageRow is one message as it is read.
type MessageRow struct {
	Unit       string     `json:"unit"`
	ID         string     `json:"message_id"`
	SessionID  string     `json:"session_id"`
	Ref        string     `json:"ref"`
	ParentID   *string    `json:"parent_message_id"` // as the source names it
	Role       string     `json:"role"`
	Type       string     `json:"message_type"`
	Material   string     `json:"material_origin"`
	OccurredAt *string    `json:"occurred_at"`
	Position   int        `json:"position"`
	Model      *string    `json:"model"`
	Words      int64      `json:"word_count"`
	Tokens     TokenRow   `json:"tokens"`
	Inherited  bool       `json:"inherited"`
	Aliases    []string   `json:"aliases"`
	Blocks     []BlockRow `json:"blocks"`
}

// TokenRow is the usage of one message.
type TokenRow struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cache_read"`
	CacheWrite int64 `json:"cache_write"`
}

// A BlockRow is one block as it is read.
type BlockRow struct {
	ID        string          `json:"block_id"`
	Ref       string          `json:"ref"`
	Position  int             `json:"position"`
	Type      string          `json:"block_type"`
	Text      string          `json:"text"`
	ToolName  string          `json:"tool_name,omitempty"`
	ToolID    string          `json:"tool_id,omitempty"`
	ToolInput json.RawMessage `json:"tool_input,omitempty"`
	Semantic  string          `json:"semantic_type,omitempty"`
	Command   string          `json:"tool_command,omitempty"`
	Paths     []string        `json:"paths,omitempty"`
	IsError   *bool           `json:"is_error,omitempty"`
	ExitCode  *int64          `json:"exit_code,omitempty"`
	Language  string          `json:"language,omitempty"`
	Media     string          `json:"media_type,omitempty"`
}

// Detail is the one thing of a tool call that a reader wants to see beside its
// name: the command, the path, or the input.
func (b *BlockRow) Detail() string {
	switch {
	case b.Command != "":
		return b.Command
	case len(b.Paths) > 0:
		return b.Paths[0]
	}
	return string(b.ToolInput)
}

const readSchema = "hansard.read/1"

// Read resolves a reference: session:, message:, block:, run:, context-snapshot: or
// observed-event: and an id, or a session's id or native id, or a prefix of one
// that fits a single session. What does not exist is NOT_FOUND, never a search.
func (e *Engine) Read(ctx context.Context, ref string) (*Reading, error) {
	within, done, err := e.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	snap, err := e.snapshot(within)
	if err != nil {
		return nil, err
	}
	r := &Reading{ctx: ctx, snap: snap, count: -1, block: -1}
	r.done = sync.OnceFunc(snap.release)
	if err := r.resolve(ref); err != nil {
		r.Close()
		return nil, fault(within, err)
	}
	r.Head.ReadOnly = e.readOnly()
	return r, nil
}

// Close gives the snapshot back. It may be called again. A reading that is open when
// its engine closes ends with ARCHIVE_CLOSED.
func (r *Reading) Close() { r.done() }

// Raw opens the source bytes that a session was read from, as they were imported.
// They are there when the agent has long deleted its file.
func (e *Engine) Raw(ctx context.Context, ref string) (io.ReadCloser, error) {
	r, err := e.Read(ctx, ref)
	if err != nil {
		return nil, err
	}
	sum, err := r.snap.store.Summary(r.no)
	if err == nil && len(sum.Raw) == 0 {
		err = &Error{Code: CodeNotFound, Message: "the source bytes of " + r.Head.Session.ID + " were not kept"}
	}
	var raw io.ReadCloser
	if err == nil {
		id := sum.Raw[len(sum.Raw)-1]
		// As the store has them now: an import may have brought damaged bytes back
		// without a change of any session.
		if raw, err = e.store.OpenRaw(id); isNotFound(err) {
			raw, err = r.snap.store.OpenRaw(id)
		}
		if err != nil {
			err = fmt.Errorf("source bytes of %s: %w", r.Head.Session.ID, err)
		}
	}
	if err != nil {
		r.Close()
		return nil, fault(ctx, err)
	}
	return &rawReader{raw, r}, nil
}

// A rawReader keeps the snapshot as long as the bytes are read.
type rawReader struct {
	io.ReadCloser
	r *Reading
}

func (r *rawReader) Read(p []byte) (int, error) {
	if err := r.r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = fault(r.r.ctx, fmt.Errorf("source bytes of %s: %w", r.r.Head.Session.ID, err))
	}
	return n, err
}

func (r *rawReader) Close() error {
	err := r.ReadCloser.Close()
	r.r.Close()
	return err
}

// Messages yields the messages that the reference points at, in transcript order.
// An error ends the sequence.
func (r *Reading) Messages() iter.Seq2[*MessageRow, error] {
	return func(yield func(*MessageRow, error) bool) {
		left := r.count
		if left == 0 {
			return
		}
		for m, err := range r.snap.store.Messages(r.no, r.from) {
			if err == nil {
				err = r.ctx.Err()
			}
			if err != nil {
				yield(nil, fault(r.ctx, err))
				return
			}
			if !yield(r.row(m), nil) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

func (r *Reading) row(m *archive.Message) *MessageRow {
	id := archive.MessageID(r.head.ID(), m, r.head.Duplicates)
	row := &MessageRow{
		Unit: "message", ID: id, SessionID: string(r.head.ID()), Ref: "message:" + id, ParentID: text(m.Parent),
		Role: string(m.Role), Type: string(m.Type), Material: string(m.Material), OccurredAt: timestamp(m.Time),
		Position: m.Position, Model: text(m.Model), Words: m.Words, Tokens: TokenRow(m.Tokens), Inherited: m.Inherited,
		Aliases: append([]string{}, m.Aliases...), Blocks: []BlockRow{},
	}
	for i := range m.Blocks {
		if r.block < 0 || r.block == i {
			row.Blocks = append(row.Blocks, blockRowOf(id, i, &m.Blocks[i]))
		}
	}
	return row
}

func blockRowOf(message string, i int, b *archive.Block) BlockRow {
	id := archive.BlockID(message, i)
	row := BlockRow{ID: id, Ref: "block:" + id, Position: i, Type: string(b.Type), Text: b.Text, ToolName: b.ToolName, ToolID: b.ToolID,
		Language: b.Language, Media: b.Media, Paths: b.Paths}
	if b.Type == archive.BlockToolUse {
		row.Semantic = archive.Semantic(b.ToolName, b.ToolInput)
		row.Command = archive.Command(b.ToolName, b.ToolInput)
		row.Paths = archive.Paths(b.ToolName, b.ToolInput, row.Command)
		if json.Valid([]byte(b.ToolInput)) {
			row.ToolInput = json.RawMessage(b.ToolInput)
		}
	}
	if b.Outcome.IsError != archive.Unknown {
		failed := b.Outcome.IsError == archive.True
		row.IsError = &failed
	}
	if b.Outcome.ExitCode.Known {
		row.ExitCode = &b.Outcome.ExitCode.Value
	}
	return row
}

// notFound says that nothing has the reference.
func notFound(ref string) error {
	return &Error{Code: CodeNotFound, Field: "ref", Message: fmt.Sprintf("nothing in the archive is %q", brief(ref)),
		Hint: "references look like session:codex-session:ID, message:…, block:…; a search shows them"}
}

// brief is as much of a reference as an error repeats.
func brief(ref string) string {
	const most = 200
	if len(ref) <= most {
		return ref
	}
	return strings.ToValidUTF8(ref[:most], "") + "…"
}

func isNotFound(err error) bool { return errors.Is(err, store.ErrNotFound) }
