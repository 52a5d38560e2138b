//go:build !(cgo && sqlite_fts5)

package main

import "errors"

// haveFTS5 says whether the peer is linked in.
const haveFTS5 = false

func openFTS5(string, bool) (peer, error) {
	return nil, errors.New("built without the peer: use cgo and -tags sqlite_fts5")
}
