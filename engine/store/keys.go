package store

// The key layout. Numbers in keys are big-endian, so that keys sort as numbers do.
//
//	prefix  key                                  value
//	b       number 8                             link of a batch: the generation before it
//	c       path                                 cursor: how far a source file was imported
//	d       dictionary id 4                      zstd dictionary
//	e       parent's id, 0, No 8                 empty: session No names the parent, which need not exist
//	f       No 8, revision 8, message 4,         frame: whole items from this one on, or one part of a
//	        block 4, part 4                      long item
//	h       No 8, revision 8, chunk 4            head of the session: its brief in chunk 0, the rest
//	                                             in chunks from 1 on
//	i       session id                           No of the session, never given to another
//	k       chunk hash 32, blob 8                empty: the blob uses the chunk
//	l       raw id 32, 's', No 8                 empty: the session came from these bytes
//	        raw id 32, 'c', path                 empty: the cursor stands in these bytes
//	        raw id 32, 'k'                       empty: kept although a newer file replaced it
//	m       "format", "state"                    format number; counters
//	        "chain", "guard"                     where the links begin; losses that were found
//	o       kind, 0, key                         overlay: what people set
//	p       No 8, revision 8                     empty: the revision is being written
//	q       blob 8                               empty: the raw bytes are being written
//	r       raw id 32                            manifest: blob, size, chunks, origin, path
//	s       rank 4                               live segment
//	t       No 8                                 pointer: current revision and summary of the session
//	x       No 8                                 dirty: revision and generation that the index lacks
//	y       chunk hash 32                        up to 1 MiB of source bytes
//
// In a frame's key a block is 0 for the message's own fields and j+1 for block j, and
// part is 0 for all frames but the later ones of an item longer than a frame. Values
// of the kinds f, h and y are compressed, see frameVersion.
const (
	prefixBatch   = 'b'
	prefixCursor  = 'c'
	prefixDict    = 'd'
	prefixEdge    = 'e'
	prefixFrame   = 'f'
	prefixHead    = 'h'
	prefixID      = 'i'
	prefixUse     = 'k'
	prefixLink    = 'l'
	prefixMeta    = 'm'
	prefixOverlay = 'o'
	prefixPending = 'p'
	prefixUpload  = 'q'
	prefixRaw     = 'r'
	prefixSegment = 's'
	prefixPointer = 't'
	prefixDirty   = 'x'
	prefixChunk   = 'y'
)

const (
	linkSession = 's'
	linkCursor  = 'c'
	linkKept    = 'k'
)

var (
	keyFormat = []byte("mformat")
	keyState  = []byte("mstate")
	keyBase   = []byte("mchain")
	keyGuard  = []byte("mguard")
)

func be32(b []byte, v uint32) []byte {
	return append(b, byte(v>>24), byte(v>>16), byte(v>>8), byte(v))
}

func be64(b []byte, v uint64) []byte {
	return be32(be32(b, uint32(v>>32)), uint32(v))
}

func get32(b []byte) uint32 {
	return uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
}

func get64(b []byte) uint64 { return uint64(get32(b))<<32 | uint64(get32(b[4:])) }

func key64(prefix byte, v uint64) []byte { return be64([]byte{prefix}, v) }

func keyString(prefix byte, s string) []byte {
	return append(append(make([]byte, 0, 1+len(s)), prefix), s...)
}

func keyHash(prefix byte, h [32]byte) []byte {
	return append(append(make([]byte, 0, 48), prefix), h[:]...)
}

// keyRevision is a key of a revision, and the prefix of its frames or head chunks.
func keyRevision(prefix byte, no No, rev uint64) []byte {
	return be64(be64(append(make([]byte, 0, 32), prefix), uint64(no)), rev)
}

func keyFrame(no No, rev uint64, at place, part uint32) []byte {
	return be32(be32(be32(keyRevision(prefixFrame, no, rev), at.msg), at.blk), part)
}

const frameKeyLen = 1 + 8 + 8 + 4 + 4 + 4

// parseFrameKey takes a frame's key apart; ok is false for a key of another shape.
func parseFrameKey(k []byte) (no No, rev uint64, at place, part uint32, ok bool) {
	if len(k) != frameKeyLen || k[0] != prefixFrame {
		return 0, 0, place{}, 0, false
	}
	return No(get64(k[1:])), get64(k[9:]), place{get32(k[17:]), get32(k[21:])}, get32(k[25:]), true
}

func keyHead(no No, rev uint64, chunk uint32) []byte {
	return be32(keyRevision(prefixHead, no, rev), chunk)
}

// keyEdges is the prefix of the edges to the dependants of a session. An id holds
// no zero byte.
func keyEdges[ID ~string](parent ID) []byte {
	return append(keyString(prefixEdge, string(parent)), 0)
}

func keyEdge[ID ~string](parent ID, child No) []byte {
	return be64(keyEdges(parent), uint64(child))
}

func keyUse(chunk [32]byte, blob uint64) []byte {
	return be64(keyHash(prefixUse, chunk), blob)
}

func keyLinkSession(raw RawID, no No) []byte {
	return be64(append(keyHash(prefixLink, raw), linkSession), uint64(no))
}

func keyLinkCursor(raw RawID, path string) []byte {
	return append(append(keyHash(prefixLink, raw), linkCursor), path...)
}

func keyLinkKept(raw RawID) []byte { return append(keyHash(prefixLink, raw), linkKept) }

func keySegment(rank int) []byte { return be32([]byte{prefixSegment}, uint32(rank)) }

func keyLink(n uint64) []byte { return key64(prefixBatch, n) }

func keyDict(id uint32) []byte { return be32([]byte{prefixDict}, id) }

func keyOverlays(kind string) []byte { return append(keyString(prefixOverlay, kind), 0) }

// prefixEnd is the first key after all keys with the prefix.
func prefixEnd(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i] < 0xff {
			end[i]++
			return end[:i+1]
		}
	}
	return nil
}
