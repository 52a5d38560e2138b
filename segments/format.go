package segments

import "hash/crc32"

// The versions of the format. A reader reads every version up to formatVersion
// and refuses later ones untouched; a writer writes formatVersion. A change that
// an old reader can ignore is a new section tag, not a new version.
//
//	1  the first
const formatVersion = 1

// The file begins and ends with a magic. All integers are little-endian; uvarints
// are those of encoding/binary.
const (
	headMagic = "HNSDSEG\n"
	tailMagic = "\nHNSDSEG"

	headerBytes  = 16 // magic, version u32, zero u32
	trailerBytes = 64 // see trailer in footer.go; its place and checksum never change
	pageBytes    = 64 << 10
	sectionAlign = 8
)

// Limits that a reader holds a file to before it takes memory.
const (
	maxName     = 255     // bytes of an analyzer, column or section name
	maxSections = 1 << 16 // entries of the section table
)

// blockTerms is the number of terms of a dictionary block: the first key of each
// block is found by binary search, the rest by a walk.
const blockTerms = 32

// Tags of sections. Readers skip tags that they do not know.
const (
	tagMeta = "META" // rows, totals, schema
	tagPage = "PCRC" // CRC-32C of every page before this section

	tagRefs      = "REFS" // per session: number u64, revision u64
	tagTotals    = "TOTL" // per session: searchable blocks u64, tokens u64, inherited rows left out
	tagSpans     = "SPAN" // "parent/child": u32 offsets, one more than parents
	tagActions   = "ACTB" // per action: rank of the use block i32, of the result block i32
	tagInherited = "INHR" // unit: a postings.Set; absent when empty

	tagDict       = "DICT" // per index: blocks of front-coded terms
	tagDictIndex  = "DIDX" // per index: where blocks begin and with which term
	tagDocs       = "DOCS" // per index: rows of the lists
	tagFreqs      = "FREQ" // per index: frequencies
	tagPositions  = "POSN" // per index: positions
	tagBounds     = "BNDS" // per index: score bounds
	tagLengths    = "LENS" // per index: u32 tokens per block
	tagSearchable = "SRCH" // per index: u64 words, one bit per block with search text

	tagValues  = "KVAL" // per keyword column: its values in byte order
	tagSets    = "KSET" // per keyword column: the rows of each value
	tagForward = "KFWD" // per keyword column: the values of each row
	tagNumbers = "NUMB" // per number column
)

// textIndex names the inverted index over the search text of blocks.
const textIndex = "text"

// Modes of a forward column (keyword.go).
const (
	forwardSingle = 0 // per row: index plus one, or 0
	forwardMulti  = 1 // u32 offsets, then indexes
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }
