package archive

import (
	"fmt"
	"testing"
)

func TestExitFromText(t *testing.T) {
	for _, c := range []struct {
		text string
		want string
	}{
		{"Exit code 127\nzsh: not found", "127"}, {"Exit code 3221225794", "3221225794"}, {"Exit code 1\r\nx", "1"},
		{"Exit code: 1\nWall time: 0.2 seconds\nOutput:\nFAIL", "1"}, {"Exit code: 0\nOutput:\nok", "0"},
		{"Chunk ID: ab12\nWall time: 0.05 seconds\nProcess exited with code 0\nOutput:", "0"},
		{"Process exited with code 4\n", "4"}, {"Process completed with exit code 2", "2"},
		{"Process running with session ID 9", "-"}, {"Chunk ID: a\nx\nProcess exited with code 1", "-"},
		{`{"output":"ok","metadata":{"exit_code":2,"duration_seconds":0.1}}`, "2"}, {`{"exit_code":0}`, "0"},
		{"Command: ls\nStdout: Exit Code: 9 days\nExit Code: 3\nSignal: (none)", "3"}, {"Exit Code: 7", "7"},
		{"the Exit code 5", "-"}, {"Exit code five", "-"}, {"Exit code 5 and more", "-"}, {"", "-"}, {"{broken", "-"},
		{"\nExit code 1", "-"}, {"Exit code -1", "-1"},
	} {
		got := "-"
		if n := ExitFromText(c.text); n.Known {
			got = fmt.Sprint(n.Value)
		}
		if got != c.want {
			t.Errorf("ExitFromText(%q) = %s, want %s", c.text, got, c.want)
		}
	}
	if ExitFromText("Exit code 1\n", ExitGemini, ExitJSON).Known {
		t.Error("a spelling that was not asked for is read")
	}
}

func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		got   Outcome
		want  string // is_error exit reason
		state ResultState
	}{
		{TextOutcome(`{"output":"ok","metadata":{"exit_code":2}}`), "2 2 ", OutcomeError},
		{TextOutcome(`{"output":"ok","metadata":{"exit_code":0}}`), "1 0 ", OutcomeSuccess},
		{TextOutcome(`{"is_error":true}`), "2 - ", OutcomeError},
		{TextOutcome(`{"result":{"is_error":false}}`), "1 - ", OutcomeSuccess},
		{TextOutcome(`{"timed_out":true,"exit_code":0}`), "2 0 ", OutcomeSuccess},
		{TextOutcome(`{"is_error":false,"exit_code":3}`), "2 3 ", OutcomeError},
		{TextOutcome(`{"rows":[]}`), "0 - not_reported", OutcomeUnknown},
		{TextOutcome("Exit code: 1\nx"), "2 1 ", OutcomeError},
		{TextOutcome("fine"), "0 - not_reported", OutcomeUnknown},
		{StatusOutcome("Success"), "1 - ", OutcomeSuccess},
		{StatusOutcome("tool_error"), "2 - ", OutcomeError},
		{StatusOutcome("Cancelled"), "2 - ", OutcomeError},
		{StatusOutcome("running"), "0 - not_reported", OutcomeUnknown},
		{Outcome{IsError: True, ExitCode: IntOf(0)}, "2 0 ", OutcomeSuccess},
		{Outcome{IsError: False, ExitCode: IntOf(1)}, "1 1 ", OutcomeError},
	} {
		exit := "-"
		if c.got.ExitCode.Known {
			exit = fmt.Sprint(c.got.ExitCode.Value)
		}
		if got := fmt.Sprintf("%d %s %s", c.got.IsError, exit, c.got.Reason); got != c.want {
			t.Errorf("outcome = %q, want %q", got, c.want)
		}
		if got := c.got.State(); got != c.state {
			t.Errorf("State(%+v) = %s, want %s", c.got, got, c.state)
		}
	}
}

func TestErrorFlag(t *testing.T) {
	for _, c := range []struct {
		o    Outcome
		want Tri
	}{
		{Outcome{IsError: True}, True}, {Outcome{IsError: False}, False}, {Outcome{}, False},
		{Outcome{Reason: NotReported}, False}, {Outcome{Reason: Distrusted}, Unknown}, {Outcome{Reason: NotRead}, Unknown},
		{Outcome{ExitCode: IntOf(1)}, True}, {Outcome{ExitCode: IntOf(0), Reason: Distrusted}, False},
	} {
		if got := c.o.errorFlag(); got != c.want {
			t.Errorf("errorFlag(%+v) = %d, want %d", c.o, got, c.want)
		}
	}
}
