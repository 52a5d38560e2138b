package archive

// A Message is one turn of a session with its blocks in file order.
type Message struct {
	Position    int      // dense from zero in transcript order
	Variant     int      // sibling rank in formats with branches
	Native      string   // native id, may be empty
	Aliases     []string // further native ids that name this message (streamed records)
	Parent      string   // native id of the parent message, may be empty
	Role        Role
	Type        MessageType
	Material    Material
	Model       string
	Effort      string
	Sender      string
	Recipient   string
	StopReason  string
	Time        int64 // NoTime when unknown
	Duration    Int   // milliseconds
	Tokens      Tokens
	Words       int64 // whitespace-separated words of text and tool-result text
	Inherited   bool  // replayed from a parent, on positive evidence
	Abandoned   bool  // on a branch that is not active
	Pastes      []Paste
	Attachments []Attachment
	Blocks      []Block
}

// Tokens is a message's usage, each lane counted once.
type Tokens struct{ Input, Output, CacheRead, CacheWrite int64 }

// A Paste is evidence that a part of a message was pasted.
type Paste struct {
	Position   int
	Start, End int    // byte offsets of the marker in the text; both zero when unknown
	Boundary   string // "projected", "hash_only", "exact"
}

// An Attachment is a file or picture that came with a message.
type Attachment struct {
	ID, Name, Media string
	Size            int64
	SourceURL       string
}

// A Block is one part of a message.
type Block struct {
	Type      BlockType
	Seq       int // rank among the session's blocks in file order; differs from block order only where tool results interleave a streamed reply
	Text      string
	ToolName  string // tool_use only
	ToolID    string // pairs a tool_use with its tool_result
	ToolInput string // tool_use only: a JSON object with sorted keys and no spaces, or empty
	Media     string
	Language  string
	Signature string
	Outcome   Outcome  // tool_result only
	Paths     []string // tool_result only: files that the structured result names
}

// An Outcome is what a tool result says of success.
type Outcome struct {
	IsError  Tri
	ExitCode Int
	Reason   string // why IsError is Unknown: not_reported, distrusted, not_read
}
