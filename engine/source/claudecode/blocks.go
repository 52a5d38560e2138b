package claudecode

import (
	"cmp"
	"strings"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

// kinds counts the segments of a record's content.
type kinds struct{ all, results int }

// content turns a record's message content into blocks.
func (s *session) content(p *pending, v jsonx.Value) kinds {
	c := v.Get("message", "content")
	if !c.Exists() {
		c = v.Get("content")
	}
	var k kinds
	switch c.Type() {
	case jsonx.String:
		s.text(p, c.Str())
		k.all = 1
	case jsonx.Object:
		s.segment(p, v, c, &k)
	case jsonx.Array:
		for seg := range c.Array() {
			s.segment(p, v, seg, &k)
		}
	}
	return k
}

func (s *session) text(p *pending, text string) {
	if strings.TrimSpace(text) != "" {
		s.block(p, archive.Block{Type: archive.BlockText, Text: text})
	}
}

// segment turns one segment into its block, or blocks where pictures lie inside.
func (s *session) segment(p *pending, rec, seg jsonx.Value, k *kinds) {
	k.all++
	typ := seg.Get("type").Str()
	switch {
	case seg.Type() == jsonx.String:
		s.text(p, seg.Str())
	case typ == "thinking":
		s.block(p, archive.Block{
			Type: archive.BlockThinking, Text: cmp.Or(seg.Get("thinking").Str(), seg.Get("text").Str()),
			Signature: seg.Get("signature").Str(),
		})
	case typ == "redacted_thinking":
		s.block(p, archive.Block{Type: archive.BlockThinking})
	case typ == "tool_use" || strings.HasSuffix(typ, "_tool_use"):
		s.toolUse(p, seg)
	case typ == "tool_result" || strings.HasSuffix(typ, "_tool_result"):
		k.results++
		s.toolResult(p, rec, seg)
	case typ == "image" || typ == "document":
		s.media(p, seg)
	case typ == "code":
		s.block(p, archive.Block{
			Type: archive.BlockCode, Text: cmp.Or(seg.Get("code").Str(), seg.Get("text").Str()), Language: seg.Get("language").Str(),
		})
	default:
		s.text(p, cmp.Or(seg.Get("text").Str(), seg.Get("content").Str()))
	}
}

// toolUse keeps a call unless nothing identifies it. An input that is no object is
// put into one.
func (s *session) toolUse(p *pending, seg jsonx.Value) {
	b := archive.Block{Type: archive.BlockToolUse, ToolName: seg.Get("name").Str(), ToolID: seg.Get("id").Str()}
	switch in := seg.Get("input"); in.Type() {
	case jsonx.Object:
		b.ToolInput = in.Canonical()
	case jsonx.String, jsonx.Array, jsonx.Number, jsonx.Bool:
		b.ToolInput = `{"input":` + in.Canonical() + `}`
	}
	if b.ToolName != "" || b.ToolID != "" || b.ToolInput != "" {
		s.block(p, b)
	}
}

// media keeps a picture or document: what it is, never its bytes. A document of
// plain text keeps the text.
func (s *session) media(p *pending, seg jsonx.Value) {
	src := seg.Get("source")
	b := archive.Block{Type: archive.BlockImage, Media: cmp.Or(src.Get("media_type").Str(), seg.Get("media_type").Str())}
	name := seg.Get("title").Str()
	if seg.Get("type").Is("document") {
		b.Type = archive.BlockDocument
		if src.Get("type").Is("text") {
			b.Text = src.Get("data").Str()
		} else {
			b.Text = name
		}
	}
	s.block(p, b)
	a := archive.Attachment{Name: name, Media: b.Media, SourceURL: src.Get("url").Str()}
	switch {
	case src.Get("type").Is("base64"):
		a.ID, a.Size = digest(src.Get("data").Raw())
	case b.Text != "" && src.Get("type").Is("text"):
		a.ID, a.Size = digestText(b.Text)
	case src.Get("file_id").Str() != "":
		a.ID = src.Get("file_id").Str()
	case a.SourceURL != "":
		a.ID = a.SourceURL
	}
	if a.ID != "" {
		p.m.Attachments = append(p.m.Attachments, a)
	}
}
