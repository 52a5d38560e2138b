package engine

import (
	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/postings"
	"github.com/hansard-search/hansard/query"
)

// An actionLane is a segment of which only the blocks of tool calls and their
// results can be matched.
type actionLane struct{ query.Source }

// AllLive is false: rows are left out.
func (actionLane) AllLive() bool { return false }

// Live are the tool blocks among the live blocks.
func (l actionLane) Live(u postings.Unit) (*postings.Bits, error) {
	live, err := l.Source.Live(u)
	if err != nil || u != postings.Block {
		return live, err
	}
	types, err := l.Keywords("block.type")
	if err != nil {
		return nil, err
	}
	tools := postings.NewBits(live.Len())
	for _, kind := range []archive.BlockType{archive.BlockToolUse, archive.BlockToolResult} {
		i, err := types.Seek(string(kind))
		if err != nil {
			return nil, err
		}
		if i == types.Len() {
			continue
		}
		if v, err := types.Value(i); err != nil {
			return nil, err
		} else if v != string(kind) {
			continue
		}
		if err := types.AddRows(i, tools); err != nil {
			return nil, err
		}
	}
	tools.And(live)
	return tools, nil
}
