package archive

import (
	"strconv"
	"strings"

	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

// Reasons why an outcome is unknown.
const (
	NotReported = "not_reported" // the source has no flag
	Distrusted  = "distrusted"   // the flag does not speak of the result, as for a start in the background
	NotRead     = "not_read"     // the result is not in the file
)

// An ExitSpelling is one way in which tool results spell an exit code.
type ExitSpelling uint8

const (
	ExitClaude  ExitSpelling = iota // "Exit code 127" as the first line
	ExitCodex                       // "Exit code: 1" as the first line
	ExitProcess                     // "Process exited with code 1" in the head of a running command's report
	ExitGemini                      // "Exit Code: 1" as a line of its own after the output
	ExitJSON                        // an object with exit_code, at the top or under metadata, result or output
)

// ExitFromText reads the exit code that a result's text spells in one of the
// given ways, tried in order; all of them when none is given.
func ExitFromText(text string, spellings ...ExitSpelling) Int {
	if len(spellings) == 0 {
		spellings = []ExitSpelling{ExitClaude, ExitCodex, ExitProcess, ExitJSON, ExitGemini}
	}
	for _, s := range spellings {
		var n Int
		switch s {
		case ExitClaude:
			n = codeLine(text, "Exit code ")
		case ExitCodex:
			n = codeLine(text, "Exit code: ")
		case ExitProcess:
			n = processExit(text)
		case ExitGemini:
			n = geminiExit(text)
		case ExitJSON:
			n = outcomeFromJSON(text).ExitCode
		}
		if n.Known {
			return n
		}
	}
	return Int{}
}

// codeLine reads the number that follows head on text's first line, alone.
func codeLine(text, head string) Int {
	rest, ok := strings.CutPrefix(text, head)
	if !ok {
		return Int{}
	}
	digits, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.ParseInt(strings.TrimRight(digits, " \r"), 10, 64)
	if err != nil {
		return Int{}
	}
	return IntOf(n)
}

// processExit reads the head "Chunk ID: …", "Wall time: …", "Process exited with
// code N", whose first two lines may be missing.
func processExit(text string) Int {
	for range 4 {
		line, rest, more := strings.Cut(text, "\n")
		for _, head := range []string{"Process exited with code ", "Process completed with exit code "} {
			if n := codeLine(line, head); n.Known {
				return n
			}
		}
		if !more || !strings.HasPrefix(line, "Chunk ID: ") && !strings.HasPrefix(line, "Wall time: ") {
			break
		}
		text = rest
	}
	return Int{}
}

// geminiExit reads the last line "Exit Code: N".
func geminiExit(text string) Int {
	const head = "Exit Code: "
	for end := len(text); ; {
		i := strings.LastIndex(text[:end], head)
		if i < 0 {
			return Int{}
		}
		if i == 0 || text[i-1] == '\n' {
			return codeLine(text[i:], head)
		}
		end = i
	}
}

// TextOutcome is what the text of a result says of success, by any spelling: a
// code other than zero is an error. Text that says nothing is unknown, not
// reported.
func TextOutcome(text string) Outcome {
	if o := outcomeFromJSON(text); o.Reason == "" {
		return o
	}
	return ExitOutcome(ExitFromText(text, ExitClaude, ExitCodex, ExitProcess, ExitGemini))
}

// ExitOutcome is the outcome of an exit code.
func ExitOutcome(code Int) Outcome {
	if !code.Known {
		return Outcome{Reason: NotReported}
	}
	return Outcome{IsError: TriOf(code.Value != 0), ExitCode: code}
}

// outcomeFromJSON reads exit_code, is_error and timed_out of a result that is a
// JSON object, at the top or one level below.
func outcomeFromJSON(text string) Outcome {
	none := Outcome{Reason: NotReported}
	if !strings.HasPrefix(strings.TrimLeft(text, " \r\n\t"), "{") {
		return none
	}
	var p jsonx.Parser
	top, err := p.ParseString(text)
	if err != nil {
		return none
	}
	o := Outcome{}
	for _, v := range []jsonx.Value{top, top.Get("metadata"), top.Get("result"), top.Get("output")} {
		if n, ok := v.Get("exit_code").Int(); ok && !o.ExitCode.Known {
			o.ExitCode = IntOf(n)
		}
		if b, ok := v.Get("is_error").Bool(); ok && o.IsError == Unknown {
			o.IsError = TriOf(b)
		}
		if v.Get("timed_out").True() {
			o.IsError = True
		}
	}
	if o.ExitCode.Known && (o.ExitCode.Value != 0 || o.IsError == Unknown) {
		o.IsError = TriOf(o.ExitCode.Value != 0)
	}
	if o.IsError == Unknown {
		return none
	}
	return o
}

// StatusOutcome is the outcome of a status word such as "success", "completed",
// "error" or "cancelled".
func StatusOutcome(status string) Outcome {
	s := strings.ToLower(strings.TrimSpace(status))
	switch s {
	case "success", "succeeded", "ok", "completed", "complete", "done", "finished", "finished_successfully":
		return Outcome{IsError: False}
	}
	for _, bad := range []string{"error", "fail", "timeout", "timed out", "timed_out", "cancel", "blocked", "killed", "denied", "rejected", "abort"} {
		if strings.Contains(s, bad) {
			return Outcome{IsError: True}
		}
	}
	return Outcome{Reason: NotReported}
}

// failed reports whether an outcome counts as a failure that the agent may react to.
func (o Outcome) failed() bool {
	return o.IsError == True || o.ExitCode.Known && o.ExitCode.Value != 0
}

// State is what is known of an action that has this outcome.
func (o Outcome) State() ResultState {
	switch {
	case o.ExitCode.Known && o.ExitCode.Value != 0:
		return OutcomeError
	case o.ExitCode.Known:
		return OutcomeSuccess
	case o.IsError == True:
		return OutcomeError
	case o.IsError == False:
		return OutcomeSuccess
	}
	return OutcomeUnknown
}

// errorFlag is is_error as queries see it on a call that has a result: a result
// without the flag is no error, unless its source's silence means nothing.
func (o Outcome) errorFlag() Tri {
	switch {
	case o.IsError != Unknown:
		return o.IsError
	case o.ExitCode.Known:
		return TriOf(o.ExitCode.Value != 0)
	case o.Reason == Distrusted || o.Reason == NotRead:
		return Unknown
	}
	return False
}
