package main

// A peer is another search engine that indexes the same texts.
type peer interface {
	// Name names the engine and its version.
	Name() string
	// Add indexes documents; they come in ascending order of session and block.
	Add(batch []document) error
	// Optimize brings the index into the form that it searches fastest and returns
	// its size in bytes.
	Optimize() (int64, error)
	// Search answers a query that is spelled in the peer's own language.
	Search(match string, limit int) (answer, error)
	Close() error
}

// A document is one block as it is given to a peer.
type document struct {
	session int // ordinal of the session in the corpus
	block   int // rank of the block in its session
	text    string
}

// An answer is what both engines must agree on.
type answer struct {
	total  int       // matching sessions
	scores []float64 // of the best block of each of the best sessions, best first
}
