package archive

// An Action is one tool_use block with its result, if it has one. Actions are in
// file order of their tool_use.
type Action struct {
	UseMessage      int // position of the message that holds the tool_use
	UseBlock        int // position of the block in that message
	ResultMessage   int // -1 without a result
	ResultBlock     int
	Use, Result     int // ranks of the two blocks among the session's blocks in transcript order; Result is -1 without one
	ToolName        string
	Family          string // canonical tool, see ToolFamily
	Semantic        string // file_read, file_write, file_edit, search, shell, git, subagent, agent, web; empty for other
	Command         string
	Paths           []string // distinct, in order of evidence; slashes forward
	IsError         Tri      // as queries see it: a result without the flag is no error; unknown without a result
	ExitCode        Int
	State           ResultState
	Followup        string // acknowledged, silent_proceed, wordless_continuation, ambiguous; empty unless the action failed
	FollowupMessage int    // position of the assistant message that followed; -1 without one
	Time            int64  // of the message that holds the tool_use
	ResultTime      int64  // of the message that holds the result; NoTime without one
	Inherited       bool
}

// ResultState is what is known of an action's result.
type ResultState string

const (
	NoResult       ResultState = "no_result"
	OutcomeUnknown ResultState = "outcome_unknown"
	OutcomeError   ResultState = "outcome_error"
	OutcomeSuccess ResultState = "outcome_success"
)
