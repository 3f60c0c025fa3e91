package wire

import (
	"errors"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/store/pace"
)

// Answers is the memory of all answers that clients have not read.
type Answers struct {
	Room      *pace.Room
	MaxUnread int // bytes that a connection may leave unread

	unread atomic.Int64 // connections with unread answers that Room is charged for
}

// allowance is how many bytes of answers a connection may leave unread before it is not served any more.
func (a *Answers) allowance() int64 {
	share := a.Room.Limit() / 2 / max(1, a.unread.Load())
	return min(int64(a.MaxUnread), max(share, chargeStep))
}

// chargeStep is the step in which Answers.Room is charged for unread answers. Clients that read their answers stay
// below one step.
const chargeStep = 64 << 10

// Output is the bytes that the client of a connection has to be sent. Goroutines append answers to one buffer, which
// is written as a whole:
//
//   - While the reader serves a burst of requests, it is busy. It writes before it waits for more.
//   - An answer that comes later starts a goroutine, which lets others append their answers and then writes all. There
//     is no timer.
//
// One goroutine writes at a time.
type Output struct {
	Taken  func() // called when the client has taken bytes that were charged
	Failed func() // called when the client takes no more
	Log    *zerolog.Logger

	socket  net.Conn
	answers *Answers
	soon    func() // writeSoon, as a value that is made once

	// progress is when the client last took bytes, or the first charge was made, in nanoseconds since 1970.
	progress atomic.Int64
	unread   atomic.Int64 // bytes that the client has not taken

	mu      sync.Mutex
	changed sync.Cond // writing ended, or failed
	encoder protocol.Encoder
	full    [][]byte  // chunks that go before buf
	written int       // how many of them the writer has taken
	waiting int       // the bytes of the others
	buf     []byte    // bytes that the writer has not taken
	spare   []byte    // the buffer that was written last
	wrote   time.Time // when the socket last took bytes
	bulky   bool      // the last write had chunks
	left    int       // bytes that the writer has taken and not written
	events  int64     // bytes of events since the client had read everything
	queued  bool      // WriteEvents will be called
	charged int64     // bytes that Answers.Room is charged for
	reading bool      // the reader is busy
	ending  bool      // the reader does not wait for the client any more
	writing bool      // a goroutine writes, or is about to
	err     error
}

// keepWritten is the largest write buffer that a connection keeps for its next answers.
const keepWritten = 64 << 10

// A buffer with chunkFull bytes is closed and another one begun, so that it is never copied into a larger one:
// connections with long answers would do little else. Chunks have room for one more answer of medium size, and are
// shared by all connections.
const (
	chunkFull = 64 << 10
	chunkSize = 2 * chunkFull
)

// maxChunk is the largest buffer that is kept for others. Those above chunkSize have one answer, a page of many rows.
const maxChunk = 4 << 20

// chunks and largeChunks are pools of free buffers: chunks of chunkSize bytes, as pointers to their arrays.
var chunks, largeChunks sync.Pool

// newChunk is an empty buffer with room for n bytes, and at least chunkSize. It is nil if n is above maxChunk.
func newChunk(n int) []byte {
	if n <= chunkSize {
		if c, ok := chunks.Get().(*[chunkSize]byte); ok {
			return c[:0]
		}
		return make([]byte, 0, chunkSize)
	}
	if n > maxChunk {
		return nil // append takes memory that need not be cleared first
	}
	if b, ok := largeChunks.Get().(*[]byte); ok && cap(*b) >= n {
		return (*b)[:0]
	}
	return make([]byte, 0, min(n+n/4, maxChunk))
}

// writeEarly is how many bytes gather while the reader is busy before another goroutine writes them.
const writeEarly = 64 << 10

// writeAtOnce is how many bytes are written at a time. The progress of a slow client shows after each write.
const writeAtOnce = 256 << 10

// Init makes an output that writes to a socket.
func (o *Output) Init(socket net.Conn, a *Answers) {
	o.socket, o.answers, o.soon = socket, a, o.writeSoon
	o.changed.L = &o.mu
}

// UseSocket writes to another socket from here on. Nothing has been written.
func (o *Output) UseSocket(socket net.Conn) {
	o.mu.Lock()
	o.socket = socket
	o.mu.Unlock()
}

// Speak sets the version and the compression of all that follows.
func (o *Output) Speak(v protocol.Version, c protocol.Compression) {
	o.mu.Lock()
	o.encoder.Version, o.encoder.Compression = v, c
	o.mu.Unlock()
}

// UseSegments puts all that follows into segments.
func (o *Output) UseSegments() {
	o.mu.Lock()
	o.encoder.Segments = true
	o.mu.Unlock()
}

// Append adds a message and writes it soon. A nil prefix is an empty one. The caller may reuse the memory of m
// afterwards.
func (o *Output) Append(stream int16, p *protocol.Prefix, m protocol.Response) {
	size := 0
	if rows, ok := m.(*protocol.Rows); ok {
		if len(rows.Before) > 0 {
			o.appendLong(stream, p, rows)
			return
		}
		size = len(rows.Cells)
	}
	o.add(func() { o.fill(size, func(buf []byte) []byte { return o.encoder.Append(buf, stream, p, m) }) })
}

// appendLong adds rows in parts, which belong to the output from then on.
func (o *Output) appendLong(stream int16, p *protocol.Prefix, rows *protocol.Rows) {
	o.add(func() {
		if len(o.buf) > 0 {
			o.closeChunk()
		}
		o.bulky = true
		for _, part := range o.encoder.Long(stream, p, rows, newChunk) {
			o.full, o.waiting = append(o.full, part), o.waiting+len(part)
		}
	})
}

// AppendAs adds a message in the form of a version that the connection has not agreed on: in the connection's
// segments, if it has any, but without its compression.
func (o *Output) AppendAs(v protocol.Version, stream int16, m protocol.Response) {
	o.add(func() {
		o.fill(0, func(buf []byte) []byte {
			if !o.encoder.Segments {
				return protocol.AppendResponse(buf, v, stream, nil, m)
			}
			agreed := o.encoder.Version
			defer func() { o.encoder.Version = agreed }()
			o.encoder.Version = v
			return o.encoder.Append(buf, stream, nil, m)
		})
	})
}

// AppendEnvelope adds an envelope that is encoded already.
func (o *Output) AppendEnvelope(envelope []byte) {
	o.add(func() {
		o.fill(0, func(buf []byte) []byte { return o.encoder.AppendEnvelope(buf, envelope) })
	})
}

// AppendText adds text that is no envelope.
func (o *Output) AppendText(text string) {
	o.add(func() { o.fill(0, func(buf []byte) []byte { return append(buf, text...) }) })
}

// AppendEvent adds an event, which is written together with the next bytes. It reports whether the caller has to have
// WriteEvents called.
func (o *Output) AppendEvent(m *protocol.Event) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return false
	}
	o.fill(0, func(buf []byte) []byte {
		before := len(buf)
		buf = o.encoder.Append(buf, protocol.EventStream, nil, m)
		o.events += int64(len(buf) - before)
		return buf
	})
	o.count()
	first := !o.queued
	o.queued = true
	return first
}

// WriteEvents writes the events that are not written yet, and reports whether there were any.
func (o *Output) WriteEvents() bool {
	o.mu.Lock()
	o.queued = false
	start := o.err == nil && o.waiting+len(o.buf) > 0 && o.start()
	o.mu.Unlock()
	if start {
		go o.soon()
	}
	return start
}

// UnreadEvents is about how many bytes of events the client has not taken.
func (o *Output) UnreadEvents() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return min(o.events, int64(o.left+o.waiting+len(o.buf)))
}

// Behind reports whether the client leaves more unread than it may.
func (o *Output) Behind() bool {
	n := o.unread.Load()
	return n > chargeStep && n > o.answers.allowance()
}

// Stalled is the time since which the client has taken nothing, in nanoseconds since 1970; 0: little is unread.
func (o *Output) Stalled() (since int64) {
	if o.unread.Load() < chargeStep {
		return 0
	}
	return o.progress.Load()
}

// Busy is called by the reader before it serves requests. It will call Idle.
func (o *Output) Busy() {
	o.mu.Lock()
	o.reading = true
	o.mu.Unlock()
}

// Idle is called by the reader before it waits. It writes all answers, and waits until the client has taken enough of
// them.
func (o *Output) Idle() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reading = false
	if !o.writing && o.err == nil && o.waiting+len(o.buf) > 0 {
		o.writing = true
		o.unlocked(o.write)
	}
	for o.Behind() && o.err == nil && !o.ending {
		o.changed.Wait()
	}
}

// End ends all waiting for the client.
func (o *Output) End() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ending = true
	o.changed.Broadcast()
}

// Flush returns when everything is written, or writing has failed. It returns when the socket last took bytes.
func (o *Output) Flush() time.Time {
	o.Idle()
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.writing || o.waiting+len(o.buf) > 0 && o.err == nil {
		o.changed.Wait()
	}
	return o.wrote
}

// Close drops the bytes that are not written, and returns when no goroutine writes any more. The socket is closed.
func (o *Output) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.fail(net.ErrClosed)
	}
	for o.writing {
		o.changed.Wait()
	}
}

// add calls fill, which adds bytes, and starts a writer unless there is one or the reader will write.
func (o *Output) add(fill func()) {
	if o.addLocked(fill) {
		go o.soon()
	}
}

// addLocked is add with the lock, and without starting a writer.
func (o *Output) addLocked(fill func()) (start bool) {
	o.mu.Lock()
	defer o.mu.Unlock() // fill encodes, and may panic
	if o.err != nil {
		return false
	}
	fill()
	o.count()
	return o.start()
}

// unlocked calls fn without the lock.
func (o *Output) unlocked(fn func()) {
	o.mu.Unlock()
	defer o.mu.Lock()
	fn()
}

// start sets writing, unless a goroutine writes or the reader will, and reports whether the caller has to start a
// writer.
func (o *Output) start() bool {
	if o.writing || o.reading && o.waiting+len(o.buf) < writeEarly {
		return false
	}
	o.writing = true
	return true
}

// fill encodes into the buffer. size is about the number of bytes, where that is known and large. The lock is held.
func (o *Output) fill(size int, encode func([]byte) []byte) {
	if cap(o.buf) == 0 && o.bulky || size >= chunkFull {
		o.makeRoom(size)
	}
	if o.buf = encode(o.buf); len(o.buf) >= chunkFull {
		o.closeChunk()
	}
}

// envelopeRoom is about the length of an answer without its rows.
const envelopeRoom = 4 << 10

// makeRoom makes room for a large answer.
func (o *Output) makeRoom(size int) {
	size += envelopeRoom
	if cap(o.buf)-len(o.buf) >= size {
		return
	}
	if len(o.buf) > 0 {
		o.closeChunk()
	} else {
		o.recycle(o.buf)
	}
	o.buf = newChunk(size)
}

// closeChunk appends the buffer to the chunks that are full.
func (o *Output) closeChunk() {
	o.buf = o.encoder.Flush(o.buf)
	o.full, o.waiting = append(o.full, o.buf), o.waiting+len(o.buf)
	o.buf, o.bulky = nil, true
}

// count updates the number of unread bytes, and charges Answers.Room for them. The lock is held.
func (o *Output) count() {
	n := int64(o.left + o.waiting + len(o.buf))
	o.unread.Store(n)
	charge := n &^ (chargeStep - 1)
	if charge == o.charged {
		return
	}
	switch {
	case o.charged == 0:
		o.progress.Store(time.Now().UnixNano())
		o.answers.unread.Add(1)
	case charge == 0:
		o.answers.unread.Add(-1)
	}
	o.answers.Room.Charge(charge - o.charged)
	o.charged = charge
}

// writeSoon lets others append, and writes.
func (o *Output) writeSoon() {
	defer panics.Recover(o.Log)
	runtime.Gosched()
	o.write()
}

// write writes until nothing is left. The caller has set writing.
func (o *Output) write() {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.giveUp()
	bulky := false
	for o.waiting+len(o.buf) > 0 && o.err == nil {
		bulky = bulky || o.waiting > 0
		out := o.next()
		o.left = len(out)
		for o.left > 0 && o.err == nil {
			o.writePart(out[len(out)-o.left:])
		}
		o.recycle(out)
	}
	if len(o.buf) == 0 && cap(o.buf) > keepWritten {
		o.recycle(o.buf)
		o.buf = nil
	}
	o.bulky, o.writing, o.events = bulky, false, 0
	o.changed.Broadcast()
}

// giveUp ends the output if write has not come to its end, because it panicked: Close waits for it.
func (o *Output) giveUp() {
	if !o.writing {
		return
	}
	if o.writing = false; o.err == nil {
		o.fail(errPanicked)
	}
	o.changed.Broadcast()
}

// errPanicked is the error of an output whose writer panicked. The log has the reason.
var errPanicked = errors.New("writing to the connection panicked")

// next takes the next chunk.
func (o *Output) next() (out []byte) {
	if o.waiting == 0 {
		out = o.encoder.Flush(o.buf)
		o.buf, o.spare = o.spare[:0], nil
		return out
	}
	out = o.full[o.written]
	o.full[o.written] = nil
	if o.written++; o.written == len(o.full) {
		o.full, o.written = o.full[:0], 0
	}
	o.waiting -= len(out)
	return out
}

// writePart writes the beginning of b. It releases the lock meanwhile.
func (o *Output) writePart(b []byte) {
	n, wrote, err := o.writeUnlocked(b[:min(len(b), writeAtOnce)])
	o.wrote = wrote
	charged := o.charged
	if charged > 0 {
		o.progress.Store(wrote.UnixNano())
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
		o.unlocked(o.Taken)
	}
	o.changed.Broadcast()
}

// writeUnlocked writes without the lock.
func (o *Output) writeUnlocked(b []byte) (n int, wrote time.Time, err error) {
	o.mu.Unlock()
	defer o.mu.Lock()
	n, err = o.socket.Write(b)
	return n, time.Now(), err
}

// recycle keeps a buffer that is free.
func (o *Output) recycle(b []byte) {
	switch n := cap(b); {
	case n == chunkSize:
		chunks.Put((*[chunkSize]byte)(b[:n]))
	case n > chunkSize && n <= maxChunk:
		large := b // so that only these are allocated
		largeChunks.Put(&large)
	case n <= keepWritten && n > cap(o.spare):
		o.spare = b
	}
}

// fail drops the bytes that are not written.
func (o *Output) fail(err error) {
	o.err, o.full, o.written, o.waiting, o.buf, o.spare, o.left = err, nil, 0, 0, nil, nil, 0
	o.count()
	o.changed.Broadcast()
	o.Failed()
}
