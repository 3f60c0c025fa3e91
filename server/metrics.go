package server

import (
	"sync/atomic"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/server/observe"
)

// Metrics are the server's counters at one moment.
type Metrics struct {
	Connections         int    // open
	ConnectionsAccepted uint64 // since the start
	ConnectionsRefused  uint64 // because of a limit
	ConnectionsStalled  uint64 // closed because others waited for memory that their clients held
	HandshakesFailed    uint64 // of TLS
	ConnectionsDeaf     uint64 // closed because they did not read their events

	Requests map[string]uint64 // by opcode: QUERY, EXECUTE ...
	Errors   map[string]uint64 // by kind, as errorNames has them

	PreparedStatements int
	PreparedBytes      int64
	PreparedEvicted    uint64 // to stay below Limits.PreparedBytes
	BytesInFlight      int64  // of requests that are not answered
	BytesArriving      int64  // of messages that have not arrived completely, above the minimum of a connection
	BytesPlanning      int64  // of long texts that are parsed and planned
	BytesAnswers       int64  // of answers that reads are making or clients have not read
	BytesHTTP          int64  // of long requests over HTTP
	ReadsWaiting       int64  // for their turn
}

// counters are the counters of all connections.
type counters struct {
	accepted, refused, stalled atomic.Uint64
	failedHandshakes           atomic.Uint64 // of TLS
	deaf                       atomic.Uint64 // connections closed that did not read their events
	waits                      atomic.Uint64 // of connections, for memory or goroutines

	requests [protocol.OpAuthSuccess + 1]atomic.Uint64 // by opcode
	errors   [len(errorNames)]atomic.Uint64            // by place in errorNames
}

// errorNames are the kinds of errors in metrics. Any other error counts as the first.
var errorNames = [...]struct {
	code cqlerr.Code
	name string
}{
	{cqlerr.ServerError, "server_error"},
	{cqlerr.ProtocolError, "protocol_error"},
	{cqlerr.BadCredentials, "bad_credentials"},
	{cqlerr.Unavailable, "unavailable"},
	{cqlerr.Overloaded, "overloaded"},
	{cqlerr.IsBootstrapping, "is_bootstrapping"},
	{cqlerr.TruncateError, "truncate_error"},
	{cqlerr.WriteTimeout, "write_timeout"},
	{cqlerr.ReadTimeout, "read_timeout"},
	{cqlerr.ReadFailure, "read_failure"},
	{cqlerr.FunctionFailure, "function_failure"},
	{cqlerr.WriteFailure, "write_failure"},
	{cqlerr.CDCWriteFailure, "cdc_write_failure"},
	{cqlerr.CASWriteUnknown, "cas_write_unknown"},
	{cqlerr.SyntaxError, "syntax_error"},
	{cqlerr.Unauthorized, "unauthorized"},
	{cqlerr.Invalid, "invalid"},
	{cqlerr.ConfigError, "config_error"},
	{cqlerr.AlreadyExists, "already_exists"},
	{cqlerr.Unprepared, "unprepared"},
}

func (m *counters) countError(code cqlerr.Code) {
	for i := range errorNames {
		if errorNames[i].code == code {
			m.errors[i].Add(1)
			return
		}
	}
	m.errors[0].Add(1)
}

// Metrics returns the counters as they are.
func (s *Server) Metrics() Metrics {
	m := Metrics{
		ConnectionsAccepted: s.metrics.accepted.Load(),
		ConnectionsRefused:  s.metrics.refused.Load(),
		ConnectionsStalled:  s.metrics.stalled.Load(),
		ConnectionsDeaf:     s.metrics.deaf.Load(),
		HandshakesFailed:    s.metrics.failedHandshakes.Load(),
		Requests:            make(map[string]uint64),
		Errors:              make(map[string]uint64, len(errorNames)),
		BytesInFlight:       s.memory.requests.Used(),
		BytesArriving:       s.memory.arriving.Used(),
		BytesPlanning:       s.memory.planning.Used(),
		BytesAnswers:        s.memory.answers.Room.Used(),
		BytesHTTP:           s.memory.http.Used(),
		ReadsWaiting:        s.scheduler.Waiting(),
	}
	for op := range s.metrics.requests {
		if opcode := protocol.Opcode(op); opcode.IsRequest() {
			m.Requests[opcode.String()] = s.metrics.requests[op].Load()
		}
	}
	for i, e := range errorNames {
		m.Errors[e.name] = s.metrics.errors[i].Load()
	}
	m.PreparedStatements, m.PreparedBytes, m.PreparedEvicted = s.preparedUsage()
	s.mu.Lock()
	m.Connections = len(s.conns)
	s.mu.Unlock()
	return m
}

// StatementLatency is how long statements of one kind take on one table.
type StatementLatency = observe.StatementLatency

// StatementLatencies returns how long statements take, by kind of statement and by table.
func (s *Server) StatementLatencies() []StatementLatency { return s.latencies.List() }
