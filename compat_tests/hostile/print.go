package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// printTable prints a line for each attack, and below the table the answers to the attackers and the broken bounds.
func printTable(w io.Writer, results []*result) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "attack\tRSS\tanon before\tpeak\tafter\tgoroutines\tfiles\tread p50\tp99\tmax\twrite p50\tp99\tmax\tvisit\tlate\tbusy\tsettled\terrors\tbounds\t")
	fmt.Fprintln(t, "\tMiB\tMiB\tMiB\tMiB\tpeak (after)\tpeak (after)\tms\tms\tms\tms\tms\tms\tms\tms\ts\ts\t\tbroken\t")
	for _, r := range results {
		if r.stopped != nil {
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d (%d)\t%d (%d)\t", r.attack.name,
			count(r.peak.memory.RSS), count(r.before.memory.Anon), count(r.peak.memory.Anon), count(r.after.memory.Anon),
			r.peak.goroutines, r.after.goroutines, r.peak.descriptors, r.after.descriptors)
		for _, l := range []latencies{r.seen.reads, r.seen.writes} {
			fmt.Fprintf(t, "%s\t%s\t%s\t", short(l.at(0.5)), short(l.at(0.99)), short(l.at(1)))
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%d\t\n", short(r.seen.newcomers.at(1)), short(r.seen.late.at(0.99)),
			r.busyText(), r.settledText(), total(r.seen.errors)+total(r.later.errors), len(r.broken))
	}
	_ = t.Flush() // writes to w, which keeps the text
	for _, r := range results {
		r.printBelow(w)
	}
}

// printBelow prints the details that do not fit into a line of the table.
func (r *result) printBelow(w io.Writer) {
	if s := r.stopped; s != nil {
		fmt.Fprintf(w, "\n%s, told to stop: ended after %s, %s behind the last answer; %s %s\n",
			r.attack.name, seconds(s.took), seconds(s.linger), s.exit, s.log)
	} else {
		fmt.Fprintf(w, "\n%s: %s\n", r.attack.name, r.attack.summary)
		for _, answer := range slices.Sorted(maps.Keys(r.report.Tally)) {
			fmt.Fprintf(w, "    %7d %s\n", r.report.Tally[answer], answer)
		}
		if r.report.Slowest > 0 {
			fmt.Fprintf(w, "    %7s slowest answer\n", seconds(r.report.Slowest))
		}
	}
	for _, b := range r.broken {
		fmt.Fprintf(w, "    BROKEN  %s\n", strings.ReplaceAll(strings.TrimSpace(b), "\n", "\n            "))
	}
}

func (r *result) busyText() string {
	if r.killed || r.ended {
		return "-"
	}
	return fmt.Sprintf("%.1f", r.busy.Seconds())
}

func (r *result) settledText() string {
	switch {
	case r.killed:
		return "killed"
	case r.ended:
		return "ended"
	case r.unsettled:
		return "never"
	}
	return fmt.Sprintf("%.1f", r.settled.Seconds())
}

func total(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

func mib(bytes int64) string         { return count(bytes) + " MiB" }
func count(bytes int64) string       { return fmt.Sprint(bytes >> 20) }
func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
func millis(d time.Duration) string  { return short(d) + " ms" }
func short(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	if ms < 10 {
		return fmt.Sprintf("%.1f", ms)
	}
	return fmt.Sprintf("%.0f", ms)
}
