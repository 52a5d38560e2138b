package segments

import (
	"errors"
	"strings"
	"testing"
)

// TestDamageOfTheFirstPage: the header shares its page with sections, so damage to the
// page names them all.
func TestDamageOfTheFirstPage(t *testing.T) {
	b := build(t, Options{Schema: testSchema}, plantModel())
	b[headerBytes+100] ^= 1
	_, err := OpenBytes("damaged", b)
	var ce *CorruptError
	if !errors.As(err, &ce) || ce.Page != 0 || !strings.HasPrefix(ce.Section, "header to ") {
		t.Errorf("%v does not name the header and what is beside it", err)
	}
}
