package transcripts

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/cqld/cqld/protocol"
)

// envelope is a message from the server, as bytes and decoded.
type envelope struct {
	header  protocol.Header
	body    []byte
	prefix  *protocol.Prefix
	message protocol.Response
}

func decode(h protocol.Header, body []byte) (*envelope, error) {
	m, prefix, err := protocol.DecodeResponse(h, body)
	if err != nil {
		return nil, fmt.Errorf("decode %x with the header %+v: %w", body, h, err)
	}
	return &envelope{h, body, prefix, m}, nil
}

// remarks report bytes that the decoded message does not cover: it is encoded again, and rows are counted.
func (e *envelope) remarks() []string {
	again := protocol.AppendResponse(nil, e.header.Version, e.header.Stream, e.prefix, e.message)[protocol.HeaderSize:]
	if rest, ok := bytes.CutPrefix(e.body, again); ok {
		if m, rows := e.message.(*protocol.Rows); rows {
			rest = bytesAfterRows(m)
		}
		if len(rest) > 0 {
			return []string{fmt.Sprintf("  left over 0x%x", rest)}
		}
		return nil
	}
	at := 0
	for at < len(again) && at < len(e.body) && again[at] == e.body[at] {
		at++
	}
	return []string{fmt.Sprintf("  from byte %d on 0x%x, encoded again 0x%x", at, cut(e.body[at:]), cut(again[at:]))}
}

// cut returns the beginning of bytes, to print them.
func cut(b []byte) []byte { return b[:min(len(b), 40)] }

// bytesAfterRows are the bytes after the last cell.
func bytesAfterRows(m *protocol.Rows) []byte {
	rest := m.Cells
	for range m.Count * m.Metadata.Columns.Len() {
		if len(rest) < 4 {
			return rest
		}
		n := max(0, int(int32(binary.BigEndian.Uint32(rest))))
		rest = rest[min(len(rest), 4+n):]
	}
	return rest
}
