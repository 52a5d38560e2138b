package engine

import "github.com/hansard-search/hansard/engine/archive"

// blockTypes are the types of blocks that the text of a query may match in a lane;
// nil means all.
func blockTypes(lane string) []string {
	if lane == LaneActions {
		return []string{string(archive.BlockToolUse), string(archive.BlockToolResult)}
	}
	return nil
}
