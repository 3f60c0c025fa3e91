package command

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progress shows the progress of a long command. On a terminal it redraws one line. Elsewhere it prints a line every
// ten seconds, so a short command prints none.
type progress struct {
	interval time.Duration
	print    func(line string) // prints a line; nil on a terminal, or if nothing is shown

	mu      sync.Mutex
	out     io.Writer // a terminal, or nil
	drawn   string    // the line on the terminal
	started bool
	last    time.Time // when it was shown

	// The current step: its name, when it began and its share at that time.
	step  string
	began time.Time
	from  float64
}

// How often progress is shown on a terminal and elsewhere.
const (
	redrawInterval = 100 * time.Millisecond
	printInterval  = 10 * time.Second
)

// newProgress makes a progress that is shown on out.
func newProgress(out io.Writer, quiet bool) *progress {
	p := &progress{interval: printInterval, last: time.Now()}
	switch {
	case quiet:
	case isTerminal(out):
		p.out, p.interval = out, redrawInterval
	default:
		p.print = func(line string) { fmt.Fprintln(out, line) }
	}
	return p
}

// show shows a step: its name, the share from 0 to 1 that is done (negative if unknown), and details.
func (p *progress) show(step string, share float64, details string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if !p.started || step != p.step {
		p.started, p.step, p.began, p.from = true, step, now, share
	}
	if p.out == nil && p.print == nil || now.Sub(p.last) < p.interval {
		return
	}
	p.last = now
	line := step + ": " + details
	if share >= 0 {
		line = fmt.Sprintf("%s: %.0f%%, %s", step, 100*min(share, 1), details)
	}
	if left, ok := p.left(now, share); ok {
		line += ", " + left + " left"
	}
	if p.out == nil {
		p.print(line)
		return
	}
	p.drawn = shorten(line)
	fmt.Fprint(p.out, eraseLine+p.drawn)
}

// left estimates the remaining time of the step.
func (p *progress) left(now time.Time, share float64) (string, bool) {
	done, passed := share-p.from, now.Sub(p.began)
	if share < 0 || done < 0.001 || share >= 1 || passed < time.Second {
		return "", false
	}
	left := time.Duration(float64(passed) * (1 - share) / done)
	return "about " + max(left, time.Second).Round(time.Second).String(), true
}

// eraseLine erases the current line of a terminal.
const eraseLine = "\r\x1b[K"

// lineWidth is the longest line that is drawn: a line that wraps cannot be erased.
const lineWidth = 79

func shorten(line string) string {
	letters := []rune(line)
	if len(letters) <= lineWidth {
		return line
	}
	return string(letters[:lineWidth-1]) + "…"
}

// end erases the line on the terminal.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn != "" {
		fmt.Fprint(p.out, eraseLine)
	}
	p.drawn = ""
}

// aboveProgress writes lines to the terminal above the line of a progress.
type aboveProgress struct {
	*progress
	to io.Writer
}

// Write writes whole lines.
func (p aboveProgress) Write(lines []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn == "" {
		return p.to.Write(lines)
	}
	if _, err := fmt.Fprint(p.to, eraseLine); err != nil {
		return 0, err
	}
	n, err := p.to.Write(lines)
	if err == nil {
		_, err = fmt.Fprint(p.to, p.drawn)
	}
	return n, err
}

// count is a number of things: 1 row, 2 rows. many is the plural.
func count[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
