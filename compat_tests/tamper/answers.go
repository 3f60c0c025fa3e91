package tamper

import (
	"errors"

	"github.com/cqld/cqld/protocol"
)

// maxBody is the longest answer that is accepted: the limit of the specification.
const maxBody = 256 << 20

// answers rewrites the byte stream that a server sends on one connection.
type answers struct {
	change   Change
	in       []byte // received bytes that are not a complete envelope or segment yet
	foreign  bool   // an unsupported version: passed on unchanged
	segments protocol.Segments
	enc      protocol.Encoder
	out      []byte
}

// rewrite takes bytes from the server and returns the bytes for the client, which are valid until the next call.
func (a *answers) rewrite(b []byte) ([]byte, error) {
	a.in, a.out = append(a.in, b...), a.out[:0]
	for len(a.in) > 0 {
		n, err := a.take()
		if err != nil {
			return nil, err
		}
		if n == 0 {
			break
		}
		a.in = a.in[n:]
	}
	a.out = a.enc.Flush(a.out)
	return a.out, nil
}

// take rewrites the envelope or segment at the beginning of in and returns its length, or 0 if it is not complete.
func (a *answers) take() (int, error) {
	if a.enc.Segments {
		envelopes, n, err := a.segments.Next(a.in)
		for err == nil && len(envelopes) > 0 {
			var h protocol.Header
			var body []byte
			if h, body, envelopes, err = protocol.CutEnvelope(envelopes, maxBody); err == nil {
				err = a.envelope(h, body)
			}
		}
		return n, err
	}
	if a.foreign = a.foreign || !protocol.Version(a.in[0]&0x7f).Supported(); a.foreign {
		a.out = append(a.out, a.in...)
		return len(a.in), nil
	}
	if len(a.in) < protocol.HeaderSize {
		return 0, nil
	}
	h := protocol.ParseHeader(a.in)
	if h.Length > maxBody {
		return 0, errors.New("it is too long")
	}
	n := protocol.HeaderSize + int(h.Length)
	if len(a.in) < n {
		return 0, nil
	}
	return n, a.envelope(h, a.in[protocol.HeaderSize:n])
}

// envelope rewrites one envelope into out.
func (a *answers) envelope(h protocol.Header, body []byte) error {
	if h.Flags.Has(protocol.FlagCompressed) {
		return errors.New("it is compressed")
	}
	m, prefix, err := protocol.DecodeResponse(h, body)
	if err != nil {
		return err
	}
	m = a.change(m)
	if quiet, ok := m.(withoutWarnings); ok {
		m, prefix.Warnings = quiet.Response, nil
	}
	a.enc.Version = h.Version
	a.out = a.enc.Append(a.out, h.Stream, prefix, m)
	switch m.Opcode() {
	case protocol.OpReady, protocol.OpAuthenticate: // the answer to STARTUP
		a.enc.Segments = h.Version.HasSegments()
	}
	return nil
}
