package wire

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

// Input is the bytes that have arrived on a connection and are not served yet. It belongs to the reader.
type Input struct {
	Need    int64             // the length of the first message, when it is known
	Skipped func()            // called when all bytes have arrived that Advance drops
	Reserve func(int64) error // waits for memory beyond maxRead
	Release func(int64)       // gives it back

	buf        []byte
	start, end int
	skip       int64 // how many of the next bytes are dropped
	reserved   int64

	slow atomic.Int64
	came int // bytes since slow
}

// progressStep is how many bytes count as progress of a client that sends a large message.
const progressStep = 64 << 10

// Slow is the time since which a message with reserved memory has not grown by progressStep, in nanoseconds since
// 1970; 0: there is no such message. Any goroutine may call it.
func (in *Input) Slow() int64 { return in.slow.Load() }

// Hold notes whether the first message has reserved memory, here or elsewhere.
func (in *Input) Hold(elsewhere bool) {
	switch slow := in.slow.Load(); {
	case in.reserved == 0 && !elsewhere:
		in.slow.Store(0)
	case slow == 0 || in.came >= progressStep:
		in.slow.Store(time.Now().UnixNano())
		in.came = 0
	}
}

// Resume restarts the client's time, because the connection was not read meanwhile.
func (in *Input) Resume() {
	if in.slow.Load() != 0 {
		in.slow.Store(time.Now().UnixNano())
		in.came = 0
	}
}

// Unread returns the bytes that have arrived. They are valid until Fill is called.
func (in *Input) Unread() []byte { return in.buf[in.start:in.end] }

// Skipping reports whether the next bytes are dropped.
func (in *Input) Skipping() bool { return in.skip > 0 }

// Advance drops the first n bytes. Bytes that have not arrived are dropped when they do.
func (in *Input) Advance(n int64) {
	have := int64(in.end - in.start)
	if n > have {
		in.skip, n = n-have, have
	}
	in.start += int(n)
	in.Need = 0
	if in.skip == 0 && in.Skipped != nil {
		in.Skipped()
		in.Skipped = nil
	}
}

// Fill reads once. MakeRoom has made room in the buffer.
func (in *Input) Fill(socket net.Conn) error {
	n, err := socket.Read(in.buf[in.end:])
	in.end += n
	in.came += n
	if n > 0 && in.skip > 0 {
		total := in.skip
		in.skip = 0
		in.Advance(total)
	}
	if n > 0 {
		return nil // the next read returns the error again
	}
	return err
}

// MakeRoom moves the unread bytes to the front, and takes a larger buffer if the last read filled this one.
func (in *Input) MakeRoom() error {
	unread := in.Unread()
	full := in.end == len(in.buf)
	switch {
	case len(unread) == 0 && len(in.buf) > maxRead:
		in.replace(maxRead)
	case full && len(in.buf) < maxRead:
		in.replace(max(minRead, 2*len(in.buf)))
	case full && len(unread) > len(in.buf)/2:
		size := 2 * len(in.buf)
		if in.Need > int64(len(unread)) {
			size = min(size, max(maxRead, int(in.Need)))
		}
		if err := in.Reserve(int64(size) - maxRead - in.reserved); err != nil {
			return err
		}
		in.reserved = int64(size) - maxRead
		in.replace(size)
	}
	if in.start > 0 {
		in.end = copy(in.buf, in.Unread())
		in.start = 0
	}
	return nil
}

// replace moves the unread bytes to a new buffer, in which they have to fit.
func (in *Input) replace(size int) {
	old := in.buf
	in.buf = make([]byte, size)
	in.end = copy(in.buf, old[in.start:in.end])
	in.start = 0
	if size <= maxRead {
		in.release()
	}
}

func (in *Input) release() {
	if in.reserved > 0 {
		in.Release(in.reserved)
		in.reserved = 0
	}
}

// Disown takes a new buffer: the message that was cut from the old one keeps that.
func (in *Input) Disown() { in.replace(max(maxRead, len(in.Unread()))) }

// Drop drops the unread bytes and the buffer.
func (in *Input) Drop() {
	in.buf, in.start, in.end = nil, 0, 0
	in.release()
}
