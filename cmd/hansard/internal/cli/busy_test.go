package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/hansard-search/hansard/engine"
)

// TestBusyDoctor: what doctor says of an archive that is open in who answers nobody.
func TestBusyDoctor(t *testing.T) {
	dir := t.TempDir()
	e, err := engine.Open(dir, engine.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	d, err := engine.Diagnose(context.Background(), dir, engine.Options{})
	if err != nil || len(d.Findings) != 1 || !strings.HasPrefix(d.Findings[0].What, "this process or another has the archive open") {
		t.Fatalf("%+v, %v", d, err)
	}
	silent := &engine.Error{Code: engine.CodeArchiveBusy, Message: "the archive is open in process 12, which does not answer"}
	if d = busyWith(d, silent); d.Error != silent || d.Findings[0].What != silent.Message || exitOf(d) != exitBusy {
		t.Errorf("%+v", d)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
