package engine

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/hansard-search/hansard/engine/source"
	"github.com/hansard-search/hansard/engine/store"
)

// Options configure an Engine. The zero value is what production uses.
//
// Memory: under a GOMEMLIMIT of 160 MiB, which the hansard command sets, an import has
// at most 192 MiB and twice FlushBytes resident, mapped index files included, however
// much it reads: 256 MiB with the defaults. A CacheBytes above its default, and records
// of more than a few megabytes while they are read, come on top; so do mapped pages of
// temporary files, which the system may take back, while one session that is many times
// FlushBytes is joined.
type Options struct {
	// Create makes the archive if the folder holds none. Without it Open fails
	// with ARCHIVE_MISSING.
	Create bool
	// ReadOnly opens without writing a byte; Import and Rebuild are refused.
	ReadOnly bool
	// DropRaw leaves out the source bytes: `read --view raw` and re-parsing by a
	// better importer then need the agents' own files.
	DropRaw bool
	// FlushBytes is the memory of an index segment under construction and of the
	// tail; 0 means 32 MiB.
	FlushBytes int
	// CacheBytes is the memory of the store's block cache; 0 means 32 MiB.
	CacheBytes int64
	// NoMerge turns background merges off.
	NoMerge bool
	// NoHeal turns the background indexing of what damaged segments held off; Rebuild
	// does it then.
	NoHeal bool
	// Workers is how many segments one query works on at once; 0 means as many as
	// there are processors.
	Workers int
	// Limits bound what one source file may cost.
	Limits source.Limits
	// QueryLimits bound what one search may cost.
	QueryLimits QueryLimits
	// Logger takes what an operator may want to know; nil discards it. It never
	// gets text of sessions or queries above debug level.
	Logger *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// FS is the file system of the archive; nil means the disk.
	FS store.FS
	// Lock is the lock of the folder, when the caller has taken it already, as package
	// owner does; it stays the caller's.
	Lock *store.Lock
}

func (o Options) withDefaults() Options {
	o.FlushBytes = cmp.Or(o.FlushBytes, 32<<20)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.FS == nil {
		o.FS = store.Disk
	}
	return o
}
