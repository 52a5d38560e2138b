package codex

import (
	"strings"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

// An ending is an event that tells how a call ended. It joins the items of the
// call; where there are none, as for calls made inside a script, it stands for
// them.
type ending struct {
	id     string
	failed archive.Tri
	exit   archive.Int
	paths  []string
	// resultOnly tells that the event's id may not be that of the call's item, so
	// that it must not stand for a call.
	resultOnly bool
	// make builds the call and its result; it reads the record.
	make func() (call, output)
}

// endingOf reads an event that ends a call.
func endingOf(rec record) (ending, bool) {
	b := rec.body
	switch rec.typ {
	case "exec_command_end":
		return execEnding(b, b.Get("call_id").Str()), true
	case "patch_apply_end":
		return patchEnding(b, b.Get("call_id").Str()), true
	case "mcp_tool_call_end":
		inv := b.Get("invocation")
		return mcpEnding(b.Get("call_id").Str(), inv, b.Get("result")), true
	case "dynamic_tool_call_response":
		return dynamicEnding(b), true
	case "web_search_end":
		return searchEnding(b), true
	case "tool_call":
		return ending{id: callID(b), make: func() (call, output) { return readCall(b, "tool_call"), output{} }}, true
	case "item_completed":
		item := b.Get("item")
		switch id := item.Get("id").Str(); item.Get("type").Str() {
		case "CommandExecution":
			return execEnding(item, id), true
		case "FileChange":
			return patchEnding(item, id), true
		case "McpToolCall":
			return mcpEnding(id, item, item.Get("result")), true
		}
	}
	return ending{}, false
}

func execEnding(b jsonx.Value, id string) ending {
	e := ending{id: id, exit: intOf(b.Get("exit_code"))}
	if b.Get("source").Is("user_shell") || b.Get("source").Is("userShell") {
		return e // the prompt that carries it follows as an item
	}
	e.make = func() (call, output) {
		c := call{name: "exec_command", id: id, input: object{}}
		c.input.value("command", b.Get("command"))
		c.input.text("workdir", b.Get("cwd").Str())
		var o output
		text := firstStr(b, "aggregated_output", "formatted_output")
		if text == "" {
			text = joinText([]string{strings.TrimRight(b.Get("stdout").Str(), "\n"), b.Get("stderr").Str()})
		}
		o.text, o.pictures = takePictures(text)
		return c, o
	}
	return e
}

func patchEnding(b jsonx.Value, id string) ending {
	e := ending{id: id}
	switch ok, known := b.Get("success").Bool(); {
	case known:
		e.failed = archive.TriOf(!ok)
	case b.Get("status").Is("completed"):
		e.failed = archive.False
	case b.Get("status").Is("failed"), b.Get("status").Is("declined"):
		e.failed = archive.True
	}
	for path, change := range b.Get("changes").Object() {
		e.paths = append(e.paths, path)
		if to := change.Get("move_path").Str(); to != "" {
			e.paths = append(e.paths, to)
		}
	}
	e.make = func() (call, output) {
		c := call{name: "apply_patch", id: id, input: object{}}
		if len(e.paths) > 0 {
			c.input.text("path", e.paths[0])
			c.input.list("paths", e.paths)
		}
		c.input.text("patch", patchText(b.Get("changes")))
		return c, output{text: joinText([]string{strings.TrimRight(b.Get("stdout").Str(), "\n"), b.Get("stderr").Str()})}
	}
	return e
}

// patchText writes the changes of a patch as one patch.
func patchText(changes jsonx.Value) string {
	var out strings.Builder
	for path, change := range changes.Object() {
		verb := "Update"
		switch firstStr(change, "type") {
		case "add":
			verb = "Add"
		case "delete":
			verb = "Delete"
		}
		out.WriteString("*** " + verb + " File: " + path + "\n")
		if to := change.Get("move_path").Str(); to != "" {
			out.WriteString("*** Move to: " + to + "\n")
		}
		out.WriteString(firstStr(change, "unified_diff", "content"))
		if s := out.String(); !strings.HasSuffix(s, "\n") {
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// mcpEnding reads the end of a call to a server; inv names server, tool and
// arguments, and result is {"Ok"} or {"Err"}, or the bare result.
func mcpEnding(id string, inv, result jsonx.Value) ending {
	e := ending{id: id}
	body := result
	switch ok, bad := result.Get("Ok"), result.Get("Err"); {
	case bad.Exists():
		e.failed, body = archive.True, bad
	case ok.Exists():
		e.failed, body = archive.False, ok
	}
	for _, k := range []string{"isError", "is_error"} {
		if t := triOf(body.Get(k)); t != archive.Unknown {
			e.failed = t
		}
	}
	e.make = func() (call, output) {
		c := call{name: mcpName(inv.Get("server").Str(), inv.Get("tool").Str()), id: id}
		if args := inv.Get("arguments"); isObject(args) {
			c.input = objectOf(args)
		}
		c.refine()
		return c, readOutput(body)
	}
	return e
}

// searchEnding reads what a search on the web found.
func searchEnding(b jsonx.Value) ending {
	return ending{id: b.Get("call_id").Str(), resultOnly: true, make: func() (call, output) {
		var found []string
		for r := range b.Get("results").Array() {
			found = append(found, joinText([]string{r.Get("title").Str(), r.Get("url").Str(), r.Get("snippet").Str()}))
		}
		return call{}, output{text: joinText(found)}
	}}
}

func dynamicEnding(b jsonx.Value) ending {
	e := ending{id: firstStr(b, "call_id", "callId")}
	if ok, known := b.Get("success").Bool(); known {
		e.failed = archive.TriOf(!ok)
	}
	e.make = func() (call, output) {
		c := call{name: callName(b, "dynamic_tool"), id: e.id}
		if args := b.Get("arguments"); isObject(args) {
			c.input = objectOf(args)
		}
		c.refine()
		o := readOutput(b.Get("content_items"))
		if o.text == "" {
			o.text = b.Get("error").Str()
		}
		return c, o
	}
	return e
}
