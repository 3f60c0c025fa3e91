package server

import (
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/protocol"
)

// output is what the client of a connection has to be sent. Goroutines append answers to one buffer, which is written
// as a whole:
//
//   - While the reader serves a burst of requests, it is busy. It writes before it waits for more.
//   - An answer that comes later starts a goroutine, which lets others append their answers and then writes all. There
//     is no timer.
//
// One goroutine writes at a time.
type output struct {
	socket net.Conn
	memory *memory
	taken  func() // called when the client has taken bytes that were charged
	failed func() // called when the client takes no more
	soon   func() // writeSoon, as a value that is made once

	// progress is when the client last took bytes, or the first charge was made, in nanoseconds since 1970.
	progress atomic.Int64
	unread   atomic.Int64 // bytes that the client has not taken

	mu      sync.Mutex
	changed sync.Cond // writing ended, or failed
	encoder protocol.Encoder
	full    [][]byte      // chunks in front of buf
	written int           // how many of them the writer has taken
	waiting int           // the bytes of the others
	buf     []byte        // what the writer has not taken
	spare   []byte        // the buffer that was written last
	wrote   time.Duration // when the socket last took bytes, on the clock of monotonic
	bulky   bool          // there were several chunks of late
	left    int           // bytes that the writer has taken and not written
	events  int64         // bytes of events since the client had read everything
	queued  bool          // writeEvents will be called
	charged int64         // bytes that memory.answers is charged for
	reading bool          // the reader is busy
	ending  bool          // nothing waits for the client any more
	writing bool          // a goroutine writes, or is about to
	err     error
}

// keepWritten is the largest write buffer that a connection keeps for its next answers.
const keepWritten = 64 << 10

// A buffer with chunkFull bytes is followed by another one, so that it is never copied into a larger one: connections
// whose answers are long would do little else. Chunks have room for one more answer of middling size, and are shared
// by all connections.
const (
	chunkFull = 64 << 10
	chunkSize = 2 * chunkFull
)

// largestChunk is the largest buffer that is kept for others. Those above chunkSize have one answer, a page of many
// rows.
const largestChunk = 4 << 20

// chunks and largeChunks have buffers that nobody uses: the former, of chunkSize, as pointers to their arrays.
var chunks, largeChunks sync.Pool

// newChunk is an empty buffer with room for n bytes, and at least chunkSize. For much it is nil.
func newChunk(n int) []byte {
	if n <= chunkSize {
		if c, ok := chunks.Get().(*[chunkSize]byte); ok {
			return c[:0]
		}
		return make([]byte, 0, chunkSize)
	}
	if n > largestChunk {
		return nil // append takes memory that need not be cleared first
	}
	if b, ok := largeChunks.Get().(*[]byte); ok && cap(*b) >= n {
		return (*b)[:0]
	}
	return make([]byte, 0, min(n+n/4, largestChunk))
}

// writeEarly is how many bytes gather while the reader is busy before another goroutine writes them.
const writeEarly = 64 << 10

// writeAtOnce is how many bytes are written at a time. The progress of a slow client shows after each write.
const writeAtOnce = 256 << 10

func (o *output) init(socket net.Conn, m *memory) {
	o.socket, o.memory, o.soon = socket, m, o.writeSoon
	o.changed.L = &o.mu
}

// useSocket writes to another socket from here on. Nothing has been written.
func (o *output) useSocket(socket net.Conn) {
	o.mu.Lock()
	o.socket = socket
	o.mu.Unlock()
}

// count notes how many bytes are unread, and charges memory.answers for them. The lock is held.
func (o *output) count() {
	n := int64(o.left + o.waiting + len(o.buf))
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
	o.memory.answers.Charge(charge - o.charged)
	o.charged = charge
}

// behind reports whether the client leaves more unread than it may.
func (o *output) behind() bool {
	n := o.unread.Load()
	return n > chargeStep && n > o.memory.allowance()
}

// stalled is the time since which the client has taken nothing, in nanoseconds since 1970; 0: little is unread.
func (o *output) stalled() (since int64) {
	if o.unread.Load() < chargeStep {
		return 0
	}
	return o.progress.Load()
}

// append adds a message and has it written. A nil prefix is an empty one. The caller may reuse the memory of m
// afterwards.
func (o *output) append(stream int16, p *protocol.Prefix, m protocol.Response) {
	size := 0
	if rows, ok := m.(*protocol.Rows); ok {
		if len(rows.Before) > 0 {
			o.appendLong(stream, p, rows)
			return
		}
		size = len(rows.Cells)
	}
	if o.encode(size, func(buf []byte) []byte { return o.encoder.Append(buf, stream, p, m) }) {
		go o.soon()
	}
}

// appendLong adds rows in several parts, which belong to the output from then on.
func (o *output) appendLong(stream int16, p *protocol.Prefix, rows *protocol.Rows) {
	if o.add(func() {
		if len(o.buf) > 0 {
			o.closeChunk()
		}
		o.bulky = true
		for _, part := range o.encoder.Long(stream, p, rows, newChunk) {
			o.full, o.waiting = append(o.full, part), o.waiting+len(part)
		}
	}) {
		go o.soon()
	}
}

// appendEvent adds an event, which goes out with what is written next, and reports whether the caller has to have
// writeEvents called.
func (o *output) appendEvent(m *protocol.Event) bool {
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

// writeEvents has events written that nobody has written meanwhile, and reports whether there were any.
func (o *output) writeEvents() bool {
	o.mu.Lock()
	o.queued = false
	start := o.err == nil && o.waiting+len(o.buf) > 0 && o.start()
	o.mu.Unlock()
	if start {
		go o.soon()
	}
	return start
}

// unreadEvents is about how many bytes of events the client has not taken.
func (o *output) unreadEvents() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return min(o.events, int64(o.left+o.waiting+len(o.buf)))
}

// appendAs adds a message in the form of a version that the connection has not agreed on.
func (o *output) appendAs(v protocol.Version, stream int16, m protocol.Response) {
	if o.encode(0, func(buf []byte) []byte { return o.encodeAs(buf, v, stream, m) }) {
		go o.soon()
	}
}

// encodeAs uses the connection's segments, if it has any, but not its compression.
func (o *output) encodeAs(buf []byte, v protocol.Version, stream int16, m protocol.Response) []byte {
	if !o.encoder.Segments {
		return protocol.AppendResponse(buf, v, stream, nil, m)
	}
	agreed := o.encoder.Version
	defer func() { o.encoder.Version = agreed }()
	o.encoder.Version = v
	return o.encoder.Append(buf, stream, nil, m)
}

// encode adds to the buffer what has about so many bytes, where that is known and many, and reports whether the caller
// has to start a writer.
func (o *output) encode(size int, encode func([]byte) []byte) bool {
	return o.add(func() { o.fill(size, encode) })
}

// fill adds to the buffer. The lock is held.
func (o *output) fill(size int, encode func([]byte) []byte) {
	if cap(o.buf) == 0 && o.bulky || size >= chunkFull {
		o.begin(size)
	}
	if o.buf = encode(o.buf); len(o.buf) >= chunkFull {
		o.closeChunk()
	}
}

// add calls add, which adds to what is to be written, and reports whether the caller has to start a writer.
func (o *output) add(add func()) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return false
	}
	add()
	o.count()
	return o.start()
}

// start sets writing, unless somebody writes or the reader will, and reports whether the caller has to start a writer.
func (o *output) start() bool {
	if o.writing || o.reading && o.waiting+len(o.buf) < writeEarly {
		return false
	}
	o.writing = true
	return true
}

// envelopeRoom is about what an answer has in front of its rows.
const envelopeRoom = 4 << 10

// begin makes room for a large answer.
func (o *output) begin(size int) {
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

// closeChunk puts the buffer behind the others that are full.
func (o *output) closeChunk() {
	o.buf = o.encoder.Flush(o.buf)
	o.full, o.waiting = append(o.full, o.buf), o.waiting+len(o.buf)
	o.buf, o.bulky = nil, true
}

// next takes what is to be written next.
func (o *output) next() (out []byte) {
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

// recycle keeps a buffer that nobody needs any more.
func (o *output) recycle(b []byte) {
	switch n := cap(b); {
	case n == chunkSize:
		chunks.Put((*[chunkSize]byte)(b[:n]))
	case n > chunkSize && n <= largestChunk:
		large := b // so that only these are allocated
		largeChunks.Put(&large)
	case n <= keepWritten && n > cap(o.spare):
		o.spare = b
	}
}

// writeSoon lets others append, and writes.
func (o *output) writeSoon() {
	runtime.Gosched()
	o.write()
}

// busy is called by the reader before it serves requests. It will call idle.
func (o *output) busy() {
	o.mu.Lock()
	o.reading = true
	o.mu.Unlock()
}

// idle is called by the reader before it waits for something. It writes what there is, and waits until the client has
// taken enough of it.
func (o *output) idle() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reading = false
	if !o.writing && o.err == nil && o.waiting+len(o.buf) > 0 {
		o.writing = true
		o.mu.Unlock()
		o.write()
		o.mu.Lock()
	}
	for o.behind() && o.err == nil && !o.ending {
		o.changed.Wait()
	}
}

// write writes until nothing is left. The caller has set writing.
func (o *output) write() {
	o.mu.Lock()
	defer o.mu.Unlock()
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

// writePart writes the beginning of b. It releases the lock meanwhile.
func (o *output) writePart(b []byte) {
	b = b[:min(len(b), writeAtOnce)]
	o.mu.Unlock()
	n, err := o.socket.Write(b)
	wrote := monotonic()
	o.mu.Lock()
	o.wrote = wrote
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

// fail drops what is not written.
func (o *output) fail(err error) {
	o.err, o.full, o.written, o.waiting, o.buf, o.spare, o.left = err, nil, 0, 0, nil, nil, 0
	o.count()
	o.changed.Broadcast()
	o.failed()
}

// end ends all waiting for the client.
func (o *output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ending = true
	o.changed.Broadcast()
}

// flush returns when everything is written, or writing has failed. It says when the socket last took bytes.
func (o *output) flush() (wrote time.Duration) {
	o.idle()
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.writing || o.waiting+len(o.buf) > 0 && o.err == nil {
		o.changed.Wait()
	}
	return o.wrote
}

// close drops what is not written, and returns when no goroutine writes any more. The socket is closed.
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

// speak sets the version and the compression of what follows.
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
