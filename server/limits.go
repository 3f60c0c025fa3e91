package server

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Limits bound what clients can make the server hold. A zero field stands for the default beside it; the
// names in cassandra.yaml are in brackets.
type Limits struct {
	Frame int // 16 MiB: bytes of a request (native_transport_max_frame_size)

	Connections      int // no limit (native_transport_max_concurrent_connections)
	ConnectionsPerIP int // no limit (native_transport_max_concurrent_connections_per_ip)

	// BytesInFlight and ConnectionBytes are what requests that are not answered may have together, in all
	// and on one connection: 256 MiB and 64 MiB. A connection over them is not read from until some are
	// answered, or is told it is overloaded if that is what it asked for.
	BytesInFlight   int64
	ConnectionBytes int64

	// Concurrent is how many requests of a connection may wait for something at a time: 128. The others
	// wait in the socket.
	Concurrent int

	// Unread is how many bytes of answers may wait for a client to read them, before it is not read from
	// any more: 4 MiB.
	Unread int

	Handshake time.Duration // one minute until STARTUP; Cassandra waits for ever

	PreparedBytes int64 // 64 MiB of prepared statements (prepared_statements_cache_size)
	TextBytes     int64 // 16 MiB of plans of statements that come as text
}

func (l Limits) withDefaults() Limits {
	setDefault(&l.Frame, 16<<20)
	setDefault(&l.BytesInFlight, 256<<20)
	setDefault(&l.ConnectionBytes, 64<<20)
	setDefault(&l.Concurrent, 128)
	setDefault(&l.Unread, 4<<20)
	setDefault(&l.Handshake, time.Minute)
	setDefault(&l.PreparedBytes, 64<<20)
	setDefault(&l.TextBytes, 16<<20)
	return l
}

func setDefault[T ~int | ~int64](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// budget is a number of things that may be in use at a time. Its zero value with a limit is ready.
type budget struct {
	limit   int64
	used    atomic.Int64
	waiting atomic.Bool
	mu      sync.Mutex
	freed   chan struct{} // closed when something was given back; nil if nobody waits
}

// tryTake takes n, or nothing. Whoever comes first gets what it asks for, even more than there is: else a
// request larger than the limit could never be served.
func (b *budget) tryTake(n int64) bool {
	for {
		used := b.used.Load()
		if used > 0 && used+n > b.limit {
			return false
		}
		if b.used.CompareAndSwap(used, used+n) {
			return true
		}
	}
}

// take waits until it can take n or ctx ends.
func (b *budget) take(ctx context.Context, n int64) error {
	for !b.tryTake(n) {
		freed := b.wait()
		if b.tryTake(n) {
			return nil
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// give returns n.
func (b *budget) give(n int64) {
	b.used.Add(-n)
	if !b.waiting.Load() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.freed != nil {
		close(b.freed)
		b.freed = nil
		b.waiting.Store(false)
	}
}

// wait returns a channel that is closed when something is given back after this call.
func (b *budget) wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.freed == nil {
		b.freed = make(chan struct{})
		b.waiting.Store(true)
	}
	return b.freed
}
