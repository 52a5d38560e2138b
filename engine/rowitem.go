package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/store"
	"github.com/hansard-search/hansard/postings"
	"github.com/hansard-search/hansard/query"
)

// A MessageItem is a row of messages where ….
type MessageItem struct {
	Unit         string `json:"unit"`
	MessageID    string `json:"message_id"`
	SessionID    string `json:"session_id"`
	Origin       string `json:"origin"`
	Title        string `json:"title"` // of the session
	Role         string `json:"role"`
	Type         string `json:"message_type"`
	Material     string `json:"material_origin"`
	OccurredAtMS *int64 `json:"occurred_at_ms"`
	Position     int    `json:"position"`
	Words        int64  `json:"word_count"`
	Text         string `json:"text"` // search text of its blocks, a line each
}

// An ActionItem is a row of actions where ….
type ActionItem struct {
	Unit          string   `json:"unit"`
	SessionID     string   `json:"session_id"`
	MessageID     string   `json:"message_id"`
	Origin        string   `json:"origin"`
	Title         string   `json:"title"` // of the session
	UseBlockID    string   `json:"tool_use_block_id"`
	ResultBlockID *string  `json:"tool_result_block_id"`
	ToolName      *string  `json:"tool_name"`
	ToolFamily    *string  `json:"tool_family"`
	Semantic      *string  `json:"semantic_type"`
	Command       *string  `json:"tool_command"`
	Path          *string  `json:"tool_path"` // the first of Paths
	Paths         []string `json:"tool_paths"`
	OccurredAtMS  *int64   `json:"occurred_at_ms"`
	Output        *string  `json:"output_text"` // null without a result
	IsError       *int     `json:"is_error"`    // 0 or 1
	ExitCode      *int64   `json:"exit_code"`
	ResultState   string   `json:"result_state"`
	FollowupClass *string  `json:"followup_class"`
	FollowupRef   *string  `json:"followup_message_ref"`
}

// A BlockItem is a row of blocks where ….
type BlockItem struct {
	Unit      string  `json:"unit"`
	BlockID   string  `json:"block_id"`
	MessageID string  `json:"message_id"`
	SessionID string  `json:"session_id"`
	Origin    string  `json:"origin"`
	Title     string  `json:"title"` // of the session
	Type      string  `json:"block_type"`
	Position  int     `json:"position"` // in the message
	Text      *string `json:"text"`
	ToolName  *string `json:"tool_name"`
	Semantic  *string `json:"semantic_type"`
	Command   *string `json:"tool_command"`
	Path      *string `json:"tool_path"`
}

// A rowFetcher reads rows from the store. It keeps the heads of the sessions that it was
// at last: rows of sessions that ran at the same time take turns.
type rowFetcher struct {
	*rows
	no    store.No
	head  *archive.Session
	title string
	heads []openHead // the last used first
}

// An openHead is a head and the title that is shown.
type openHead struct {
	no    store.No
	head  *archive.Session
	title string
}

// Heads are kept as long as they are few and have few actions, which is what makes them
// large.
const (
	maxHeads       = 32
	maxHeadActions = 100_000
)

// item reads one row.
func (f *rowFetcher) item(row query.Row) (item any, err error) {
	no, err := f.session(row.Source, row.Session)
	if err != nil {
		return nil, err
	}
	unit := f.plan.Unit()
	if err := f.open(no, unit == query.UnitAction); err != nil {
		return nil, err
	}
	switch unit {
	case query.UnitMessage:
		item, err = f.message(int(row.Place))
	case query.UnitBlock:
		item, err = f.block(row)
	case query.UnitAction:
		item, err = f.action(int(row.Place))
	default:
		return nil, fmt.Errorf("rows of %s", unit.Plural())
	}
	if isNotFound(err) {
		err = fmt.Errorf("%w: the index has a row that the store lacks: %w", store.ErrCorrupt, err)
	}
	return item, err
}

// open moves to the head of a session, and reads it unless it is kept.
func (f *rowFetcher) open(no store.No, full bool) (err error) {
	i := slices.IndexFunc(f.heads, func(h openHead) bool { return h.no == no })
	if i < 0 {
		if err := f.read(no, full); err != nil {
			return err
		}
		f.keep(openHead{no, f.head, f.title})
		return nil
	}
	h := f.heads[i]
	copy(f.heads[1:i+1], f.heads[:i])
	f.heads[0] = h
	f.no, f.head, f.title = h.no, h.head, h.title
	return nil
}

// keep puts a head in front of the others, of which those that are too much go.
func (f *rowFetcher) keep(h openHead) {
	f.heads = slices.Insert(f.heads, 0, h)
	n, actions := 0, 0
	for ; n < min(len(f.heads), maxHeads); n++ {
		if actions += len(f.heads[n].head.Actions); n > 1 && actions > maxHeadActions {
			break
		}
	}
	clear(f.heads[n:])
	f.heads = f.heads[:n]
}

// read reads the head of a session, with its actions if it is to be full.
func (f *rowFetcher) read(no store.No, full bool) (err error) {
	f.no = no
	if full {
		f.head, err = f.snap.store.Head(no)
	} else {
		f.head, err = f.snap.store.Brief(no)
	}
	if isNotFound(err) {
		err = fmt.Errorf("%w: the index has a session that the store lacks: %w", store.ErrCorrupt, err)
	}
	if err != nil {
		f.head = nil
		return err
	}
	if f.title, err = f.snap.store.Title(f.head.ID()); err != nil {
		f.head = nil // its other rows fail too
	} else if f.title == "" {
		f.title = f.head.Title
	}
	return err
}

func (f *rowFetcher) message(place int) (*MessageItem, error) {
	m, err := f.snap.store.Message(f.no, place)
	if err != nil {
		return nil, err
	}
	var parts []string
	for i := range m.Blocks {
		if text := archive.AppendSearchText(nil, &m.Blocks[i]); len(text) > 0 {
			parts = append(parts, string(text))
		}
	}
	return &MessageItem{
		Unit: "message", MessageID: f.messageID(m), SessionID: string(f.head.ID()), Origin: string(f.head.Origin), Title: f.title,
		Role: string(m.Role), Type: string(m.Type), Material: string(m.Material), OccurredAtMS: knownTime(m.Time), Position: m.Position,
		Words: m.Words, Text: strings.Join(parts, "\n"),
	}, nil
}

func (f *rowFetcher) messageID(m *archive.Message) string {
	return archive.MessageID(f.head.ID(), m, f.head.Duplicates)
}

// block reads a block, whose message it finds by the spans of the segment.
func (f *rowFetcher) block(row query.Row) (*BlockItem, error) {
	view := f.view(row.Source)
	blocks, err := view.Spans(postings.Message, postings.Block)
	if err != nil {
		return nil, err
	}
	messages, err := view.Spans(postings.Session, postings.Message)
	if err != nil {
		return nil, err
	}
	message := blocks.Of(row.Row)
	first, _ := blocks.Run(message)
	firstMessage, _ := messages.Run(row.Session)
	m, err := f.snap.store.Message(f.no, int(message-firstMessage))
	if err != nil {
		return nil, err
	}
	i := int(row.Row - first)
	if i >= len(m.Blocks) {
		return nil, fmt.Errorf("%w: the index has a block that the store lacks", store.ErrCorrupt)
	}
	id := f.messageID(m)
	b := blockRowOf(id, i, &m.Blocks[i])
	item := &BlockItem{Unit: "block", BlockID: b.ID, MessageID: id, SessionID: string(f.head.ID()), Origin: string(f.head.Origin), Title: f.title,
		Type: b.Type, Position: i, Text: text(b.Text), ToolName: text(b.ToolName), Command: text(b.Command)}
	if m.Blocks[i].Type == archive.BlockToolUse {
		item.Semantic = text(cmp.Or(b.Semantic, "other")) // as its action says, and as action: finds it
		if len(b.Paths) > 0 {
			item.Path = &b.Paths[0]
		}
	}
	return item, nil
}

func (f *rowFetcher) action(place int) (*ActionItem, error) {
	if place >= len(f.head.Actions) {
		return nil, fmt.Errorf("%w: the index has an action that the store lacks", store.ErrCorrupt)
	}
	a := &f.head.Actions[place]
	use, err := f.snap.store.Message(f.no, a.UseMessage)
	if err != nil {
		return nil, err
	}
	message := f.messageID(use)
	item := &ActionItem{
		Unit: "action", SessionID: string(f.head.ID()), MessageID: message, Origin: string(f.head.Origin), Title: f.title,
		UseBlockID: archive.BlockID(message, a.UseBlock), ToolName: text(a.ToolName), ToolFamily: text(a.Family), Semantic: text(cmp.Or(a.Semantic, "other")),
		Command: text(a.Command), Paths: list(a.Paths), OccurredAtMS: knownTime(a.Time), ResultState: string(a.State), FollowupClass: text(a.Followup),
	}
	if len(a.Paths) > 0 {
		item.Path = &item.Paths[0]
	}
	if a.IsError != archive.Unknown {
		failed := 0
		if a.IsError == archive.True {
			failed = 1
		}
		item.IsError = &failed
	}
	if a.ExitCode.Known {
		item.ExitCode = &a.ExitCode.Value
	}
	if a.ResultMessage >= 0 {
		result := use
		if a.ResultMessage != a.UseMessage {
			if result, err = f.snap.store.Message(f.no, a.ResultMessage); err != nil {
				return nil, err
			}
		}
		if a.ResultBlock >= len(result.Blocks) {
			return nil, fmt.Errorf("%w: the result of an action is missing", store.ErrCorrupt)
		}
		id := archive.BlockID(f.messageID(result), a.ResultBlock)
		item.ResultBlockID, item.Output = &id, &result.Blocks[a.ResultBlock].Text
	}
	if a.FollowupMessage >= 0 {
		m, err := f.snap.store.Message(f.no, a.FollowupMessage)
		if err != nil {
			return nil, err
		}
		ref := "message:" + f.messageID(m)
		item.FollowupRef = &ref
	}
	return item, nil
}

// sizeOf is about how many bytes an item holds.
func sizeOf(item any) int {
	const fixed = 512
	switch it := item.(type) {
	case *MessageItem:
		return fixed + len(it.Text)
	case *BlockItem:
		return fixed + size(it.Text) + size(it.Command)
	case *ActionItem:
		n := fixed + size(it.Output) + size(it.Command)
		for _, p := range it.Paths {
			n += len(p)
		}
		return n
	}
	return fixed
}

func size(s *string) int {
	if s == nil {
		return 0
	}
	return len(*s)
}

// knownTime is a time in ms since the epoch; nil when unknown.
func knownTime(ms int64) *int64 {
	if ms == archive.NoTime {
		return nil
	}
	return &ms
}
