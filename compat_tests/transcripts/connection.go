package transcripts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// silenceTime is how long to wait to see that nothing comes.
const silenceTime = 200 * time.Millisecond

var (
	errSilent = errors.New("nothing")
	errClosed = errors.New("closed")
)

// connection is one of a session's.
type connection struct {
	*client.Conn
	keyspace string // events of others are not this session's
	agreed   bool   // compression and segments will not change any more
	stream   int16
	answers  []*envelope       // that came while an event was due
	events   []*envelope       // that came while an answer was due
	metadata map[string][]byte // the result metadata ids of prepared statements, of all connections
	inspect  func(*envelope) error
}

// startup sends a STARTUP and switches to the agreed framing. On v5 that is up to the first, even if it is refused:
// segments are used from there on, compressed or not. Only a compression that does not exist changes nothing.
func (c *connection) startup(ctx context.Context, q *request, patience time.Duration) error {
	name, named := q.message.(*protocol.Startup).Get(protocol.OptionCompression)
	compression, err := protocol.ParseCompression(name, c.Version())
	unknown := named && err != nil
	if err := c.Send(ctx, c.stream, q.flags, q.payload, q.message); err != nil || c.agreed {
		return err
	}
	c.Agree(compression, false)
	e, err := c.receive(ctx, patience, false)
	if err != nil {
		return err
	}
	segments := c.Version().HasSegments() && !unknown
	c.Agree(compression, segments)
	c.agreed = segments || e.message.Opcode() != protocol.OpError
	c.answers = append(c.answers, e)
	return nil
}

// receive returns the next event, or the next message that is none.
func (c *connection) receive(ctx context.Context, wait time.Duration, event bool) (*envelope, error) {
	due, other := &c.answers, &c.events
	if event {
		due, other = other, due
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for len(*due) == 0 {
		e, err := c.read(ctx)
		if err != nil {
			return nil, err
		}
		m, ok := e.message.(*protocol.Event)
		switch {
		case ok && !c.concerns(m):
		case ok == event:
			*due = append(*due, e)
		default:
			*other = append(*other, e)
		}
	}
	e := (*due)[0]
	*due = (*due)[1:]
	return e, nil
}

// concerns reports whether an event is about this session: others may run at the same time.
func (c *connection) concerns(m *protocol.Event) bool {
	return m.Type != protocol.SchemaChanges || strings.HasPrefix(m.Schema.Keyspace, c.keyspace)
}

// read reads the next message.
func (c *connection) read(ctx context.Context) (*envelope, error) {
	h, body, err := c.ReceiveEnvelope(ctx)
	if err != nil {
		return nil, readError(err)
	}
	e, err := decode(h, slices.Clone(body))
	if err == nil && c.inspect != nil {
		err = c.inspect(e)
	}
	return e, err
}

// readError distinguishes silence and the end of a connection from other errors.
func readError(err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return errSilent
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return errClosed
	}
	return err
}

// readBytes reads bytes until no more arrive.
func (c *connection) readBytes(wait time.Duration) (string, error) {
	var all []byte
	for {
		if err := c.NetConn().SetReadDeadline(time.Now().Add(wait)); err != nil {
			return "", err
		}
		buf := make([]byte, 4096)
		n, err := c.NetConn().Read(buf)
		all, wait = append(all, buf[:n]...), silenceTime
		switch err = readError(err); {
		case errors.Is(err, errSilent):
			return fmt.Sprintf("bytes 0x%x", all), nil
		case errors.Is(err, errClosed):
			return fmt.Sprintf("bytes 0x%x, closed", all), nil
		case err != nil:
			return "", err
		}
	}
}
