package command

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progress shows how far a long command has come: on a terminal in one line that is redrawn, elsewhere in a line now
// and then, so that a command that is done soon prints none.
type progress struct {
	every time.Duration
	print func(line string) // a line that stays; nil: nothing is shown

	mu      sync.Mutex
	out     io.Writer // a terminal, or nil
	drawn   string    // what the terminal shows
	started bool
	last    time.Time

	// Of what is being done: its name, when it was first shown, and how far it was then.
	what  string
	began time.Time
	from  float64
}

// How often progress is shown on a terminal and elsewhere.
const (
	redrawEvery = 100 * time.Millisecond
	printEvery  = 10 * time.Second
)

// newProgress makes a progress that is drawn on out if that is a terminal, and printed to it otherwise.
func newProgress(out io.Writer, quiet bool) *progress {
	p := &progress{every: printEvery, last: time.Now()}
	switch {
	case quiet:
	case isTerminal(out):
		p.out, p.every = out, redrawEvery
	default:
		p.print = func(line string) { fmt.Fprintln(out, line) }
	}
	return p
}

// show shows how far a part of the work has come: its name, its share from 0 to 1 that is done, which is negative if
// nobody knows, and what else there is to say. Time is reckoned from the first call for a part.
func (p *progress) show(what string, share float64, details string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if !p.started || what != p.what {
		p.started, p.what, p.began, p.from = true, what, now, share
	}
	if p.out == nil && p.print == nil || now.Sub(p.last) < p.every {
		return
	}
	p.last = now
	line := what + ": " + details
	if share >= 0 {
		line = fmt.Sprintf("%s: %.0f%%, %s", what, 100*min(share, 1), details)
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

// left is the time that is left if work goes on at this rate.
func (p *progress) left(now time.Time, share float64) (string, bool) {
	done, passed := share-p.from, now.Sub(p.began)
	if share < 0 || done < 0.001 || share >= 1 || passed < time.Second {
		return "", false
	}
	left := time.Duration(float64(passed) * (1 - share) / done)
	return "about " + max(left, time.Second).Round(time.Second).String(), true
}

// eraseLine moves to the beginning of a line on a terminal and erases it.
const eraseLine = "\r\x1b[K"

// lineWidth is how much of a line is drawn: one that goes on in the next line cannot be erased.
const lineWidth = 79

func shorten(line string) string {
	letters := []rune(line)
	if len(letters) <= lineWidth {
		return line
	}
	return string(letters[:lineWidth-1]) + "…"
}

// end erases what the terminal shows.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn != "" {
		fmt.Fprint(p.out, eraseLine)
	}
	p.drawn = ""
}

// aboveProgress writes lines to the terminal that shows a progress, above its line.
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
