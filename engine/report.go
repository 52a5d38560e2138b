package engine

import (
	"github.com/hansard-search/hansard/engine/source"
)

// A Report says what an import did. Its numbers add up: over all sources, records
// read are stored, skipped or rejected, and every rejected one is in Problems.
type Report struct {
	Schema     string           `json:"schema"`
	Added      int              `json:"added"`     // sessions that are new
	Updated    int              `json:"updated"`   // sessions that changed
	Unchanged  int              `json:"unchanged"` // sessions that are as they were
	Rejected   int              `json:"rejected"`  // sessions refused because nothing was said in them
	Messages   int64            `json:"messages"`  // of the added and updated sessions
	Blocks     int64            `json:"blocks"`
	Records    source.Records   `json:"records"` // of the files that were read
	Bytes      int64            `json:"bytes"`   // of the files that were read, decompressed
	Files      FileCounts       `json:"files"`
	Sources    []SourceReport   `json:"sources"` // one per format, by name
	Problems   []source.Problem `json:"problems"`
	Skips      []source.Skip    `json:"skips"`            // what was found and left out, and why
	Omitted    int64            `json:"problems_omitted"` // problems beyond the first 10,000
	Stopped    bool             `json:"stopped"`          // ended early; what was acknowledged is kept
	DurationMS int64            `json:"duration_ms"`
}

// FileCounts says what became of the files that were found.
type FileCounts struct {
	Found      int `json:"found"`
	Read       int `json:"read"`
	Unchanged  int `json:"unchanged"` // not read: they are as the last import saw them
	Skipped    int `json:"skipped"`   // of a format that is not read
	Unreadable int `json:"unreadable"`
}

// A SourceReport is the part of one format.
type SourceReport struct {
	Format    string         `json:"format"`
	Files     int            `json:"files"`
	Added     int            `json:"added"`
	Updated   int            `json:"updated"`
	Unchanged int            `json:"unchanged"`
	Rejected  int            `json:"rejected"`
	Records   source.Records `json:"records"`
	Note      string         `json:"note,omitempty"` // why its files were skipped
}

// Progress is told now and then while an import runs.
type Progress struct {
	Phase      string // "read" or "index"
	Path       string
	FilesDone  int
	FilesTotal int
	BytesDone  int64
	BytesTotal int64 // as the files lie on disk
}

// maxProblems bounds the problems that a report lists.
const maxProblems = 10_000

func (r *Report) problem(p source.Problem) {
	if len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, p)
	} else {
		r.Omitted++
	}
}

func addRecords(to *source.Records, r source.Records) {
	to.Read += r.Read
	to.Stored += r.Stored
	to.Skipped += r.Skipped
	to.Rejected += r.Rejected
}

const importSchema = "hansard.import/1"

func newReport() *Report {
	return &Report{Schema: importSchema, Sources: []SourceReport{}, Problems: []source.Problem{}, Skips: []source.Skip{}}
}
