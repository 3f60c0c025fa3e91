package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// Opcodes that the replay looks at.
const (
	opError        = 0x00
	opStartup      = 0x01
	opReady        = 0x02
	opAuthenticate = 0x03
	opQuery        = 0x07
	opResult       = 0x08
	opPrepare      = 0x09
	opExecute      = 0x0a
	opRegister     = 0x0b
	opEvent        = 0x0c
	opBatch        = 0x0d
)

// connection is a client's end of one of the recorded connections.
type connection struct {
	net.Conn
	version     int
	raw         bool
	compression string
	starting    bool // v5 after STARTUP: segments begin after its answer, whatever it is
	framed      bool // segments
	incoming    []byte
	payload     []byte // of segments, not yet an envelope
	failed      error
}

// open connects and brings the connection into the state.
func open(addr string, s connState) (*connection, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	conn := &connection{Conn: c, version: s.version, raw: s.raw, compression: s.compression}
	if s.ready {
		if err := conn.startup(s); err != nil {
			c.Close()
			return nil, err
		}
	}
	return conn, nil
}

func (c *connection) startup(s connState) error {
	options := map[string]string{ // as in the recordings: system_views.clients shows them
		"CQL_VERSION": "3.0.0", "DRIVER_NAME": "probe", "DRIVER_VERSION": "1.0", "FOO": "bar",
	}
	if s.compression != "" {
		options["COMPRESSION"] = s.compression
	}
	body := binary.BigEndian.AppendUint16(nil, uint16(len(options)))
	for k, v := range options {
		body = appendString(appendString(body, k), v)
	}
	if err := c.ask(opStartup, body, opReady); err != nil {
		return err
	}
	if s.keyspace == "" {
		return nil
	}
	return c.query("USE " + s.keyspace)
}

// query runs a statement without values at consistency ONE and wants a result.
func (c *connection) query(cql string) error {
	body := binary.BigEndian.AppendUint32(nil, uint32(len(cql)))
	body = append(append(body, cql...), 0, 1)
	flags := 1
	if c.version >= 5 {
		flags = 4
	}
	return c.ask(opQuery, append(body, make([]byte, flags)...), opResult)
}

// ask sends a message of our own and wants an answer of one kind.
func (c *connection) ask(opcode byte, body []byte, want byte) error {
	e := append([]byte{byte(c.version), 0, 0, 0, opcode}, binary.BigEndian.AppendUint32(nil, uint32(len(body)))...)
	if err := c.send(append(e, body...), false); err != nil {
		return err
	}
	got, err := c.next(10 * time.Second)
	if err != nil {
		return err
	}
	if got.opcode() != want {
		return fmt.Errorf("answered %s", describe(got))
	}
	return nil
}

// startRefused sends a STARTUP without options.
func (c *connection) startRefused() error { return c.ask(opStartup, []byte{0, 0}, opError) }

// register asks for the events of one kind.
func (c *connection) register(kind string) error {
	return c.ask(opRegister, appendString([]byte{0, 1}, kind), opReady)
}

// prepare prepares a statement.
func (c *connection) prepare(cql string) error {
	body := append(binary.BigEndian.AppendUint32(nil, uint32(len(cql))), cql...)
	if c.version >= 5 {
		body = append(body, 0, 0, 0, 0)
	}
	return c.ask(opPrepare, body, opResult)
}

func appendString(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...)
}

// send writes bytes as they are recorded: envelopes of a framed connection get their segments here.
func (c *connection) send(b []byte, raw bool) error {
	if c.framed && !raw {
		b = segments(b, c.compression != "")
	}
	if !c.framed && len(b) > 9 && b[4] == opStartup {
		c.starting = b[0] == 5
		if c.compression == "" {
			c.compression = namedCompression(b)
		}
	}
	c.SetWriteDeadline(time.Now().Add(5 * time.Second))
	_, err := c.Write(b)
	return err
}

// namedCompression is the compression that a recorded STARTUP asks for.
func namedCompression(startup []byte) string {
	text := strings.ToLower(string(startup))
	for _, name := range []string{"lz4", "snappy"} {
		if strings.Contains(text, "compression") && strings.Contains(text, name) {
			return name
		}
	}
	return ""
}

var errSilent = errors.New("no answer")

// next waits for an envelope; errSilent when none comes in time, io.EOF when the server closed.
func (c *connection) next(wait time.Duration) (*envelope, error) {
	deadline := time.Now().Add(wait)
	buffer := make([]byte, 64<<10)
	for {
		e, err := c.take()
		if e != nil || err != nil {
			return e, err
		}
		if c.failed != nil {
			return nil, c.failed
		}
		c.SetReadDeadline(deadline)
		n, err := c.Read(buffer)
		c.incoming = append(c.incoming, buffer[:n]...)
		var timeout net.Error
		switch {
		case errors.As(err, &timeout) && timeout.Timeout():
			return nil, errSilent
		case err != nil:
			c.failed = io.EOF
		}
	}
}

// drain reads until nothing more comes.
func (c *connection) drain() (all []*envelope) {
	for {
		e, err := c.next(wrongWait)
		if err != nil {
			return all
		}
		all = append(all, e)
	}
}

// take cuts an envelope from the bytes read.
func (c *connection) take() (*envelope, error) {
	source := &c.incoming
	if c.framed {
		for {
			payload, rest, header, err := takeSegment(c.incoming, c.compression != "")
			if err != nil {
				return nil, err
			}
			if header == 0 {
				break
			}
			c.payload, c.incoming = append(c.payload, payload...), bytes.Clone(rest)
		}
		source = &c.payload
	}
	e, rest, err := takeEnvelope(*source, c.compression)
	*source = rest
	if e != nil && c.starting {
		c.starting, c.framed = false, true
	}
	return e, err
}
