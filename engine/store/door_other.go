//go:build !unix

package store

// nonblock is nothing where no file waits to be opened.
const nonblock = 0
