package codex

import (
	"slices"
	"strings"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

// output is what a tool gave back.
type output struct {
	text     string
	failed   archive.Tri
	exit     archive.Int
	pictures []picture
	paths    []string
}

// readOutput reads a result, which is a string, a list of parts, or an object.
func readOutput(v jsonx.Value) output {
	var o output
	switch v.Type() {
	case jsonx.String:
		o.readText(v.Str())
	case jsonx.Array:
		o.readParts(v)
	case jsonx.Object:
		o.readObject(v)
	case jsonx.Missing, jsonx.Null:
	default:
		o.text = v.Canonical()
	}
	return o
}

// readText takes a text. Old versions wrapped it in JSON, {"output","metadata"};
// there the output itself is the text, because words behind an escaped newline
// could not be found in the wrapping.
func (o *output) readText(s string) {
	if strings.HasPrefix(strings.TrimLeft(s, " \t\r\n"), "{") {
		var p jsonx.Parser
		if v, err := p.ParseString(s); err == nil && isObject(v) {
			o.judge(v)
			if inner := v.Get("output"); inner.Type() == jsonx.String && isObject(v.Get("metadata")) {
				s = inner.Str()
			}
		}
	} else {
		o.exit = archive.ExitFromText(s, archive.ExitCodex, archive.ExitProcess)
		if !o.exit.Known && refused(s) {
			o.failed = archive.True
		}
	}
	o.text, o.pictures = takePictures(s)
	o.conclude()
}

// refusals are the words with which Codex itself, not the tool, answers a call
// that it did not run or could not finish. No exit code goes with them.
var refusals = []string{
	"apply_patch verification failed:", "patch rejected:", "exec command rejected by user", "aborted by user",
	"failed to parse function arguments:", "unsupported call:", "unsupported custom tool call:", "execution error:",
	"failed in sandbox:",
}

func refused(s string) bool {
	return slices.ContainsFunc(refusals, func(head string) bool { return strings.HasPrefix(s, head) })
}

func (o *output) readParts(v jsonx.Value) {
	var texts []string
	for p := range v.Array() {
		if url := p.Get("image_url").Str(); url != "" {
			pic, ok := parseDataURL(url)
			if !ok {
				texts = append(texts, url)
				continue
			}
			o.pictures = append(o.pictures, pic)
			texts = append(texts, pic.note())
			continue
		}
		if data := p.Get("data").Str(); data != "" && p.Get("type").Is("image") {
			pic := pictureOf(firstStr(p, "mimeType", "mime_type"), data)
			o.pictures = append(o.pictures, pic)
			texts = append(texts, pic.note())
			continue
		}
		s := p.Str()
		if s == "" {
			s = p.Get("text").Str()
		}
		if s == "" && isObject(p) {
			s = p.Canonical()
		}
		var part output
		part.readText(s)
		texts = append(texts, part.text)
		o.pictures = append(o.pictures, part.pictures...)
		if len(texts) == 1 {
			// Later parts are what a script printed, not how it ended.
			o.exit, o.failed = part.exit, part.failed
			o.judgeScript(s)
		}
	}
	o.text = joinText(texts)
	o.conclude()
}

// judgeScript reads the head of a script's result.
func (o *output) judgeScript(head string) {
	switch {
	case strings.HasPrefix(head, "Script completed\n"):
		o.failed = archive.False
	case strings.HasPrefix(head, "Script failed\n"):
		o.failed = archive.True
	}
}

func (o *output) readObject(v jsonx.Value) {
	switch {
	case v.Get("content").Exists():
		*o = readOutput(v.Get("content"))
	case v.Get("stdout").Exists() || v.Get("stderr").Exists():
		o.text, o.pictures = takePictures(joinText([]string{strings.TrimRight(v.Get("stdout").Str(), "\n"), v.Get("stderr").Str()}))
	case v.Get("output").Type() == jsonx.String:
		o.text, o.pictures = takePictures(v.Get("output").Str())
	default:
		o.text, o.pictures = takePictures(v.Canonical())
	}
	o.judge(v)
	o.conclude()
}

// judge reads what an object says of success, in it or one level below.
func (o *output) judge(v jsonx.Value) {
	for _, in := range []jsonx.Value{v, v.Get("metadata"), v.Get("result"), v.Get("output")} {
		for _, k := range []string{"exit_code", "exitCode"} {
			if n := intOf(in.Get(k)); n.Known && !o.exit.Known {
				o.exit = n
			}
		}
		for _, k := range []string{"is_error", "isError"} {
			if t := triOf(in.Get(k)); t != archive.Unknown && o.failed == archive.Unknown {
				o.failed = t
			}
		}
		if in.Get("timed_out").True() {
			o.failed = archive.True
		}
	}
	if t := triOf(v.Get("success")); t != archive.Unknown && o.failed == archive.Unknown {
		o.failed = archive.TriOf(t == archive.False)
	}
}

// conclude derives failure from the exit code where nothing else was said.
func (o *output) conclude() {
	if o.exit.Known && o.failed == archive.Unknown {
		o.failed = archive.TriOf(o.exit.Value != 0)
	}
}

// join takes what an event of the same call says; the event is the better witness.
func (o *output) join(c callFacts, paths []string) {
	if c.exit.Known {
		o.exit = c.exit
		o.failed = archive.TriOf(c.exit.Value != 0)
	}
	if c.failed != archive.Unknown {
		o.failed = c.failed
	}
	if len(paths) > 0 {
		o.paths = paths
	}
}

// block is the result block, with the pictures that came with it.
func (o output) block(id string) (archive.Block, []archive.Attachment) {
	b := archive.Block{
		Type: archive.BlockToolResult, Text: o.text, ToolID: id, Paths: o.paths,
		Outcome: archive.Outcome{IsError: o.failed, ExitCode: o.exit},
	}
	if o.failed == archive.Unknown {
		b.Outcome.Reason = archive.NotReported
	}
	var list []archive.Attachment
	for _, p := range o.pictures {
		list = append(list, p.attachment())
	}
	return b, list
}
