package codex

import (
	"strings"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

// A call is one use of a tool.
type call struct {
	name, id string
	input    object // nil when the record has none
}

// block is the tool_use block.
func (c call) block() archive.Block {
	b := archive.Block{Type: archive.BlockToolUse, ToolName: c.name, ToolID: c.id}
	if c.input != nil {
		b.ToolInput = c.input.String()
	}
	return b
}

// readCall reads an item that calls a tool. The name of a call without one is the
// type of its item.
func readCall(item jsonx.Value, typ string) call {
	c := call{name: callName(item, typ), id: callID(item)}
	switch in := callInput(item); in.Type() {
	case jsonx.Object:
		c.input = objectOf(in)
	case jsonx.String:
		c.readText(in.Str())
	}
	if typ == "image_generation_call" {
		c.input = object{}
		c.input.text("prompt", item.Get("revised_prompt").Str())
	}
	c.refine()
	return c
}

func callName(item jsonx.Value, typ string) string {
	name := firstStr(item, "name", "tool")
	if name == "" {
		name = item.Get("function", "name").Str()
	}
	space := firstStr(item, "namespace", "server")
	switch {
	case name == "":
		return typ
	case space == "":
		return name
	case strings.HasSuffix(space, "__"):
		return space + name
	case item.Get("server").Exists():
		return mcpName(space, name)
	case strings.HasPrefix(space, "mcp__"):
		return space + "__" + name
	}
	return space + "." + name
}

func mcpName(server, tool string) string { return "mcp__" + server + "__" + tool }

func callInput(item jsonx.Value) jsonx.Value {
	for _, k := range []string{"arguments", "input", "action"} {
		if v := item.Get(k); v.Exists() && v.Type() != jsonx.Null {
			return v
		}
	}
	return item.Get("function", "arguments")
}

// readText takes an input that was written as a string: an object in JSON, or
// anything else, which then stays whole under "arguments".
func (c *call) readText(s string) {
	var p jsonx.Parser
	if v, err := p.ParseString(s); err == nil && isObject(v) {
		c.input = objectOf(v)
		return
	}
	if strings.TrimSpace(s) == "" {
		return
	}
	c.input = object{}
	c.input.text("arguments", s)
	switch {
	case isPatchTool(c.name):
		c.input.text("patch", s)
		if paths := archive.Paths("apply_patch", c.input.String(), ""); len(paths) > 0 {
			c.input.text("path", paths[0])
			c.input.list("paths", paths)
		}
	case isExecTool(c.name):
		c.input.text("command", s)
	}
}

// refine gives inputs of known tools the names that queries ask for.
func (c *call) refine() {
	if c.input == nil {
		return
	}
	if _, ok := c.input["command"]; ok {
		return
	}
	keys := []string{"cmd"}
	if isExecTool(c.name) {
		keys = append(keys, "source") // a script that calls tools
	}
	for _, k := range keys {
		if cmd, ok := c.input[k]; ok {
			c.input["command"] = cmd
			return
		}
	}
}

func isPatchTool(name string) bool {
	switch lastPart(name) {
	case "apply_patch", "patch":
		return true
	}
	return false
}

func isExecTool(name string) bool {
	switch lastPart(name) {
	case "exec", "exec_command", "shell", "shell_command", "local_shell_call", "local_shell", "bash", "run", "terminal":
		return true
	}
	return false
}

func lastPart(name string) string {
	name = strings.ToLower(name)
	return name[strings.LastIndexByte(name, '.')+1:]
}
