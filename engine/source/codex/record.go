package codex

import (
	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

// recordKind is what a record is, over both spellings of the file.
type recordKind int

const (
	kindOther   recordKind = iota // of an unknown type, or no object at all
	kindMeta                      // session_meta, or the head of an old file
	kindTurn                      // turn_context
	kindItem                      // response_item, or a bare item
	kindEvent                     // event_msg
	kindCompact                   // compacted
	kindState                     // understood, never kept: {record_type:state}, world_state
)

// A record is one value of the file with its envelope taken off.
type record struct {
	ord  int64 // rank among all values and broken records of the file
	kind recordKind
	typ  string // of the item or the event
	body jsonx.Value
	head jsonx.Value // the whole record
}

// when is the time of the record. It is read when asked for, because the first
// pass needs few of them.
func (r record) when() int64 {
	t := timeOf(r.head.Get("timestamp"))
	if t == archive.NoTime {
		t = timeOf(r.body.Get("timestamp"))
	}
	return t
}

// bareItems are the item types that stand without an envelope in old files.
var bareItems = map[string]bool{
	"message": true, "reasoning": true, "function_call": true, "function_call_output": true,
	"custom_tool_call": true, "custom_tool_call_output": true, "local_shell_call": true,
	"web_search_call": true,
}

func openRecord(ord int64, v jsonx.Value) record {
	rec := record{ord: ord, body: v, head: v}
	if !isObject(v) {
		return rec
	}
	typ := v.Get("type").Str()
	if p := v.Get("payload"); isObject(p) {
		rec.body = p
	} else if v.Get("record_type").Str() != "" {
		rec.kind = kindState
		return rec
	} else if isLegacyHead(v) {
		rec.kind = kindMeta
		return rec
	} else if bareItems[typ] || typ == "" && v.Get("role").Str() != "" {
		typ = "response_item"
	}
	switch typ {
	case "session_meta":
		rec.kind = kindMeta
	case "turn_context":
		rec.kind = kindTurn
		if inner := rec.body.Get("turn_context"); isObject(inner) {
			rec.body = inner
		}
	case "compacted":
		rec.kind = kindCompact
	case "world_state", "inter_agent_communication_metadata":
		rec.kind = kindState
	case "event_msg":
		rec.kind, rec.typ = kindEvent, rec.body.Get("type").Str()
	case "response_item":
		rec.kind, rec.typ = kindItem, rec.body.Get("type").Str()
		if rec.typ == "" && rec.body.Get("role").Str() != "" {
			rec.typ = "message"
		}
	}
	return rec
}

// itemClass groups the item types.
type itemClass int

const (
	itemOther itemClass = iota
	itemMessage
	itemReasoning
	itemCall
	itemOutput
)

func classOf(typ string) itemClass {
	switch typ {
	case "message", "agent_message":
		return itemMessage
	case "reasoning":
		return itemReasoning
	case "function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call",
		"image_generation_call", "tool_call", "mcp_tool_call", "computer_call", "file_search_call", "code_interpreter_call":
		return itemCall
	case "function_call_output", "custom_tool_call_output", "tool_search_output", "local_shell_call_output",
		"web_search_output", "web_search_call_output", "mcp_tool_call_output", "tool_result", "computer_call_output":
		return itemOutput
	}
	return itemOther
}

// callID is what pairs a call with its result and with the events that end it.
func callID(item jsonx.Value) string { return firstStr(item, "call_id", "id") }
