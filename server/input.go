package server

import (
	"net"
	"sync/atomic"
	"time"
)

// The read buffer of a connection begins small, because most connections are idle. It doubles while reads fill it.
// Beyond maxRead it grows only for a longer message, and only as far as the message has arrived.
const (
	minRead = 4 << 10
	maxRead = 64 << 10
)

// input is what has arrived on a connection and is not served yet.
type input struct {
	buf        []byte
	start, end int

	skip    int64  // how many of the next bytes are dropped
	skipped func() // called when they have arrived

	need     int64             // the length of the first message, when it is known
	reserve  func(int64) error // waits for memory beyond maxRead
	release  func(int64)       // gives it back
	reserved int64

	// slow is since when a message with reserved memory has not grown by progressStep, in nanoseconds since 1970; 0:
	// there is no such message.
	slow atomic.Int64
	came int // bytes since then
}

// progressStep is how many bytes count as progress of a client that sends a large message.
const progressStep = 64 << 10

// held notes whether the first message has reserved memory.
func (in *input) held(holds bool) {
	switch slow := in.slow.Load(); {
	case !holds:
		in.slow.Store(0)
	case slow == 0 || in.came >= progressStep:
		in.slow.Store(time.Now().UnixNano())
		in.came = 0
	}
}

// resume restarts the client's time, because the connection was not read meanwhile.
func (in *input) resume() {
	if in.slow.Load() != 0 {
		in.slow.Store(time.Now().UnixNano())
		in.came = 0
	}
}

// unread is what has arrived. It is valid until fill is called.
func (in *input) unread() []byte { return in.buf[in.start:in.end] }

// skipping reports whether the next bytes are dropped.
func (in *input) skipping() bool { return in.skip > 0 }

// advance drops the first n bytes. Bytes that have not arrived are dropped when they do.
func (in *input) advance(n int64) {
	have := int64(in.end - in.start)
	if n > have {
		in.skip, n = n-have, have
	}
	in.start += int(n)
	in.need = 0
	if in.skip == 0 && in.skipped != nil {
		in.skipped()
		in.skipped = nil
	}
}

// fill reads once. There has to be room in the buffer.
func (in *input) fill(socket net.Conn) error {
	n, err := socket.Read(in.buf[in.end:])
	in.end += n
	in.came += n
	if n > 0 && in.skip > 0 {
		total := in.skip
		in.skip = 0
		in.advance(total)
	}
	if n > 0 {
		return nil // the next read returns the error again
	}
	return err
}

// makeRoom moves what is unread to the front, and takes a larger buffer if the last read filled this one.
func (in *input) makeRoom() error {
	unread := in.unread()
	full := in.end == len(in.buf)
	switch {
	case len(unread) == 0 && len(in.buf) > maxRead:
		in.replace(maxRead)
	case full && len(in.buf) < maxRead:
		in.replace(max(minRead, 2*len(in.buf)))
	case full && len(unread) > len(in.buf)/2:
		size := 2 * len(in.buf)
		if in.need > int64(len(unread)) {
			size = min(size, max(maxRead, int(in.need)))
		}
		if err := in.reserve(int64(size) - maxRead - in.reserved); err != nil {
			return err
		}
		in.reserved = int64(size) - maxRead
		in.replace(size)
	}
	if in.start > 0 {
		in.end = copy(in.buf, in.unread())
		in.start = 0
	}
	return nil
}

// replace moves what is unread to a new buffer, in which it has to fit.
func (in *input) replace(size int) {
	old := in.buf
	in.buf = make([]byte, size)
	in.end = copy(in.buf, old[in.start:in.end])
	in.start = 0
	if size <= maxRead && in.reserved > 0 {
		in.release(in.reserved)
		in.reserved = 0
	}
}

// disown takes a new buffer: the message that was cut from the old one owns that.
func (in *input) disown() { in.replace(max(maxRead, len(in.unread()))) }

// drop drops what has arrived, and the buffer.
func (in *input) drop() {
	in.buf, in.start, in.end = nil, 0, 0
	if in.reserved > 0 {
		in.release(in.reserved)
		in.reserved = 0
	}
}
