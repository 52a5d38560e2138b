//go:build !unix && !windows

package store

import (
	"io"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func openLocked(path string, _ bool) (io.Closer, error) { return vfs.Default.Lock(path) }

func fileID(os.FileInfo) string { return "" }
