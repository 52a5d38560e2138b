package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"

	"github.com/hansard-search/hansard/engine/source"
	"github.com/hansard-search/hansard/engine/store"
)

// maxTail bounds what is looked at of the end of a file that grew: a longer tail is
// taken for news.
const maxTail = 256 << 10

// nothingNew reports whether a file that looks changed holds no record that the last
// import has not seen: it was copied or touched, or a record at its end is still being
// written. The bytes that were imported must be the same, all of them. A file that
// was not imported to its end, or whose bytes are not those on disk, is read again.
func nothingNew(ctx context.Context, f *source.Opened, m fileMark) (bool, error) {
	tail := f.Stat.Size - m.Size
	if m.raw == (store.RawID{}) || m.Consumed != m.Size || tail < 0 || tail > maxTail || f.Stat.Compressed {
		return false, nil
	}
	r, err := f.Open()
	if err != nil {
		return false, err
	}
	defer r.Close()
	at, ok := r.(io.ReaderAt)
	if !ok {
		return false, nil
	}
	end := make([]byte, tail)
	if _, err := at.ReadAt(end, m.Size); err != nil && err != io.EOF {
		return false, err
	}
	if end = bytes.TrimSpace(end); bytes.IndexByte(end, '\n') >= 0 || json.Valid(end) {
		return false, nil
	}
	h := sha256.New()
	for left := m.Size; left > 0; {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		n, err := io.CopyN(h, r, min(left, 1<<20))
		if left -= n; err != nil {
			return false, err
		}
	}
	return store.RawID(h.Sum(nil)) == m.raw, nil
}

// touched notes that a file is as it was imported although it looks changed, so that
// the next import need not read it. A tail that is being written is not noted: it
// will be news.
func (r *importRun) touched(ctx context.Context, f *source.Opened, format source.Format, m fileMark) error {
	if f.Stat.Size != m.Size {
		return nil
	}
	cur, err := newMark(f.Stat, format, source.Records{Consumed: m.Consumed}, m.Sessions).cursor(f.Path, m.raw)
	if err == nil {
		_, err = r.e.store.Commit(ctx, store.Commit{Cursors: []store.Cursor{cur}})
	}
	return err
}
