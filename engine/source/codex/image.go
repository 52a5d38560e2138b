package codex

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/hansard-search/hansard/engine/archive"
)

// A picture is an inline image whose bytes are not kept.
type picture struct {
	media string
	size  int64  // decoded bytes, about
	sum   string // SHA-256 of the base64 text
}

func pictureOf(media, base64 string) picture {
	h := sha256.New()
	var buf [4 << 10]byte // pictures are long, and a string cannot be hashed in place
	for rest := base64; len(rest) > 0; {
		n := copy(buf[:], rest)
		h.Write(buf[:n])
		rest = rest[n:]
	}
	return picture{media, int64(len(strings.TrimRight(base64, "="))) * 3 / 4, hex.EncodeToString(h.Sum(nil))}
}

// note stands in the text where the picture was.
func (p picture) note() string {
	return fmt.Sprintf("<inline image omitted; mime=%s; approx_bytes=%d; sha256_base64=%s>", p.media, p.size, p.sum)
}

func (p picture) attachment() archive.Attachment {
	return archive.Attachment{ID: p.sum, Media: p.media, Size: p.size}
}

// parseDataURL reads the data URL that s is.
func parseDataURL(s string) (picture, bool) {
	rest, ok := strings.CutPrefix(s, "data:")
	if !ok {
		return picture{}, false
	}
	head, data, ok := strings.Cut(rest, ",")
	media, ok2 := strings.CutSuffix(head, ";base64")
	if !ok || !ok2 || len(head) > maxMedia {
		return picture{}, false
	}
	return pictureOf(media, data), true
}

// maxMedia is the longest media type with its parameters.
const maxMedia = 120

// minInline is the shortest base64 run that is taken out of a text. Shorter ones
// are what people write about.
const minInline = 256

const base64Mark = ";base64,"

// takePictures replaces the inline images of a text with their notes.
func takePictures(s string) (string, []picture) {
	if !strings.Contains(s, base64Mark) {
		return s, nil
	}
	var out strings.Builder
	var found []picture
	for {
		i := strings.Index(s, base64Mark)
		if i < 0 {
			break
		}
		data := s[i+len(base64Mark):]
		n := 0
		for n < len(data) && isBase64(data[n]) {
			n++
		}
		from := strings.LastIndex(s[max(0, i-maxMedia):i], "data:")
		if from < 0 || n < minInline {
			out.WriteString(s[:i+len(base64Mark)])
			s = data
			continue
		}
		from += max(0, i-maxMedia)
		p := pictureOf(s[from+len("data:"):i], data[:n])
		found = append(found, p)
		out.WriteString(s[:from])
		out.WriteString(p.note())
		s = data[n:]
	}
	out.WriteString(s)
	return out.String(), found
}

func isBase64(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '+' || b == '/' || b == '=' || b == '-' || b == '_'
}
