package claudecode

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
)

// digest names content that is given in base64 by its SHA-256 and tells its size,
// without holding it decoded. Where the text is no base64, or holds escapes, the
// text itself is what is named.
func digest(b64 []byte) (id string, size int64) {
	h := sha256.New()
	if bytes.IndexByte(b64, '\\') >= 0 {
		b64 = bytes.ReplaceAll(b64, []byte(`\/`), []byte("/"))
	}
	size, err := io.Copy(h, base64.NewDecoder(base64.StdEncoding, bytes.NewReader(b64)))
	if err != nil {
		return digestText(string(b64))
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), size
}

func digestText(text string) (id string, size int64) {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:]), int64(len(text))
}
