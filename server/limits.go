package server

import (
	"math"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/server/wire"
	"github.com/cqld/cqld/store/pace"
)

// Limits bound the memory, goroutines and time that clients can take. A field that is zero has the default in its
// comment. The names of the same settings in cassandra.yaml are in brackets.
type Limits struct {
	Frame int // 16 MiB: bytes of a request (native_transport_max_frame_size)

	Statement int // 32 MiB: bytes of the text of a statement
	Nesting   int // 1,000: levels of brackets and operators in a statement

	Connections      int // no limit (native_transport_max_concurrent_connections)
	ConnectionsPerIP int // no limit (native_transport_max_concurrent_connections_per_ip)

	// Memory bounds the memory for clients: 112 MiB, or three tenths of the memory limit of Go's runtime. A quarter each
	// is for messages that are arriving, for requests that are not answered, for planning long texts, and for answers
	// that reads are making or clients have not read. An eighth more is for requests over HTTP.
	Memory int64

	// BytesInFlight and ConnectionBytes are the most bytes of requests that are not answered, in all and on one
	// connection: a quarter and an eighth of Memory. Beyond them a connection is not read until requests are answered;
	// or the client gets an error, if it asked for that in STARTUP.
	BytesInFlight   int64
	ConnectionBytes int64

	// Concurrent is how many requests of a connection may have a goroutine: 128. The others wait in the socket. Requests
	// is the same for all connections: 1,024. Each connection may have a few in any case.
	Concurrent int
	Requests   int

	// RequestsPerSecond is how many requests of all connections are served in a second: no limit. Beyond it connections
	// are held back, or clients get an error that asked for that in STARTUP (native_transport_max_requests_per_second).
	RequestsPerSecond int

	// Unread is how many bytes of answers a client may leave unread before its connection is not read any more and its
	// reads wait: 4 MiB, and less while many clients leave answers unread.
	Unread int

	// Reads and ConnectionReads are how many long reads are under way at a time, in all and on one connection: 128 and
	// 4. As many of them run as there are processors.
	Reads           int
	ConnectionReads int

	// The timeouts of reads of partitions by their keys, of reads of ranges, and of writes: 5, 10 and 2 seconds
	// (read_request_timeout, range_request_timeout, write_request_timeout).
	ReadTimeout, RangeTimeout, WriteTimeout time.Duration

	// The timeouts of changes of counters, of conditional writes, and of TRUNCATE: 5, 1.8 and 60 seconds
	// (counter_write_request_timeout, cas_contention_timeout, truncate_request_timeout).
	CounterTimeout, CASTimeout, TruncateTimeout time.Duration

	Handshake time.Duration // one minute until STARTUP; Cassandra waits forever

	TLSHandshake time.Duration // 10 seconds until a TLS handshake is completed

	// Handshakes is how many TLS handshakes may be under way: 512. When one more begins, the oldest is given up.
	Handshakes int

	// Stalled is how long a client may leave a message incomplete or answers unread while others wait for the memory: 5
	// seconds.
	Stalled time.Duration

	PreparedBytes int64 // 64 MiB of prepared statements (prepared_statements_cache_size)
	TextBytes     int64 // 16 MiB of plans of statements that come as text
}

func (l Limits) withDefaults() Limits {
	setDefault(&l.Frame, 16<<20)
	setDefault(&l.Memory, defaultMemory())
	setDefault(&l.BytesInFlight, l.Memory/4)
	setDefault(&l.ConnectionBytes, l.Memory/8)
	setDefault(&l.Concurrent, 128)
	setDefault(&l.Requests, 1024)
	setDefault(&l.Statement, parser.DefaultLimits.Length)
	setDefault(&l.Nesting, parser.DefaultLimits.Nesting)
	setDefault(&l.Unread, 4<<20)
	setDefault(&l.Reads, 128)
	setDefault(&l.ConnectionReads, 4)
	setDefault(&l.ReadTimeout, 5*time.Second)
	setDefault(&l.RangeTimeout, 10*time.Second)
	setDefault(&l.WriteTimeout, 2*time.Second)
	setDefault(&l.CounterTimeout, 5*time.Second)
	setDefault(&l.CASTimeout, 1800*time.Millisecond)
	setDefault(&l.TruncateTimeout, time.Minute)
	setDefault(&l.Handshake, time.Minute)
	setDefault(&l.TLSHandshake, 10*time.Second)
	setDefault(&l.Handshakes, 512)
	setDefault(&l.Stalled, 5*time.Second)
	setDefault(&l.PreparedBytes, 64<<20)
	setDefault(&l.TextBytes, 16<<20)
	return l
}

// defaultMemory is the default of Limits.Memory.
func defaultMemory() int64 {
	memory := int64(112 << 20)
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		memory = min(memory, limit/10*3)
	}
	return memory
}

func setDefault[T ~int | ~int64](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// memory is the memory that the server holds for clients. Work in one room waits only for rooms below it: arriving
// messages become requests, long texts of requests are planned, plans make answers, and clients read the answers.
type memory struct {
	arriving    pace.Room    // read buffers above wire's minimum, and decompressed bodies
	requests    pace.Room    // bodies of requests that are not answered
	goroutines  atomic.Int64 // of requests
	planning    pace.Room    // for parsing and planning long texts
	http        pace.Room    // bodies of requests over HTTP
	largeWrites pace.Room    // bodies of large writes that are not answered: the store makes other writes wait for them
	answers     wire.Answers // rows that reads have made, and answers that clients have not read
}

// maxLargeWrites is how many bytes of large writes the store may have to write at a time. A single write may be
// larger.
const maxLargeWrites = 1 << 20

func (m *memory) init(l *Limits) {
	m.arriving.Init(l.Memory / 4)
	m.requests.Init(l.BytesInFlight)
	m.planning.Init(l.Memory / 4)
	m.http.Init(l.Memory / 8)
	m.largeWrites.Init(maxLargeWrites)
	m.answers.Room, m.answers.MaxUnread = pace.NewRoom(l.Memory/4), l.Unread
}
