package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hansard-search/hansard/cmd/hansard/internal/term"
	"github.com/hansard-search/hansard/engine"
	"github.com/hansard-search/hansard/engine/owner"
)

func (a *app) readCmd() *cobra.Command {
	var view string
	cmd := &cobra.Command{
		Use: "read REF", Short: "Show one session, message, block, run, event or context snapshot",
		Args: oneRef,
	}
	viewChoice().add(cmd, cmd.Flags(), &view)
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	cmd.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		if err := viewChoice().check(view); err != nil {
			return err
		}
		if view == "raw" && a.flags.machine() {
			return &engine.Error{Code: codeUsage, Field: "view", Message: "--view raw gives the bytes of the source file, which have no form in " + a.flags.format,
				Hint: "leave out --json or --format; --view messages is the session as JSON"}
		}
		e, err := a.open(cmd.Context(), engine.Options{})
		if err != nil {
			return err
		}
		if view == "raw" {
			return a.closing(e, a.readRaw(cmd, e, args[0]))
		}
		return a.closing(e, a.readRef(cmd, e, args[0]))
	})
	return cmd
}

// oneRef is what read takes.
func oneRef(_ *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return &engine.Error{Code: codeUsage, Field: "ref", Message: fmt.Sprintf("read takes one reference, not %d", len(args)),
		Hint: "answers show them: hansard read session:ID, message:ID or block:ID; the beginning of a session's id will do. " +
			"To search for the words, write hansard search read …"}
}

// readRaw copies the source bytes as they are: they are a file, not a page.
func (a *app) readRaw(cmd *cobra.Command, e *owner.Archive, ref string) error {
	raw, err := e.Raw(cmd.Context(), ref)
	if err != nil {
		return err
	}
	var out io.Writer = a.Stdout
	if term.IsTerminal(a.Stdout) {
		out = escaping{a.Stdout}
	}
	_, err = io.Copy(out, raw)
	return errors.Join(err, raw.Close())
}

// An escaping writer makes what it is given safe for a terminal.
type escaping struct{ w io.Writer }

func (e escaping) Write(p []byte) (int, error) {
	_, err := io.WriteString(e.w, term.Escape(string(p)))
	return len(p), err
}

func (a *app) readRef(cmd *cobra.Command, e *owner.Archive, ref string) error {
	r, err := e.Read(cmd.Context(), ref)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(a.Stdout, 1<<16)
	switch a.flags.format {
	case "json":
		err = writeReading(term.JSON(out), r)
	case "jsonl":
		err = writeReadingLines(term.JSON(out), r)
	default:
		err = a.printReading(out, r)
		a.sayReadOnly(r.Head.ReadOnly)
	}
	return errors.Join(err, out.Flush(), r.Close())
}

// writeReading writes one document. Messages are written as they are read, so a
// session of any size takes little memory.
func writeReading(out io.Writer, r *owner.Reading) error {
	head, err := json.MarshalIndent(r.Head, "", "  ")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s,\n  \"messages\": [", strings.TrimSuffix(string(head), "\n}"))
	first := true
	for m, err := range r.Messages() {
		if err != nil {
			return err
		}
		row, err := json.MarshalIndent(m, "    ", "  ")
		if err != nil {
			return err
		}
		if !first {
			io.WriteString(out, ",")
		}
		first = false
		fmt.Fprintf(out, "\n    %s", row)
	}
	if !first {
		io.WriteString(out, "\n  ")
	}
	_, err = io.WriteString(out, "]\n}\n")
	return err
}

func writeReadingLines(out io.Writer, r *owner.Reading) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r.Head); err != nil {
		return err
	}
	for m, err := range r.Messages() {
		if err != nil {
			return err
		}
		if err := enc.Encode(m); err != nil {
			return err
		}
	}
	return nil
}

// printReading shows a session, or the part of it that was asked for, as a
// conversation.
func (a *app) printReading(out io.Writer, r *owner.Reading) error {
	st := a.style(a.Stdout)
	fmt.Fprintf(out, "%s\n%s\n", st.Bold(term.Line(title(r.Head.Session))), st.Faint(term.Line(headline(r.Head.Session))))
	if r.Head.Payload != nil {
		b, err := json.MarshalIndent(r.Head.Payload, "", "  ")
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\n%s\n", term.Escape(string(b)))
	}
	for m, err := range r.Messages() {
		if err != nil {
			return err
		}
		printMessage(out, m, st)
	}
	return nil
}

func printMessage(out io.Writer, m *engine.MessageRow, st term.Style) {
	label := m.Role
	if m.Type != "message" {
		label += " · " + m.Type
	}
	when := ""
	if m.OccurredAt != nil {
		when = strings.Replace((*m.OccurredAt)[:16], "T", " ", 1)
	}
	fmt.Fprintf(out, "\n%s %s\n", st.Bold(term.Line(label)), st.Faint(term.Line(when+"  message:"+m.ID)))
	for _, b := range m.Blocks {
		head := ""
		switch {
		case b.ToolName != "":
			head = st.Yellow(term.Line(b.ToolName)) + " " + term.Escape(b.Detail())
		case b.Type == "tool_result" && b.ExitCode != nil:
			head = st.Faint(fmt.Sprintf("exit code %d", *b.ExitCode))
		case b.Type == "tool_result" && b.IsError != nil && *b.IsError:
			head = st.Red("error")
		case b.Type != "text" && b.Type != "tool_result":
			head = st.Faint(term.Line(b.Type))
		}
		if head != "" {
			fmt.Fprintf(out, "  %s\n", head)
		}
		if b.Text != "" {
			fmt.Fprintf(out, "  %s\n", strings.ReplaceAll(term.Escape(strings.Trim(b.Text, "\n")), "\n", "\n  "))
		}
	}
}
