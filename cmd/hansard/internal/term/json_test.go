package term

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestJSONMeansTheSame(t *testing.T) {
	in := "plain é \u009b31m \u007f \u202e \u200b \ufeff 漢字 \u0085 \" \\ \n end\u009c"
	var plain, safe bytes.Buffer
	for _, w := range []*json.Encoder{json.NewEncoder(&plain), json.NewEncoder(JSON(&safe))} {
		if err := w.Encode(in); err != nil {
			t.Fatal(err)
		}
	}
	var out string
	if err := json.Unmarshal(safe.Bytes(), &out); err != nil || out != in {
		t.Errorf("%s reads as %q: %v", safe.String(), out, err)
	}
	for i, r := range safe.String() {
		if r >= 0x7f && hostile(r) {
			t.Errorf("%U at byte %d", r, i)
		}
	}
	if !bytes.Contains(plain.Bytes(), []byte("\u009b")) {
		t.Error("encoding/json escapes C1 by itself: this writer is not needed")
	}
}
