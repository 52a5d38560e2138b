package codex

import (
	"strings"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

// textParts are the texts of a message's content, which is a string or a list,
// without the labels that stand around a picture.
func textParts(content jsonx.Value) []string {
	if s := content.Str(); s != "" {
		return []string{s}
	}
	var parts []string
	for p := range content.Array() {
		s := p.Str()
		if s == "" {
			s = p.Get("text").Str()
		}
		if s != "" && !isImageLabel(s) {
			parts = append(parts, s)
		}
	}
	return parts
}

// isImageLabel tells the parts that only open or close a picture.
func isImageLabel(s string) bool {
	s = strings.TrimSpace(s)
	return s == "</image>" || s == "<image>" || strings.HasPrefix(s, "<image name=") && strings.IndexByte(s, '>') == len(s)-1
}

// appendContent turns content into blocks and attachments of m.
func appendContent(m *archive.Message, content jsonx.Value) {
	if s := content.Str(); s != "" {
		m.Blocks = append(m.Blocks, archive.Block{Type: archive.BlockText, Text: s})
		return
	}
	label := ""
	for p := range content.Array() {
		switch typ := p.Get("type").Str(); typ {
		case "input_image", "image", "image_url", "output_image":
			appendImage(m, p, label)
			label = ""
		case "input_file", "file":
			m.Attachments = append(m.Attachments, archive.Attachment{
				ID: p.Get("file_id").Str(), Name: p.Get("filename").Str(), SourceURL: p.Get("file_url").Str(),
			})
		case "tool_use", "tool_result":
			m.Blocks = append(m.Blocks, nestedBlock(p, typ))
		default:
			s := p.Str()
			if s == "" {
				s = firstStr(p, "text", "content")
			}
			if isImageLabel(s) {
				label = labelName(s)
			} else if s != "" {
				m.Blocks = append(m.Blocks, archive.Block{Type: archive.BlockText, Text: s})
			}
		}
	}
}

// nestedBlock reads a call or a result that stands inside a message.
func nestedBlock(p jsonx.Value, typ string) archive.Block {
	if typ == "tool_use" {
		b := archive.Block{Type: archive.BlockToolUse, ToolName: p.Get("name").Str(), ToolID: p.Get("id").Str()}
		if in := p.Get("input"); isObject(in) {
			b.ToolInput = in.Canonical()
		}
		return b
	}
	out := readOutput(p.Get("content"))
	if t := triOf(p.Get("is_error")); t != archive.Unknown {
		out.failed = t
	}
	b, _ := out.block(p.Get("tool_use_id").Str())
	return b
}

func appendImage(m *archive.Message, p jsonx.Value, label string) {
	url := p.Get("image_url").Str()
	if url == "" {
		url = p.Get("image_url", "url").Str()
	}
	if data := p.Get("data").Str(); url == "" && data != "" {
		url = "data:" + firstStr(p, "mime_type", "mimeType", "media_type") + base64Mark + data
	}
	appendImageURL(m, url, label)
	if id := p.Get("file_id").Str(); id != "" {
		m.Attachments[len(m.Attachments)-1].ID = id
	}
}

// appendImageURL adds a picture, which url holds or names.
func appendImageURL(m *archive.Message, url, label string) {
	b := archive.Block{Type: archive.BlockImage}
	a := archive.Attachment{Name: label, SourceURL: url}
	if pic, ok := parseDataURL(url); ok {
		b.Media, b.Text = pic.media, pic.note()
		a = pic.attachment()
		a.Name = label
	}
	m.Blocks = append(m.Blocks, b)
	m.Attachments = append(m.Attachments, a)
}

// labelName is the name in <image name=[Image #1]>.
func labelName(s string) string {
	_, s, ok := strings.Cut(s, "name=")
	if !ok {
		return ""
	}
	return strings.Trim(strings.TrimSuffix(strings.TrimSpace(s), ">"), `"[] `)
}

// reasoningParts are the readable texts of a reasoning item: its summary and, if
// the model gives it, the reasoning itself.
func reasoningParts(item jsonx.Value) []string {
	return append(textParts(item.Get("summary")), textParts(item.Get("content"))...)
}
