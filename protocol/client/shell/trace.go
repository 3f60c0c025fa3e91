package shell

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client/model"
)

// traceMode is the state of TRACING.
type traceMode uint8

const (
	traceOff traceMode = iota
	traceTable
	traceTree // a timeline with bars
)

// traceRetry is how often an incomplete trace is read again: servers write traces after the response.
const traceRetry = 5 * time.Millisecond

// defaultTraceWait is how long cqlsh waits for a trace.
const defaultTraceWait = 10 * time.Second

// showTrace prints a trace; wait says to wait until it is complete.
func (s *Session) showTrace(ctx context.Context, id [16]byte, mode traceMode, wait bool) error {
	limit := s.o.TraceWait
	if limit == 0 {
		limit = defaultTraceWait
	}
	ends := time.Now().Add(limit)
	for pause := traceRetry; ; pause = min(2*pause, time.Second) {
		t, err := model.ReadTrace(ctx, s.all, id)
		if e, ok := cqlerr.As(err); ok && e.Code == cqlerr.Invalid {
			return shownf("The server shows no traces: %s", e.Message)
		}
		if err != nil && !errors.Is(err, model.ErrNoTrace) {
			return err
		}
		late := !time.Now().Before(ends)
		switch {
		case err == nil && (t.Complete || late && wait):
			if !t.Complete {
				fmt.Fprintln(s.out, s.style.paint(fmt.Sprintf("Statement trace did not complete within %d seconds; "+
					"trace data may be "+
					"incomplete.", int(limit.Seconds())), red))
			}
			s.printTrace(t, mode)
			return nil
		case !wait || late:
			return shownf("Session %s wasn't found.", types.FormatUUID(id))
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// showSession is SHOW SESSION.
func (s *Session) showSession(ctx context.Context, id string) error {
	u, ok := types.ParseUUID(id)
	if !ok {
		return arguments{keyword: "SHOW"}.improper()
	}
	return s.showTrace(ctx, u, traceTable, false)
}

// printTrace prints a trace as cqlsh does, or as a timeline.
func (s *Session) printTrace(t *model.Trace, mode traceMode) {
	fmt.Fprintf(s.out, "\n%s%s\n\n", s.style.paint("Tracing session: ", magenta), types.FormatUUID(t.ID))
	if mode == traceTree {
		s.printTimeline(t)
		return
	}
	var names []string
	for _, name := range []string{"activity", "timestamp", "source", "source_elapsed", "client"} {
		names = append(names, s.style.paint(name, magenta))
	}
	var cells [][]string
	add := func(activity string, at time.Time, source, elapsed string) {
		row := []string{
			s.style.textCell(activity, false), s.style.textCell(s.pythonTime(at), false),
			s.style.textCell(source, false),
		}
		row = append(row, s.style.paint(elapsed, green), s.style.textCell(t.Client, false))
		cells = append(cells, row)
	}
	add(t.Request, t.Started, t.Coordinator, "0")
	for _, e := range t.Events {
		elapsed := "--"
		if e.Timed && e.Elapsed != 0 {
			elapsed = strconv.FormatInt(e.Elapsed.Microseconds(), 10)
		}
		add(e.Activity+" ["+e.Thread+"]", e.At, e.Source, elapsed)
	}
	if t.Complete {
		add("Request complete", t.Started.Add(t.Duration), t.Coordinator, strconv.FormatInt(t.Duration.Microseconds(),
			10))
	}
	printTable(s.out, names, cells, true)
	if s.o.Terminal {
		fmt.Fprintln(s.out)
	}
	fmt.Fprintln(s.out)
}

// pythonTime prints a time as Python's str does: without microseconds if they are 0.
func (s *Session) pythonTime(t time.Time) string {
	t = t.In(s.style.zone)
	if t.Nanosecond()/1000 == 0 {
		return t.Format("2006-01-02 15:04:05")
	}
	return t.Format("2006-01-02 15:04:05.000000")
}

// The width of the bars of a timeline: a third of the terminal, within these.
const (
	minTimeline = 10
	maxTimeline = 40
)

// printTimeline prints the steps of each node with a bar from when a step was recorded to when the next one was, or the
// request ended.
//
//	0 µs ├████             ┤   12 µs  Parsing SELECT … [Native-Transport-Requests-1]
func (s *Session) printTimeline(t *model.Trace) {
	total := t.Duration
	for _, e := range t.Events {
		total = max(total, e.Elapsed)
	}
	columns, width := 0, maxTimeline
	if s.onTerminal() && s.o.Width != nil {
		columns = s.o.Width()
	}
	if columns > 0 {
		width = min(max(columns/3, minTimeline), maxTimeline)
	}
	fmt.Fprintf(s.out, "%s from %s, %s\n", t.Request, t.Client, total)
	var sources []string
	bySource := map[string][]model.TraceEvent{}
	for _, e := range t.Events {
		if bySource[e.Source] == nil {
			sources = append(sources, e.Source)
		}
		bySource[e.Source] = append(bySource[e.Source], e)
	}
	for _, source := range sources {
		role := "replica"
		if source == t.Coordinator {
			role = "coordinator"
		}
		fmt.Fprintf(s.out, "\n%s (%s)\n", source, role)
		events := bySource[source]
		for i, e := range events {
			until := e.Elapsed
			switch {
			case i+1 < len(events):
				until = max(until, events[i+1].Elapsed)
			case source == t.Coordinator:
				until = total
			}
			line := fmt.Sprintf("%9s %s %9s  %s [%s]", e.Elapsed, s.bar(width, e.Elapsed, until, total), until-e.Elapsed,
				s.style.withoutColor(e.Activity), e.Thread)
			if columns > 0 {
				line = cut(line, columns)
			}
			fmt.Fprintln(s.out, line)
		}
	}
	fmt.Fprintln(s.out)
}

// bar draws the time from one moment to another in a line of width columns for the total.
func (s *Session) bar(width int, from, to, total time.Duration) string {
	at := func(d time.Duration) int {
		if total == 0 {
			return 0
		}
		return int(int64(d) * int64(width) / int64(total))
	}
	begin := min(at(from), width-1)
	length := max(at(to)-begin, 1)
	return "├" + strings.Repeat(" ", begin) + s.style.paint(strings.Repeat("█", length), green) +
		strings.Repeat(" ", width-begin-length) + "┤"
}
