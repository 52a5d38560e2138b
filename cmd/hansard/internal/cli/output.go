package cli

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
)

// An output is the standard output. It keeps the first error of writing, so that an
// answer that nobody received never ends as a success.
type output struct {
	w   io.Writer
	mu  sync.Mutex // guards err
	err error
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.err == nil {
			o.err = err
		}
	}
	return n, err
}

// lost is the first error of writing, unless the reader has just seen enough.
func (o *output) lost() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if errors.Is(o.err, syscall.EPIPE) {
		return nil
	}
	return o.err
}

// File is the file behind the output, if it is one: a terminal or not.
func (o *output) File() (*os.File, bool) {
	f, ok := o.w.(*os.File)
	return f, ok
}
