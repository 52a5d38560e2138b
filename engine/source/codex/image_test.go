package codex

import (
	"strings"
	"testing"
)

func TestTakePictures(t *testing.T) {
	long := strings.Repeat("QUJD", 100)
	for _, c := range []struct {
		in       string
		pictures int
		want     string // with * for a note
	}{
		{"no picture", 0, "no picture"},
		{"a data:image/png;base64," + long + " b", 1, "a * b"},
		{"data:image/png;base64," + long, 1, "*"},
		{"data:a;base64," + long + "\"data:b;base64," + long + "\"", 2, "*\"*\""},
		{"data:image/png;base64,QUJD", 0, "data:image/png;base64,QUJD"},
		{";base64," + long, 0, ";base64," + long},
		{"data:" + strings.Repeat("x", 200) + ";base64," + long, 0, "data:" + strings.Repeat("x", 200) + ";base64," + long},
	} {
		got, pics := takePictures(c.in)
		for _, p := range pics {
			if p.size != 300 {
				t.Errorf("%.40q: picture of %d bytes", c.in, p.size)
			}
			got = strings.Replace(got, p.note(), "*", 1)
		}
		if got != c.want || len(pics) != c.pictures {
			t.Errorf("takePictures(%.40q) = %.60q with %d pictures", c.in, got, len(pics))
		}
	}
}

func TestImageLabels(t *testing.T) {
	for s, want := range map[string]bool{
		"<image name=[Image #1]>": true, "</image>": true, " <image>\n": true,
		"<image name=x> and text": false, "an <image>": false, "": false,
	} {
		if got := isImageLabel(s); got != want {
			t.Errorf("isImageLabel(%q) = %v", s, got)
		}
	}
}

func TestUUIDTime(t *testing.T) {
	for id, want := range map[string]int64{
		"019b8c6a-5d00-7000-8000-000000000001": 0x019b8c6a5d00,
		"019b8c6a-5d00-4000-8000-000000000001": -1, // not version 7
		"zzzb8c6a-5d00-7000-8000-000000000001": -1,
		"turn-1":                               -1,
		"":                                     -1,
	} {
		got, ok := uuidTime(id)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("uuidTime(%q) = %d, want %d", id, got, want)
		}
	}
}
