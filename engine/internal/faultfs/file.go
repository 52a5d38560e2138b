package faultfs

import "github.com/cockroachdb/pebble/v2/vfs"

// A file is an open file or directory. As every handle, it is for one goroutine at a
// time but for its syncs.
type file struct {
	vfs.File
	fs     *FS
	path   string
	kind   FileKind
	writes bool  // opened for writing, or a directory
	pos    int64 // where the next Write goes
}

func (h *file) Write(p []byte) (n int, err error) {
	n, err = h.write(h.pos, p, h.File.Write)
	h.pos += int64(n)
	return n, err
}

func (h *file) WriteAt(p []byte, off int64) (int, error) {
	return h.write(off, p, func(p []byte) (int, error) { return h.File.WriteAt(p, off) })
}

func (h *file) write(off int64, p []byte, to func([]byte) (int, error)) (n int, err error) {
	err = h.fs.transfer(Op{Kind: Write, File: h.kind, Path: h.path, Bytes: len(p)}, func(keep int) error {
		if keep == 0 && len(p) > 0 {
			return nil
		}
		n, err = to(p[:keep])
		h.fs.wrote(h.path, extent{off, n})
		return err
	})
	return n, err
}

func (h *file) Read(p []byte) (n int, err error) {
	err = h.fs.transfer(Op{Kind: Read, File: h.kind, Path: h.path, Bytes: len(p)}, func(int) error {
		n, err = h.File.Read(p)
		return err
	})
	return n, err
}

func (h *file) ReadAt(p []byte, off int64) (n int, err error) {
	err = h.fs.transfer(Op{Kind: Read, File: h.kind, Path: h.path, Bytes: len(p)}, func(int) error {
		n, err = h.File.ReadAt(p, off)
		return err
	})
	return n, err
}

func (h *file) Sync() error     { return h.sync(h.File.Sync) }
func (h *file) SyncData() error { return h.sync(h.File.SyncData) }

func (h *file) sync(run func() error) error {
	done := false
	h.fs.syncing(h.path)
	err := h.fs.do(Sync, h.kind, h.path, func() error {
		done = true
		err := run()
		if err == nil {
			h.fs.synced(h.path)
		}
		return err
	})
	if err != nil || !done {
		h.fs.unsynced(h.path)
	}
	return err
}

func (h *file) SyncTo(length int64) (full bool, err error) {
	err = h.fs.do(Flush, h.kind, h.path, func() error {
		full, err = h.File.SyncTo(length)
		if full && err == nil {
			h.fs.synced(h.path)
		}
		return err
	})
	return full, err
}

// Close gives the handle back, also when it is made to fail, as a disk does.
func (h *file) Close() error {
	h.fs.mu.Lock()
	delete(h.fs.open, h)
	h.fs.mu.Unlock()
	if !h.writes || h.kind == Dir {
		return h.File.Close()
	}
	closed := false
	err := h.fs.do(Close, h.kind, h.path, func() error {
		closed = true
		return h.File.Close()
	})
	if !closed {
		_ = h.File.Close() // the fault to order is the one to report
	}
	return err
}
