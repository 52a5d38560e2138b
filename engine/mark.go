package engine

import (
	"encoding/json"
	"fmt"

	"github.com/hansard-search/hansard/engine/source"
	"github.com/hansard-search/hansard/engine/store"
)

// A fileMark is how a file was when it was last imported. It lives in the store as
// the file's cursor.
type fileMark struct {
	Format      string      `json:"format"`
	Fingerprint string      `json:"-"`
	Size        int64       `json:"-"`
	ModTime     int64       `json:"-"`
	Consumed    int64       `json:"-"`
	Device      uint64      `json:"device"`
	Inode       uint64      `json:"inode"`
	Prefix      []byte      `json:"prefix"` // SHA-256 of its first bytes
	Sessions    int         `json:"sessions"`
	raw         store.RawID // of its bytes then; zero if they were not hashed
}

func newMark(s source.Stat, f source.Format, r source.Records, sessions int) fileMark {
	return fileMark{Format: f.Name(), Fingerprint: f.Fingerprint(), Size: s.Size, ModTime: s.ModTime, Consumed: r.Consumed,
		Device: s.Device, Inode: s.Inode, Prefix: s.Prefix[:], Sessions: sessions}
}

// same reports whether a file with this Stat needs no reading: size, time, identity
// and first bytes are as they were.
func (m fileMark) same(s source.Stat) bool {
	return m.Size == s.Size && m.ModTime == s.ModTime && m.Device == s.Device && m.Inode == s.Inode && string(m.Prefix) == string(s.Prefix[:])
}

func (m fileMark) cursor(path string, raw store.RawID) (store.Cursor, error) {
	note, err := json.Marshal(m)
	if err != nil {
		return store.Cursor{}, fmt.Errorf("cursor of %s: %w", path, err)
	}
	return store.Cursor{Path: path, Size: m.Size, ModTime: m.ModTime, Consumed: m.Consumed, Raw: raw, Fingerprint: m.Fingerprint, Note: note}, nil
}

// mark finds how the file at path was when it was last imported.
func (e *Engine) mark(path string) (fileMark, bool, error) {
	snap, err := e.store.Snapshot()
	if err != nil {
		return fileMark{}, false, err
	}
	defer snap.Close()
	c, ok, err := snap.Cursor(path)
	if err != nil || !ok {
		return fileMark{}, false, err
	}
	var m fileMark
	if err := json.Unmarshal(c.Note, &m); err != nil {
		return fileMark{}, false, nil // a cursor that says too little: read the file again
	}
	m.Fingerprint, m.Size, m.ModTime, m.Consumed, m.raw = c.Fingerprint, c.Size, c.ModTime, c.Consumed, c.Raw
	return m, true, nil
}
