package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hansard-search/hansard/cmd/hansard/internal/demo"
	"github.com/hansard-search/hansard/engine"
)

// TestInterruptedImport: an import that the user ends before it has begun to look for
// files, or while it reads them, says that and nothing else of what it found.
func TestInterruptedImport(t *testing.T) {
	home := t.TempDir()
	if _, err := demo.Write(home); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"text", "json"} {
		for _, looks := range []int{0, 1, 2, 3, 5, 8} { // at the clock, before the interrupt
			ctx, stop := context.WithCancel(context.Background())
			var stdout, stderr bytes.Buffer
			left := looks
			w := World{Stdout: &stdout, Stderr: &stderr, Home: func() (string, error) { return home, nil },
				Getenv: func(string) string { return "" }, Environ: func() []string { return nil },
				Now: func() time.Time {
					if left--; left < 0 {
						stop()
					}
					return time.Now()
				}}
			code := Run(ctx, []string{"--archive", t.TempDir() + "/a", "-f", format, "import", "--home", home}, w)
			ended := ctx.Err() != nil
			stop()
			out := stdout.String() + stderr.String()
			t.Logf("%s, %d looks: interrupted %v, exit %d", format, looks, ended, code)
			if code == exitOK && looks > 0 {
				continue // the interrupt came when all was done
			}
			if code != exitInterrupted || strings.Contains(out, "context canceled") || strings.Contains(out, "nothing to read") || strings.Contains(out, "looked in") {
				t.Errorf("%s, %d looks: exit %d: %s", format, looks, code, out)
			}
			var doc struct{ Error errorBody }
			if format == "json" && (json.Unmarshal([]byte(out), &doc) != nil || doc.Error.Code != codeInterrupted) {
				t.Errorf("%d looks: %s", looks, out)
			}
		}
	}
}

// TestInterruptedReport: how far an interrupted import says it got.
func TestInterruptedReport(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	err := interruption(ctx, context.Canceled)
	for found, want := range map[int]string{0: "", 7: "7 found: none read yet"} {
		var stdout, stderr bytes.Buffer
		a := &app{World: World{Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }}}
		r := &engine.Report{Stopped: true, Files: engine.FileCounts{Found: found}}
		if got := a.showReport(r, engine.ImportRequest{Home: "/h"}, err); got != nil || a.code != exitInterrupted {
			t.Errorf("%v, exit %d", got, a.code)
		}
		if !strings.Contains(stdout.String(), want) || want == "" && strings.Contains(stdout.String(), "found") || !strings.HasPrefix(stderr.String(), "interrupted") {
			t.Errorf("%d found: %s%s", found, stdout.String(), stderr.String())
		}
	}
}
