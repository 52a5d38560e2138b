package store

import (
	"errors"
	"testing"
)

// TestDamageText: damage is said in one line and keeps its cause.
func TestDamageText(t *testing.T) {
	cause := errors.New("file 000015: bad block")
	got := damage{errors.Join(cause, errors.New("<corruption detail carrier>"))}
	if got.Error() != cause.Error() || !errors.Is(got, cause) {
		t.Errorf("%q, from %v", got, cause)
	}
}
