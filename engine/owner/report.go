package owner

import (
	"slices"

	"github.com/hansard-search/hansard/engine"
	"github.com/hansard-search/hansard/engine/source"
)

// merge is the report of an import that one owner began and the next one ended. The
// second found unchanged what the first had stored; either may be nil. An import by
// force reads everything again, so that the second report is all of it.
func merge(a, b *engine.Report, force bool) *engine.Report {
	if a == nil || b == nil || force {
		if b == nil {
			return a
		}
		return b
	}
	m := *b
	m.Added += a.Added
	m.Updated += a.Updated
	m.Unchanged = max(0, b.Unchanged-a.Added-a.Updated)
	m.Rejected += a.Rejected
	m.Messages += a.Messages
	m.Blocks += a.Blocks
	m.Records = addRecords(a.Records, b.Records)
	m.Bytes += a.Bytes
	m.Files.Read += a.Files.Read
	m.Files.Unchanged = max(0, b.Files.Unchanged-a.Files.Read)
	m.Omitted += a.Omitted
	m.DurationMS += a.DurationMS
	m.Sources = mergeSources(a.Sources, b.Sources)
	m.Problems = slices.Clone(a.Problems)
	for _, p := range b.Problems {
		if !slices.Contains(a.Problems, p) { // a file that cannot be read is met twice
			m.Problems = append(m.Problems, p)
		}
	}
	return &m
}

func mergeSources(a, b []engine.SourceReport) []engine.SourceReport {
	out := slices.Clone(b)
	for _, s := range a {
		i := slices.IndexFunc(out, func(o engine.SourceReport) bool { return o.Format == s.Format })
		if i < 0 {
			out = append(out, s)
			continue
		}
		o := &out[i]
		o.Unchanged = max(0, o.Unchanged-s.Added-s.Updated)
		o.Added += s.Added
		o.Updated += s.Updated
		o.Rejected += s.Rejected
		o.Records = addRecords(s.Records, o.Records)
	}
	return out
}

func addRecords(a, b source.Records) source.Records {
	b.Read += a.Read
	b.Stored += a.Stored
	b.Skipped += a.Skipped
	b.Rejected += a.Rejected
	return b
}
