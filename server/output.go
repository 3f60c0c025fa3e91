package server

import (
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/protocol"
)

// output is what a connection has to be sent. Answers are appended to one buffer by whoever has them, and
// written together:
//
//   - While the reader serves a burst of requests it is "busy", and writes before it waits for more.
//   - Answers that come later start a goroutine that lets the others who are about to answer go first,
//     and then writes all. No timer is involved.
//
// Only one goroutine writes at a time.
type output struct {
	socket net.Conn
	memory *memory
	taken  func() // told when the client has taken something that was charged
	failed func() // told when it takes no more

	// progress is when the client last took something, or a charge began, in nanoseconds since 1970.
	progress atomic.Int64
	unread   atomic.Int64 // encoded, not taken by the client

	mu      sync.Mutex
	changed sync.Cond // writing ended, or failed
	encoder protocol.Encoder
	buf     []byte // encoded, not taken by the writer
	spare   []byte // the buffer that was written last
	left    int    // bytes that the writer has
	charged int64  // of unread, to the room for answers
	reading bool
	ending  bool // nobody may wait for the client any more
	writing bool // a goroutine writes, or is about to
	err     error
}

// keepWritten is the largest write buffer that is kept for the next answers.
const keepWritten = 256 << 10

// writeEarly is how much a busy reader lets come together before somebody else starts writing.
const writeEarly = 64 << 10

// writeAtOnce is how much is written at a time, so that it shows when a client takes little.
const writeAtOnce = 256 << 10

func (o *output) init(socket net.Conn, m *memory) {
	o.socket, o.memory = socket, m
	o.changed.L = &o.mu
}

// count notes how much the client has not taken, and charges it. The lock is held.
func (o *output) count() {
	n := int64(o.left + len(o.buf))
	o.unread.Store(n)
	charge := n &^ (chargeStep - 1)
	if charge == o.charged {
		return
	}
	switch {
	case o.charged == 0:
		o.progress.Store(time.Now().UnixNano())
		o.memory.unread.Add(1)
	case charge == 0:
		o.memory.unread.Add(-1)
	}
	o.memory.answers.Park(charge - o.charged)
	o.charged = charge
}

// behind reports whether the client leaves more unread than it may.
func (o *output) behind() bool {
	n := o.unread.Load()
	return n > chargeStep && n > o.memory.allowance()
}

// stalled is since when the client has taken nothing of much that it was sent; 0 if there is not much.
func (o *output) stalled() (since int64) {
	if o.unread.Load() < chargeStep {
		return 0
	}
	return o.progress.Load()
}

// append adds a message and sees to it that it is written. A nil prefix is an empty one. What m refers to
// is the caller's again afterwards.
func (o *output) append(stream int16, p *protocol.Prefix, m protocol.Response) {
	if o.encode(func(buf []byte) []byte { return o.encoder.Append(buf, stream, p, m) }) {
		go o.writeSoon()
	}
}

// appendAs adds a message as a version sends it that the connection has not agreed on.
func (o *output) appendAs(v protocol.Version, stream int16, m protocol.Response) {
	if o.encode(func(buf []byte) []byte { return o.encodeAs(buf, v, stream, m) }) {
		go o.writeSoon()
	}
}

// encodeAs keeps to the connection's segments, as far as there are any, but not to its compression.
func (o *output) encodeAs(buf []byte, v protocol.Version, stream int16, m protocol.Response) []byte {
	if !o.encoder.Segments {
		return protocol.AppendResponse(buf, v, stream, nil, m)
	}
	agreed := o.encoder.Version
	defer func() { o.encoder.Version = agreed }()
	o.encoder.Version = v
	return o.encoder.Append(buf, stream, nil, m)
}

// encode adds to the buffer and reports whether the caller has to have it written.
func (o *output) encode(add func([]byte) []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return false
	}
	o.buf = add(o.buf)
	o.count()
	if o.writing || o.reading && len(o.buf) < writeEarly {
		return false
	}
	o.writing = true
	return true
}

// writeSoon writes behind those who are about to append as well.
func (o *output) writeSoon() {
	runtime.Gosched()
	o.write()
}

// busy says that the reader serves requests and will call idle.
func (o *output) busy() {
	o.mu.Lock()
	o.reading = true
	o.mu.Unlock()
}

// idle is called by the reader before it waits for something: it writes what there is, and waits until the
// client has taken enough of it.
func (o *output) idle() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reading = false
	if !o.writing && o.err == nil && len(o.buf) > 0 {
		o.writing = true
		o.mu.Unlock()
		o.write()
		o.mu.Lock()
	}
	for o.behind() && o.err == nil && !o.ending {
		o.changed.Wait()
	}
}

// write writes until there is nothing left. Its caller has set writing.
func (o *output) write() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.buf) > 0 && o.err == nil {
		out := o.encoder.Flush(o.buf)
		o.buf, o.spare, o.left = o.spare[:0], nil, len(out)
		for o.left > 0 && o.err == nil {
			o.writePart(out[len(out)-o.left:])
		}
		if cap(out) <= keepWritten {
			o.spare = out
		}
	}
	o.writing = false
	o.changed.Broadcast()
}

// writePart writes the beginning of b, without the lock.
func (o *output) writePart(b []byte) {
	b = b[:min(len(b), writeAtOnce)]
	o.mu.Unlock()
	n, err := o.socket.Write(b)
	o.mu.Lock()
	charged := o.charged
	if charged > 0 {
		o.progress.Store(time.Now().UnixNano())
	}
	if o.err != nil {
		return // it was given up meanwhile
	}
	if o.left -= n; err != nil {
		o.fail(err)
		return
	}
	o.count()
	if o.charged < charged {
		o.mu.Unlock()
		o.taken()
		o.mu.Lock()
	}
	o.changed.Broadcast()
}

// fail gives up what is not written.
func (o *output) fail(err error) {
	o.err, o.buf, o.spare, o.left = err, nil, nil, 0
	o.count()
	o.changed.Broadcast()
	o.failed()
}

// end makes nobody wait for the client any more.
func (o *output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ending = true
	o.changed.Broadcast()
}

// flush writes what there is and returns when it is written, or cannot be.
func (o *output) flush() {
	o.idle()
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.writing || len(o.buf) > 0 && o.err == nil {
		o.changed.Wait()
	}
}

// close gives up what is not written and returns when nobody writes any more. The socket is closed.
func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.fail(net.ErrClosed)
	}
	for o.writing {
		o.changed.Wait()
	}
}

// speak makes all that follows be encoded as STARTUP agreed.
func (o *output) speak(v protocol.Version, c protocol.Compression) {
	o.mu.Lock()
	o.encoder.Version, o.encoder.Compression = v, c
	o.mu.Unlock()
}

// useSegments puts all that follows into segments.
func (o *output) useSegments() {
	o.mu.Lock()
	o.encoder.Segments = true
	o.mu.Unlock()
}
