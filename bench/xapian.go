package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hansard-search/hansard/lexer"
)

// The driver is a program of its own that measures its own CPU time, so that no tag
// and no cgo is needed: it is compiled when it is first asked for.
//
//go:embed xapian/driver.cc
var xapianDriver []byte

func xapianPath(dir string) string { return filepath.Join(dir, "xapian") }

// compileXapian makes the driver in the work folder.
func compileXapian(dir string) (string, error) {
	program := filepath.Join(dir, "xapian-driver")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	source := filepath.Join(dir, "xapian-driver.cc")
	if err := os.WriteFile(source, xapianDriver, 0o644); err != nil {
		return "", err
	}
	if _, err := exec.LookPath("g++"); err != nil {
		return "", fmt.Errorf("%w: no g++", errMissing)
	}
	if out, err := exec.Command("g++", "-O2", "-o", program, source, "-lxapian").CombinedOutput(); err != nil {
		first, _, _ := strings.Cut(string(out), "\n")
		return "", fmt.Errorf("%w: the driver does not compile (apt-get install libxapian-dev): %s", errMissing, first)
	}
	return program, nil
}

// maxXapianTerm is the longest term that Xapian takes. Longer ones keep their
// position and are left out.
const maxXapianTerm = 240

// buildXapian indexes the terms with positions and compacts the index. The CPU time is
// the driver's: reading terms from a pipe counts, finding them in the texts does not.
func buildXapian(_ context.Context, dir string, b *built) (optimize func() error, err error) {
	program, err := compileXapian(dir)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "build", xapianPath(dir))
	cmd.Env, cmd.Stderr = append(os.Environ(), "XAPIAN_FLUSH_THRESHOLD=50000"), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	var said strings.Builder
	cmd.Stdout = &said
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	w := bufio.NewWriterSize(in, 1<<16)
	err = documents(dir, func(d *block) error { return sendTerms(w, d) })
	if err = errors.Join(err, w.Flush(), in.Close(), cmd.Wait()); err != nil {
		return nil, err
	}
	var cpu float64
	var kib int64
	if _, err := fmt.Sscan(said.String(), &cpu, &b.Extra, &kib, &b.Written, &b.Version); err != nil {
		return nil, fmt.Errorf("xapian: %w", err)
	}
	// The caller adds the CPU time of this process, which does not count.
	b.CPU, b.Peak, b.Version = cpu-processCPU().Seconds(), kib<<10, "Xapian "+b.Version+" (glass)"
	return nil, os.RemoveAll(xapianPath(dir) + ".raw")
}

func sendTerms(w *bufio.Writer, d *block) error {
	filter := repoTerm(d.repo)
	head := binary.LittleEndian.AppendUint64(nil, uint64(d.time))
	head = append(append(head, byte(len(filter))), filter...)
	var terms []byte
	var s lexer.Scanner
	n := uint32(0)
	for s.ResetString(d.text); s.Next(); n++ {
		t := s.Term()
		if len(t) > maxXapianTerm {
			t = nil
		}
		terms = append(append(terms, byte(len(t))), t...)
	}
	if _, err := w.Write(binary.LittleEndian.AppendUint32(head, n)); err != nil {
		return err
	}
	_, err := w.Write(terms)
	return err
}

// repoTerm is the filter term of a repository: upper case, as no text term is.
func repoTerm(repo uint32) string { return "R" + strconv.Itoa(int(repo)) }

// A xapian talks to the driver, a line for a question and a line for its answer.
type xapian struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	version string
}

func openXapian(dir string) (engineUnderTest, error) {
	program, err := compileXapian(dir)
	if err != nil {
		return nil, err
	}
	x := &xapian{cmd: exec.Command(program, "search", xapianPath(dir))}
	x.cmd.Stderr = os.Stderr
	out, err := x.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if x.in, err = x.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := x.cmd.Start(); err != nil {
		return nil, err
	}
	x.out = bufio.NewReader(out)
	version, err := x.out.ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("xapian: %w", err), x.Close())
	}
	x.version = strings.TrimSpace(version)
	return x, nil
}

func (x *xapian) Name() string { return "Xapian " + x.version + " (glass)" }

func (x *xapian) Close() error { return errors.Join(x.in.Close(), x.cmd.Wait()) }

func (x *xapian) Prepare(q *question) (prepared, error) {
	op := map[operation]string{all: "and", any1: "or", phrase: "phrase", prefix: "prefix"}[q.op]
	filter := "- 0 0"
	if w := q.where; w != nil {
		filter = fmt.Sprintf("%s %d %d", repoTerm(w.repo), w.since.UnixMilli(), w.until.UnixMilli())
	}
	return &xapianQuestion{x, op + " " + filter + " " + strings.Join(q.terms, " ")}, nil
}

type xapianQuestion struct {
	x    *xapian
	line string
}

func (p *xapianQuestion) run(m mode, n int) (time.Duration, answer, error) {
	name := map[mode]string{top: "top", count: "count"}[m]
	if _, err := fmt.Fprintf(p.x.in, "%s %d %s\n", name, n, p.line); err != nil {
		return 0, answer{}, err
	}
	line, err := p.x.out.ReadString('\n')
	if err != nil {
		return 0, answer{}, fmt.Errorf("xapian: %w", err)
	}
	fields := strings.Fields(line)
	var spent int64
	var a answer
	if _, err := fmt.Sscan(line, &spent, &a.count); err != nil {
		return 0, a, fmt.Errorf("xapian: %q: %w", line, err)
	}
	for _, f := range fields[2:] {
		var id uint32
		var score float64
		if _, err := fmt.Sscanf(f, "%d:%g", &id, &score); err != nil {
			return 0, a, fmt.Errorf("xapian: %q: %w", f, err)
		}
		a.blocks, a.scores = append(a.blocks, id-1), append(a.scores, score)
	}
	return time.Duration(spent), a, nil
}

func (p *xapianQuestion) Ask(_ context.Context, m mode) (answer, error) {
	_, a, err := p.run(m, 1)
	return a, err
}

func (p *xapianQuestion) Time(_ context.Context, m mode, n int) (time.Duration, error) {
	d, _, err := p.run(m, n)
	return d, err
}
