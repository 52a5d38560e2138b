package store

import "github.com/hansard-search/hansard/engine/archive"

// A session's messages are a stream of items: the fields of a message, then its
// blocks, then the next message. An item begins with its length and kind, so that a
// reader can walk over it. The position of a message is its rank in the stream and
// is not stored.

const (
	itemMessage = 0
	itemBlock   = 1
)

// appendMessage encodes a message without its blocks.
func appendMessage(e *encoder, m *archive.Message) {
	e.int(int64(m.Variant))
	e.str(m.Native)
	e.strs(m.Aliases)
	e.str(m.Parent)
	e.str(string(m.Role))
	e.str(string(m.Type))
	e.str(string(m.Material))
	e.str(m.Model)
	e.str(m.Effort)
	e.str(m.Sender)
	e.str(m.Recipient)
	e.str(m.StopReason)
	e.time(m.Time)
	e.maybe(m.Duration)
	e.int(m.Tokens.Input)
	e.int(m.Tokens.Output)
	e.int(m.Tokens.CacheRead)
	e.int(m.Tokens.CacheWrite)
	e.int(m.Words)
	e.bool(m.Inherited)
	e.bool(m.Abandoned)
	e.uint(uint64(len(m.Pastes)))
	for _, p := range m.Pastes {
		e.int(int64(p.Position))
		e.int(int64(p.Start))
		e.int(int64(p.End))
		e.str(p.Boundary)
	}
	e.uint(uint64(len(m.Attachments)))
	for _, a := range m.Attachments {
		e.str(a.ID)
		e.str(a.Name)
		e.str(a.Media)
		e.int(a.Size)
		e.str(a.SourceURL)
	}
	e.uint(uint64(len(m.Blocks)))
}

// decodeMessage decodes a message without its blocks; blocks is how many follow.
func decodeMessage(s string) (m *archive.Message, blocks int, err error) {
	d := decoder{s: s}
	m = &archive.Message{
		Variant:    d.intn(),
		Native:     d.str(),
		Aliases:    d.strs(),
		Parent:     d.str(),
		Role:       archive.Role(d.str()),
		Type:       archive.MessageType(d.str()),
		Material:   archive.Material(d.str()),
		Model:      d.str(),
		Effort:     d.str(),
		Sender:     d.str(),
		Recipient:  d.str(),
		StopReason: d.str(),
		Time:       d.time(),
		Duration:   d.maybe(),
		Tokens:     archive.Tokens{Input: d.int(), Output: d.int(), CacheRead: d.int(), CacheWrite: d.int()},
		Words:      d.int(),
		Inherited:  d.bool(),
		Abandoned:  d.bool(),
	}
	if n := d.count(4); n > 0 {
		m.Pastes = make([]archive.Paste, n)
		for i := range m.Pastes {
			m.Pastes[i] = archive.Paste{Position: d.intn(), Start: d.intn(), End: d.intn(), Boundary: d.str()}
		}
	}
	if n := d.count(5); n > 0 {
		m.Attachments = make([]archive.Attachment, n)
		for i := range m.Attachments {
			m.Attachments[i] = archive.Attachment{ID: d.str(), Name: d.str(), Media: d.str(), Size: d.int(), SourceURL: d.str()}
		}
	}
	n := d.uint()
	if n > maxBlocks {
		d.fail(errLength)
		n = 0
	}
	if err := d.end(); err != nil {
		return nil, 0, corruptf("message: %w", err)
	}
	return m, int(n), nil
}

// maxBlocks bounds the blocks of a message: their rank must fit a key.
const maxBlocks = 1<<31 - 1

// appendBlock encodes all of a block but its two long texts: the tool input and the
// text follow the encoded bytes.
func appendBlock(e *encoder, b *archive.Block) {
	e.str(string(b.Type))
	e.int(int64(b.Seq))
	e.str(b.ToolName)
	e.str(b.ToolID)
	e.str(b.Media)
	e.str(b.Language)
	e.str(b.Signature)
	e.tri(b.Outcome.IsError)
	e.maybe(b.Outcome.ExitCode)
	e.str(b.Outcome.Reason)
	e.strs(b.Paths)
	e.uint(uint64(len(b.ToolInput)))
}

// decodeBlock decodes a block with its texts. The strings are parts of s.
func decodeBlock(s string) (archive.Block, error) {
	d := decoder{s: s}
	b := archive.Block{
		Type:      archive.BlockType(d.str()),
		Seq:       d.intn(),
		ToolName:  d.str(),
		ToolID:    d.str(),
		Media:     d.str(),
		Language:  d.str(),
		Signature: d.str(),
		Outcome:   archive.Outcome{IsError: d.tri(), ExitCode: d.maybe(), Reason: d.str()},
		Paths:     d.strs(),
		ToolInput: d.str(),
	}
	if d.err != nil {
		return archive.Block{}, corruptf("block: %w", d.err)
	}
	b.Text = d.s
	return b, nil
}
