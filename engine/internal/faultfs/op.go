package faultfs

import (
	"fmt"
	"path"
	"strings"
)

// A Kind is what is asked of the file system.
type Kind uint8

// The kinds of operations. Sync is one that promises durability, of a file or of a
// directory; Flush only asks for writing to begin.
const (
	Create Kind = iota
	Reuse
	Append // opening for writing
	Write
	Sync
	Flush
	Close // of a file that was open for writing
	Rename
	Link
	Remove
	Mkdir
	Lock
	OpenDir
	Open
	Read
	List
	Stat
	kinds
)

var kindNames = [kinds]string{"create", "reuse", "append", "write", "sync", "flush", "close", "rename", "link", "remove",
	"mkdir", "lock", "opendir", "open", "read", "list", "stat"}

func (k Kind) String() string { return kindNames[k] }

// Writes reports whether the kind may change the disk.
func (k Kind) Writes() bool { return k < Lock }

// A FileKind is what role a file has in an archive.
type FileKind uint8

// The kinds of files, told by their names.
const (
	Other FileKind = iota
	WAL
	Manifest // and the marker that names it
	Table    // SST
	Segment
	Temp // of a segment under construction
	Dir
	fileKinds
)

var fileKindNames = [fileKinds]string{"other", "WAL", "MANIFEST", "SST", "segment", "temporary", "directory"}

func (k FileKind) String() string { return fileKindNames[k] }

// KindOf tells the kind of the file with this path.
func KindOf(name string) FileKind {
	base := path.Base(name)
	switch {
	case strings.HasSuffix(base, ".log"):
		return WAL
	case strings.HasPrefix(base, "MANIFEST-"), strings.HasPrefix(base, "marker.manifest"):
		return Manifest
	case strings.HasSuffix(base, ".sst"):
		return Table
	case strings.HasSuffix(base, ".segment.tmp"):
		return Temp
	case strings.HasSuffix(base, ".seg"):
		return Segment
	}
	return Other
}

// An Op is one operation.
type Op struct {
	N     int64 // its number, from 1 on
	Kind  Kind
	File  FileKind
	Path  string
	Bytes int // to be written or read
}

func (o Op) String() string {
	return fmt.Sprintf("operation %d: %v %s (%v)", o.N, o.Kind, o.Path, o.File)
}
