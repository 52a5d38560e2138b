package store

import "github.com/cockroachdb/pebble/v2/vfs"

// parkFile is a file open for writing, or a folder.
type parkFile struct {
	vfs.File
	fs   *parkFS
	path string
}

func (f *parkFile) Write(b []byte) (n int, err error) {
	err = f.fs.change("write", f.path, func() error {
		n, err = f.File.Write(b)
		return err
	})
	return n, err
}

func (f *parkFile) WriteAt(b []byte, off int64) (n int, err error) {
	err = f.fs.change("write", f.path, func() error {
		n, err = f.File.WriteAt(b, off)
		return err
	})
	return n, err
}

func (f *parkFile) Sync() error     { return f.fs.change("sync", f.path, f.File.Sync) }
func (f *parkFile) SyncData() error { return f.fs.change("sync", f.path, f.File.SyncData) }
func (f *parkFile) Close() error    { return f.fs.change("close", f.path, f.File.Close) }

func (f *parkFile) SyncTo(length int64) (full bool, err error) {
	err = f.fs.change("sync", f.path, func() error {
		full, err = f.File.SyncTo(length)
		return err
	})
	return full, err
}
