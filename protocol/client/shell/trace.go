package shell

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

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

// trace is a server's record of a request.
type trace struct {
	id                           [16]byte
	request, coordinator, client string
	started                      time.Time
	duration                     time.Duration
	complete                     bool
	events                       []traceEvent
}

// traceEvent is a step of a request.
type traceEvent struct {
	activity, source, thread string
	at                       time.Time
	elapsed                  time.Duration
	timed                    bool // elapsed is known
}

// errNoTrace means that there is no trace with an id.
var errNoTrace = errors.New("no trace")

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
		t, err := s.readTrace(ctx, id)
		if err != nil && !errors.Is(err, errNoTrace) {
			return err
		}
		late := !time.Now().Before(ends)
		switch {
		case err == nil && (t.complete || late && wait):
			if !t.complete {
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

func (s *Session) readTrace(ctx context.Context, id [16]byte) (*trace, error) {
	where := " WHERE session_id = " + types.FormatUUID(id)
	r, err := s.all(ctx, "SELECT * FROM system_traces.sessions"+where)
	if err != nil {
		return nil, err
	}
	t := &trace{id: id}
	found := false
	for row := range model.Records(r) {
		found = true
		t.request, t.coordinator, t.client = row.Text("request"), row.Address("coordinator"), row.Address("client")
		t.started = time.UnixMilli(row.Number("started_at"))
		if micros, ok := row.Value("duration"); ok && micros != nil {
			t.complete, t.duration = true, time.Duration(row.Number("duration"))*time.Microsecond
		}
	}
	if !found {
		return nil, errNoTrace
	}
	if r, err = s.all(ctx, "SELECT * FROM system_traces.events"+where); err != nil {
		return nil, err
	}
	for row := range model.Records(r) {
		e := traceEvent{activity: row.Text("activity"), source: row.Address("source"), thread: row.Text("thread")}
		if b, _ := row.Value("event_id"); len(b) == 16 {
			e.at = uuidTime(b)
		}
		if b, ok := row.Value("source_elapsed"); ok && b != nil {
			e.timed, e.elapsed = true, time.Duration(row.Number("source_elapsed"))*time.Microsecond
		}
		t.events = append(t.events, e)
	}
	return t, nil
}

// uuidEpoch is the beginning of the time in UUIDs, in ticks of 100 ns before 1970.
const uuidEpoch = 0x01b21dd213814000

// uuidTime is the time in a UUID of version 1, in microseconds.
func uuidTime(u []byte) time.Time {
	ticks := int64(binary.BigEndian.Uint32(u)) | int64(binary.BigEndian.Uint16(u[4:]))<<32 |
		int64(binary.BigEndian.Uint16(u[6:])&0x0fff)<<48
	return time.UnixMicro((ticks - uuidEpoch) / 10)
}

// printTrace prints a trace as cqlsh does, or as a timeline.
func (s *Session) printTrace(t *trace, mode traceMode) {
	fmt.Fprintf(s.out, "\n%s%s\n\n", s.style.paint("Tracing session: ", magenta), types.FormatUUID(t.id))
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
		row = append(row, s.style.paint(elapsed, green), s.style.textCell(t.client, false))
		cells = append(cells, row)
	}
	add(t.request, t.started, t.coordinator, "0")
	for _, e := range t.events {
		elapsed := "--"
		if e.timed && e.elapsed != 0 {
			elapsed = strconv.FormatInt(e.elapsed.Microseconds(), 10)
		}
		add(e.activity+" ["+e.thread+"]", e.at, e.source, elapsed)
	}
	if t.complete {
		add("Request complete", t.started.Add(t.duration), t.coordinator, strconv.FormatInt(t.duration.Microseconds(),
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
func (s *Session) printTimeline(t *trace) {
	total := t.duration
	for _, e := range t.events {
		total = max(total, e.elapsed)
	}
	columns, width := 0, maxTimeline
	if s.onTerminal() && s.o.Width != nil {
		columns = s.o.Width()
	}
	if columns > 0 {
		width = min(max(columns/3, minTimeline), maxTimeline)
	}
	fmt.Fprintf(s.out, "%s from %s, %s\n", t.request, t.client, total)
	var sources []string
	bySource := map[string][]traceEvent{}
	for _, e := range t.events {
		if bySource[e.source] == nil {
			sources = append(sources, e.source)
		}
		bySource[e.source] = append(bySource[e.source], e)
	}
	for _, source := range sources {
		role := "replica"
		if source == t.coordinator {
			role = "coordinator"
		}
		fmt.Fprintf(s.out, "\n%s (%s)\n", source, role)
		events := bySource[source]
		for i, e := range events {
			until := e.elapsed
			switch {
			case i+1 < len(events):
				until = max(until, events[i+1].elapsed)
			case source == t.coordinator:
				until = total
			}
			line := fmt.Sprintf("%9s %s %9s  %s [%s]", e.elapsed, s.bar(width, e.elapsed, until, total), until-e.elapsed,
				s.style.withoutColor(e.activity), e.thread)
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
