package wire

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/store/pace"
)

// drain reads all that comes, and returns how many envelopes of which lengths there were.
func drain(t *testing.T, conn net.Conn) (lengths []int) {
	t.Helper()
	header := make([]byte, protocol.HeaderSize)
	for {
		if _, err := io.ReadFull(conn, header); err != nil {
			return lengths
		}
		h := protocol.ParseHeader(header)
		body := make([]byte, h.Length)
		if _, err := io.ReadFull(conn, body); err != nil {
			t.Error(err)
		}
		if end := body[len(body)-8:]; !bytes.Equal(end, bytes.Repeat([]byte{byte(h.Stream)}, len(end))) {
			t.Errorf("an answer of stream %d ends in % x", h.Stream, end)
		}
		lengths = append(lengths, int(h.Length))
	}
}

// TestOutputChunks sends answers of all sizes from several goroutines, so that there are many chunks, and chunks that
// others have used: each answer arrives whole.
func TestOutputChunks(t *testing.T) {
	sizes := []int{10, 500, 30_000, chunkFull - 100, chunkFull, chunkSize, 3 * chunkSize, maxChunk + 1, 700, 100_000}
	for round := range 3 {
		a := Answers{Room: pace.NewRoom(28 << 20), MaxUnread: 4 << 20}
		here, there := net.Pipe()
		o := Output{Taken: func() {}, Failed: func() {}}
		o.Init(here, &a)
		o.encoder.Version = protocol.V4
		var got []int
		var reading, sending sync.WaitGroup
		reading.Go(func() { got = drain(t, there) })
		const senders, times = 3, 20
		for s := range senders {
			sending.Go(func() {
				for i := range times {
					stream := int16(1 + s)
					cells := bytes.Repeat([]byte{byte(stream)}, sizes[(i+s+round)%len(sizes)])
					rows := &protocol.Rows{Count: 1, Cells: cells, Metadata: protocol.RowsMetadata{Skip: true}}
					if i%4 == 0 { // in parts, of which some are as long as chunks
						third := min(len(cells)/3, chunkSize)
						rows.Before, rows.Cells = [][]byte{bytes.Clone(cells[:third]), bytes.Clone(cells[third : 2*third])}, cells[2*third:]
					}
					o.Append(stream, nil, rows)
				}
			})
		}
		sending.Wait()
		o.Flush()
		_ = here.Close()
		reading.Wait()
		if len(got) != senders*times {
			t.Errorf("%d answers of %d have come", len(got), senders*times)
		}
		o.Close()
		if used := a.Room.Used(); used != 0 || a.unread.Load() != 0 || o.waiting != 0 || len(o.full) != 0 {
			t.Errorf("%d bytes are charged, %d wait", used, o.waiting)
		}
	}
}
