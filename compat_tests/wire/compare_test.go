package wire

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/cqld/cqld/protocol"
)

// expectedEnvelope is an envelope of a recording with the bytes of it that vary.
type expectedEnvelope struct {
	envelope
	cut     bool // the recording has only its beginning, in prefix
	prefix  []byte
	masks   [][2]int
	anySize bool
}

// segmentHeader is the size of a segment's header without compression.
const segmentHeader = 6

// expected cuts the recorded answers into envelopes. framed reports whether the connection used segments.
func expected(x *exchange, framed bool, compression string) ([]expectedEnvelope, error) {
	var all []expectedEnvelope
	var payload []byte
	for i, a := range x.answers {
		masks, anySize := variance(x.varies, i+1)
		b, shift := a.bytes, 0
		if framed && x.state.raw {
			for {
				p, rest, header, err := takeSegment(b, compression != "")
				if err != nil {
					return nil, err
				}
				if header == 0 {
					break
				}
				payload, b, shift = append(payload, p...), rest, header
			}
			if a.cut && len(b) > segmentHeader { // a segment that is not whole: requests sent at once are answered in any order
				payload = append(payload, b[segmentHeader:]...)
				masks = append(masks, [2]int{segmentHeader + 2, segmentHeader + 3})
				shift = segmentHeader
			}
			b = payload
		}
		for {
			e, rest, err := takeEnvelope(b, compression)
			if err != nil {
				return nil, err
			}
			if e == nil {
				break
			}
			w := expectedEnvelope{envelope: *e, anySize: anySize}
			for _, m := range masks {
				w.masks = append(w.masks, [2]int{m[0] - shift, m[1] - shift})
			}
			all = append(all, w)
			b = rest
		}
		payload = b
		if a.cut && len(b) >= 9 {
			w := expectedEnvelope{envelope: envelope{header: [9]byte(b)}, cut: true, prefix: b}
			for _, m := range masks {
				w.masks = append(w.masks, [2]int{m[0] - shift, m[1] - shift})
			}
			all = append(all, w)
			payload = nil
		}
	}
	return all, nil
}

var variancePattern = regexp.MustCompile(`answer (\d+) (?:bytes (\d+)(?:-(\d+))?|(\(length too\)))`)

// variance are the byte ranges of an answer's line that vary, or that its length does.
func variance(varies string, answer int) (masks [][2]int, anySize bool) {
	for _, m := range variancePattern.FindAllStringSubmatch(varies, -1) {
		if n, _ := strconv.Atoi(m[1]); n != answer {
			continue
		}
		if m[4] != "" {
			return nil, true
		}
		from, _ := strconv.Atoi(m[2])
		to := from
		if m[3] != "" {
			to, _ = strconv.Atoi(m[3])
		}
		masks = append(masks, [2]int{from, to})
	}
	return masks, false
}

// A tracing id, which is another each time, follows the header of answers with this flag.
const (
	flagTracing = 0x02
	headerSize  = 9
	tracingEnd  = headerSize + 16
)

// matches reports whether an answer is the recorded one except for its varying parts.
func (w *expectedEnvelope) matches(got *envelope) bool {
	g := got.bytes()
	e := w.bytes()
	if w.cut { // the length in the header is that of the whole
		if len(g) < len(w.prefix) {
			return false
		}
		e, g = bytes.Clone(w.prefix), g[:len(w.prefix)]
	}
	if w.header[1]&flagTracing != 0 && len(e) >= tracingEnd && len(g) >= tracingEnd {
		copy(e[headerSize:tracingEnd], g[headerSize:tracingEnd])
	}
	if bytes.Equal(e, g) {
		return true
	}
	if w.anySize {
		return sameKind(&w.envelope, got)
	}
	if len(e) == len(g) && len(w.masks) > 0 {
		for _, m := range w.masks {
			for i := max(m[0], 0); i <= m[1] && i < len(e); i++ {
				e[i], g[i] = 0, 0
			}
		}
		if bytes.Equal(e, g) {
			return true
		}
	}
	return !w.cut && (sameCRCError(&w.envelope, got) || sameBufferError(&w.envelope, got) ||
		sameSystemRows(&w.envelope, got))
}

// buffer is how Java's texts about a body that is too short name the buffer it was read into.
var buffer = regexp.MustCompile(`unwrapped: \w+\([^()]*\)`)

// sameBufferError compares such texts without it.
func sameBufferError(a, b *envelope) bool {
	return buffer.Match(a.body) && buffer.Match(b.body) && sameKind(a, b) &&
		bytes.Equal(buffer.ReplaceAll(a.body[6:], nil), buffer.ReplaceAll(b.body[6:], nil))
}

// channelID is the beginning of the text about a broken checksum; it is Cassandra's name of a connection.
var channelID = regexp.MustCompile(`[0-9a-f]{8}( invalid, unrecoverable CRC mismatch)`)

// sameCRCError compares such texts without it: in compressed answers it has no fixed place.
func sameCRCError(a, b *envelope) bool {
	return channelID.Match(a.body) &&
		bytes.Equal(channelID.ReplaceAll(a.bytes(), []byte("$1")), channelID.ReplaceAll(b.bytes(), []byte("$1")))
}

// sameKind compares the kind of an answer, and the code of an error.
func sameKind(a, b *envelope) bool {
	return a.header[0] == b.header[0] && a.opcode() == b.opcode() && a.stream() == b.stream() &&
		(a.opcode() != opError || bytes.Equal(a.body[:min(4, len(a.body))], b.body[:min(4, len(b.body))]))
}

// nodeColumns differ from node to node, or from minute to minute.
var nodeColumns = map[string]bool{
	"gossip_generation": true, "host_id": true, "schema_version": true, "tokens": true, "truncated_at": true,
	"rpc_port": true, "native_port": true, "listen_port": true, "broadcast_port": true, "port": true,
	"request_count": true,
	"session_id":    true, "started_at": true, "duration": true, "coordinator_port": true,
	// The time and values computed from it:
	"system.now()": true, "system.uuid()": true, "system.todate(system.now())": true,
	"system.to_date(system.now())": true, "system.currenttimestamp()": true,
}

// sameSystemRows compares rows of system tables by their cells, without the columns that name the node.
func sameSystemRows(a, b *envelope) bool {
	ra, rb := systemRows(a), systemRows(b)
	if ra == nil || rb == nil || len(ra.data) != len(rb.data) || len(ra.columns) != len(rb.columns) {
		return false
	}
	for i, ca := range ra.columns {
		cb := rb.columns[i]
		if ca.Keyspace != cb.Keyspace || ca.Table != cb.Table || ca.Name != cb.Name || ca.Type.String() != cb.Type.String() {
			return false
		}
		for r := range ra.data {
			if !nodeColumns[ca.Name] && !bytes.Equal(ra.data[r][i], rb.data[r][i]) {
				return false
			}
		}
	}
	return a.stream() == b.stream() && a.header[1] == b.header[1]
}

// systemRows are rows of a system table; nil if the envelope has none.
func systemRows(e *envelope) *rows {
	r := decodeRows(e)
	if r == nil || len(r.columns) == 0 || !strings.HasPrefix(r.columns[0].Keyspace, "system") {
		return nil
	}
	return r
}

// rows are the rows of an answer.
type rows struct {
	columns []protocol.ColumnSpec
	data    [][][]byte
}

// decodeRows reads rows; nil if the envelope has none.
func decodeRows(e *envelope) *rows {
	h := protocol.ParseHeader(e.header[:])
	h.Flags &^= protocol.FlagCompressed
	m, _, err := protocol.DecodeResponse(h, e.body)
	of, ok := m.(*protocol.Rows)
	if err != nil || !ok {
		return nil
	}
	data, err := of.Split()
	if err != nil {
		return nil
	}
	return &rows{of.Metadata.Columns.Columns(), data}
}

// describe shows an envelope for a reader of the test's output.
func describe(e *envelope) string {
	return fmt.Sprintf("%x %q", e.header, e.body[:min(len(e.body), 300)])
}
