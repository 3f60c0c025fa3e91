package model

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/cqld/cqld/cql/types"
)

// Trace is a server's record of a request.
type Trace struct {
	ID                           [16]byte
	Request, Coordinator, Client string
	Started                      time.Time
	Duration                     time.Duration
	Complete                     bool
	Events                       []TraceEvent
}

// TraceEvent is a step of a request.
type TraceEvent struct {
	Activity, Source, Thread string
	At                       time.Time
	Elapsed                  time.Duration
	Timed                    bool // Elapsed is known
}

// ErrNoTrace means that there is no trace with an id.
var ErrNoTrace = errors.New("no trace")

// ReadTrace reads a trace, which is incomplete for a while: servers write traces after the response.
func ReadTrace(ctx context.Context, query Query, id [16]byte) (*Trace, error) {
	where := " WHERE session_id = " + types.FormatUUID(id)
	r, err := query(ctx, "SELECT * FROM system_traces.sessions"+where)
	if err != nil {
		return nil, err
	}
	t := &Trace{ID: id}
	found := false
	for row := range Records(r) {
		found = true
		t.Request, t.Coordinator, t.Client = row.Text("request"), row.Address("coordinator"), row.Address("client")
		t.Started = time.UnixMilli(row.Number("started_at"))
		if micros, ok := row.Value("duration"); ok && micros != nil {
			t.Complete, t.Duration = true, time.Duration(row.Number("duration"))*time.Microsecond
		}
	}
	if !found {
		return nil, ErrNoTrace
	}
	if r, err = query(ctx, "SELECT * FROM system_traces.events"+where); err != nil {
		return nil, err
	}
	for row := range Records(r) {
		e := TraceEvent{Activity: row.Text("activity"), Source: row.Address("source"), Thread: row.Text("thread")}
		if b, _ := row.Value("event_id"); len(b) == 16 {
			e.At = uuidTime(b)
		}
		if b, ok := row.Value("source_elapsed"); ok && b != nil {
			e.Timed, e.Elapsed = true, time.Duration(row.Number("source_elapsed"))*time.Microsecond
		}
		t.Events = append(t.Events, e)
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
