package store

// A buffer holds decoded bytes while something is copied out of them. Without reuse
// a block of 1 kB costs a frame of garbage: see BenchmarkHit.
type buffer struct{ b []byte }

// buffer takes a buffer from the store's pool.
func (s *Store) buffer() *buffer {
	b, ok := s.buffers.Get().(*buffer)
	if !ok {
		b = &buffer{b: make([]byte, 0, frameMax)}
	}
	return b
}

// putBuffer gives a buffer back, with what it has grown to. Nothing may refer to its
// bytes any more. A buffer that a long head has made large is left to the collector.
func (s *Store) putBuffer(b *buffer) {
	if cap(b.b) <= 4*frameMax {
		s.buffers.Put(b)
	}
}
