package term

import (
	"fmt"
	"io"
	"time"
)

// A Progress says how far a long piece of work is, how fast it goes and when it will
// end: on one line of a terminal that it keeps up to date, or plainly, line by line.
// A nil Progress does nothing.
type Progress struct {
	w     io.Writer
	plain bool
	now   func() time.Time
	start time.Time
	last  time.Time
	drawn bool

	waiting string // the line that came too soon after the one before
}

// NewProgress draws on w, a terminal.
func NewProgress(w io.Writer, now func() time.Time) *Progress {
	return &Progress{w: w, now: now, start: now()}
}

// PlainProgress writes lines to w, which need not be a terminal.
func PlainProgress(w io.Writer, now func() time.Time) *Progress {
	return &Progress{w: w, plain: true, now: now, start: now()}
}

// How often a progress is shown.
const (
	drawEvery = 100 * time.Millisecond
	lineEvery = 2 * time.Second
)

// Set shows done of total bytes of work; label says at what. It draws at most ten
// times a second, and writes a plain line at most every two seconds.
func (p *Progress) Set(label string, done, total int64) {
	if p == nil {
		return
	}
	now, every, format := p.now(), drawEvery, "\r\x1b[K%s"
	if p.plain {
		every, format = lineEvery, "%s\n"
	}
	line := func() string { return ProgressLine(label, done, total, now.Sub(p.start)) }
	if p.drawn && now.Sub(p.last) < every {
		if p.plain {
			p.waiting = line()
		}
		return
	}
	p.last, p.drawn, p.waiting = now, true, ""
	fmt.Fprintf(p.w, format, line())
}

// ProgressLine is the text of one moment: percentage, amount, rate and time left.
func ProgressLine(label string, done, total int64, spent time.Duration) string {
	line := fmt.Sprintf("%3d%%  %s of %s", percent(done, total), Bytes(done), Bytes(total))
	if s := spent.Seconds(); s > 0.2 && done > 0 {
		rate := float64(done) / s
		line += fmt.Sprintf("  %s/s", Bytes(int64(rate)))
		if left := total - done; left > 0 {
			line += "  " + Duration(time.Duration(float64(left)/rate*1e9)) + " left"
		}
	}
	if label = Line(label); label != "" {
		line += "  " + Cut(label, 48)
	}
	return line
}

// Done removes the line; plain ones stay, and the last of them says where it ended.
func (p *Progress) Done() {
	switch {
	case p == nil || !p.drawn:
		return
	case !p.plain:
		fmt.Fprint(p.w, "\r\x1b[K")
	case p.waiting != "":
		fmt.Fprintln(p.w, p.waiting)
	}
	p.drawn, p.waiting = false, ""
}

func percent(done, total int64) int64 {
	if total <= 0 {
		return 100
	}
	return min(100*done/total, 100)
}

// Bytes spells an amount of bytes for people: 512 B, 3.4 MB (powers of 1000).
func Bytes(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	f, units := float64(n), []string{"kB", "MB", "GB", "TB"}
	for i, u := range units {
		if f /= 1000; f < 999.95 || i == len(units)-1 {
			return fmt.Sprintf("%.1f %s", f, u)
		}
	}
	return ""
}

// Duration spells a span of time with one or two units: 45s, 3m20s, 2h05m.
func Duration(d time.Duration) string {
	switch s := int64(d.Round(time.Second) / time.Second); {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	default:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	}
}

// Cut shortens s to at most n characters, its end replaced by an ellipsis; of a
// path, the end says more, so the beginning goes.
func Cut(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	if len(r) > 0 && (r[0] == '/' || r[0] == '.') {
		return "…" + string(r[len(r)-n+1:])
	}
	return string(r[:n-1]) + "…"
}
