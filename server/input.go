package server

import "net"

// The read buffer of a connection begins small, because most connections are idle, and doubles while reads
// fill it; beyond maxRead it grows only for a message that is longer, as far as that has arrived.
const (
	minRead = 4 << 10
	maxRead = 64 << 10
)

// input is what has arrived on a connection and is not served yet.
type input struct {
	buf        []byte
	start, end int

	skip    int64  // bytes to come that nobody wants
	skipped func() // called when they have come
}

// unread is what has arrived. It is valid until fill is called.
func (in *input) unread() []byte { return in.buf[in.start:in.end] }

// skipping reports whether what arrives next is thrown away.
func (in *input) skipping() bool { return in.skip > 0 }

// advance drops n bytes from the beginning; those that have not arrived are dropped when they do.
func (in *input) advance(n int64) {
	have := int64(in.end - in.start)
	if n > have {
		in.skip, n = n-have, have
	}
	in.start += int(n)
	if in.skip == 0 && in.skipped != nil {
		in.skipped()
		in.skipped = nil
	}
}

// fill reads once, behind what is unread.
func (in *input) fill(socket net.Conn) error {
	in.makeRoom()
	n, err := socket.Read(in.buf[in.end:])
	in.end += n
	if n > 0 && in.skip > 0 {
		total := in.skip
		in.skip = 0
		in.advance(total)
	}
	if n > 0 {
		return nil // an error comes again
	}
	return err
}

// makeRoom moves what is unread to the front, and takes a larger buffer if the last read filled this one.
func (in *input) makeRoom() {
	unread := in.unread()
	full := in.end == len(in.buf)
	switch {
	case len(unread) == 0 && len(in.buf) > maxRead:
		in.buf = make([]byte, maxRead)
	case full && len(in.buf) < maxRead:
		in.buf = make([]byte, max(minRead, 2*len(in.buf)))
	case full && len(unread) > len(in.buf)/2:
		in.buf = make([]byte, 2*len(in.buf))
	}
	if len(unread) == 0 || &in.buf[0] != &unread[0] {
		in.end = copy(in.buf, unread)
		in.start = 0
	}
}
