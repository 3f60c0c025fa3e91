package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// report gathers the findings. It may be used concurrently.
type report struct {
	mu           sync.Mutex
	began        time.Time
	acknowledged int // writes
	bytes        int64
	unanswered   int
	compared     int // reads
	kills, stops int
	removals     int // tables that were truncated or dropped

	longest     time.Duration // of the requests that were answered while the server was not ending
	longestName string
	longestOpen time.Duration
	longestStop time.Duration

	differences int // rows
	details     []string
	refused     int
	refusals    []string
	failures    []string
}

// maxDetails bounds how many differences and refusals are printed in full, and maxRowDetails how many of one partition.
const (
	maxDetails    = 20
	maxRowDetails = 2
)

func (r *report) answered(name string, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if took > r.longest {
		r.longest, r.longestName = took, name
	}
}

func (r *report) acknowledge(size int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.acknowledged++
	r.bytes += int64(size)
}

func (r *report) unanswer() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unanswered++
}

func (r *report) opened(took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.longestOpen = max(r.longestOpen, took)
}

func (r *report) stopped(took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stops++
	r.longestStop = max(r.longestStop, took)
}

func (r *report) removed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.removals++
}

func (r *report) killed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kills++
}

func (r *report) refuse(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused++; len(r.refusals) < maxDetails {
		r.refusals = append(r.refusals, clock()+" "+text)
	}
}

func (r *report) fail(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, clock()+" "+text)
}

// compare compares the rows read from a partition with the model.
func (r *report) compare(t *table, p *partition, q question, rows []observed, how string) {
	lines := p.compare(t, q, rows)
	r.mu.Lock()
	r.compared++
	r.mu.Unlock()
	if lines != nil {
		p.broken = true
		r.differ(t, p.key, how, lines)
	}
}

// compareGathered compares the rows of all of a worker's partitions with the model, and removes them from rows.
func (r *report) compareGathered(o *owned, rows map[int64][]observed, by *match, when window, how string) {
	for _, p := range o.partitions {
		if !p.broken {
			q := p.everything(when)
			q.by = by
			r.compare(o.table, p, q, rows[p.key], how)
		}
		delete(rows, p.key)
	}
}

// strangers reports rows that belong to no partition of the model.
func (r *report) strangers(t *table, rows map[int64][]observed, how string) {
	for key, all := range rows {
		var lines []string
		for _, o := range all {
			lines = append(lines, fmt.Sprintf("c=%d: nobody asked for it: %s", o.c, o.text(t)))
		}
		r.differ(t, key, how, lines)
	}
}

// differ records a difference of a partition.
func (r *report) differ(t *table, key int64, how string, lines []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.differences += len(lines)
	for _, line := range lines[:min(len(lines), maxRowDetails)] {
		if len(r.details) < maxDetails {
			detail := fmt.Sprintf("%s %s p=%d, read %s: %s", clock(), t.name, key, how, line)
			r.details = append(r.details, detail)
			fmt.Println("DIFFERENCE", detail)
		}
	}
}

// note prints an event of the server.
func (r *report) note(format string, args ...any) {
	fmt.Println(clock(), fmt.Sprintf(format, args...))
}

// progress is the line of every ten seconds.
func (r *report) progress() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("%d writes acknowledged, %d MB, %d unanswered; %d reads compared; %d kills, %d stops, %d tables removed; longest wait %d ms (%s); "+
		"%d refused; %d rows differ",
		r.acknowledged, r.bytes>>20, r.unanswered, r.compared, r.kills, r.stops, r.removals, r.longest.Milliseconds(), r.longestName,
		r.refused, r.differences)
}

// summary is the last line of all.
func (r *report) summary(o options) string {
	return fmt.Sprintf("seed %d, %s: %s; longest opening %d ms, longest stop %d ms", o.seed,
		time.Since(r.began).Round(time.Second), r.progress(), r.longestOpen.Milliseconds(), r.longestStop.Milliseconds())
}

// verdict returns an error if anything is wrong.
func (r *report) verdict(allowRefused bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []error
	if r.differences > 0 {
		all = append(all, fmt.Errorf("%d rows differ; the first of them:\n\t%s", r.differences, strings.Join(r.details, "\n\t")))
	}
	if r.refused > 0 && !allowRefused {
		all = append(all, fmt.Errorf("%d requests were answered with errors; the first of them:\n\t%s", r.refused,
			strings.Join(r.refusals, "\n\t")))
	}
	for _, f := range slices.Compact(r.failures) {
		all = append(all, errors.New(f))
	}
	return errors.Join(all...)
}

// firstLines shortens a text, which may have thousands of lines.
func firstLines(text string) string {
	lines := strings.SplitAfterN(text, "\n", maxDetails+1)
	if len(lines) <= maxDetails {
		return text
	}
	return strings.Join(lines[:maxDetails], "") + "..."
}

func clock() string { return time.Now().Format(clockFormat[:len("15:04:05")]) }
