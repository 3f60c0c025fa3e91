package server_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/server"
)

// ready opens a connection and has STARTUP answered.
func ready(t *testing.T, s *cqltest.Server, version string, options ...string) *rawConn {
	t.Helper()
	conn := dialRaw(t, s)
	conn.send(startupHex(version, append([]string{"CQL_VERSION", "3.0.0"}, options...)...))
	h := make([]byte, protocol.HeaderSize)
	conn.deadline(patience)
	if _, err := io.ReadFull(conn, h); err != nil || h[4] != byte(protocol.OpReady) {
		t.Fatalf("READY: %x, %v", h, err)
	}
	if n := protocol.ParseHeader(h).Length; n > 0 {
		conn.expect(map[uint32]string{5: "0000000000", 1: "00"}[n])
	}
	return conn
}

// segment puts envelopes into a plain segment.
func segment(t *testing.T, envelopes string) string {
	t.Helper()
	e := protocol.Encoder{Version: protocol.V5, Segments: true}
	return hex.EncodeToString(e.Flush(e.AppendEnvelope(nil, unhex(t, envelopes))))
}

// After each of these on v3 or v4 the connection is as good as before.
func TestMalformedEnvelopes(t *testing.T) {
	s := cqltest.RunT(t)
	cases := []struct{ name, send, want string }{
		{"unknown opcode", "040000011700000000", errorHex("84000001", 0x0a, "Unknown opcode 23")},
		{"unknown opcode with a body", "0400000111000000021234", errorHex("84000001", 0x0a, "Unknown opcode 17")},
		{"opcode 255", "04000001ff00000000", errorHex("84000001", 0x0a, "Unknown opcode 255")},
		{
			"response", "040000010800000000",
			errorHex("84000001", 0x0a, "Wrong protocol direction (expected RESPONSE, got REQUEST) for opcode 8 (RESULT)"),
		},
		{"credentials", "040000010400000003010203", errorHex("84000001", 0x0a, "Unsupported message")},
		{
			"version 3", "030000060500000000",
			errorHex("84000006", 0x0a, "Invalid message version. Got 3/v3 but previous messages on this connection had version 4/v4"),
		},
		{
			"version 6", "060000060500000000",
			errorHex("86100000", 0x0a, "Beta version of the protocol used (6/v6-beta), but USE_BETA flag is unset"),
		},
		{
			"body cut", "0400000107000000020000",
			errorHex("84000001", 0x0a, "Not enough bytes to read an UTF8 serialized string preceded by its 4 bytes length"),
		},
		{
			"unknown consistency", "040000010700000007" + "00000000" + "000c" + "00",
			errorHex("84000001", 0x0a, "Unknown code 12 for a consistency level"),
		},
		{
			"paging state with text that is no statement", "040000010700000012" + "00000006494e534552540001080000000100",
			errorHex("84000001", 0x0a, "Invalid value for the paging state"),
		},
		{
			"paging state with an unknown id", "040000010a0000001a" + "0010aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa0001080000000100",
			errorHex("84000001", 0x0a, "Invalid value for the paging state"),
		},
		{
			"empty paging state", "040000010700000011" + "0000000653454c45435400010800000000",
			errorHex("84000001", 0x0a, "Invalid value for the paging state"),
		},
		{
			"traced, unknown consistency", "040200010700000007" + "00000000" + "000c" + "00",
			errorHex("84000001", 0x0a, "Unknown code 12 for a consistency level"),
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			conn := ready(t, s, "04")
			for range 3 {
				conn.send(c.send)
				conn.expect(c.want)
			}
			conn.send("04008000" + "0500000000") // a negative stream
			conn.expect("84008000" + "0600000066" + optionsBody)
		})
	}
	t.Run("custom payload on v3", func(t *testing.T) {
		conn := ready(t, s, "03")
		conn.send("030400010500000002" + "0000")
		conn.expect(errorHex("83000001", 0x0a, "Received frame with CUSTOM_PAYLOAD flag for native protocol version < 4"))
	})
}

// A version that does not exist ends a connection that is ready: nobody can tell where a message begins behind it.
func TestNoLongerCQL(t *testing.T) {
	s := cqltest.RunT(t)
	for _, c := range []struct{ name, version, send, want string }{
		{"version 66", "04", "420000060500000000", versionError("84000000", 66)},
		{"version 1", "04", "010000060500000000", versionError("810000", 1)},
		{"HTTP", "03", fmt.Sprintf("%x", "GET / HTTP/1.1\r\n\r\n"), versionError("83000000", 71)},
		{"wrong opcode, and too long", "04", "0400000117ffffffff", errorHex("84000001", 0x0a, "Unknown opcode 23")},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := ready(t, s, c.version)
			conn.send(c.send)
			conn.expect(c.want)
			conn.send(c.version + "0000010500000000")
			conn.expectClosed()
		})
	}
}

// A request over the limit is swallowed and answered, and the connection lives.
func TestOversizedRequest(t *testing.T) {
	s := cqltest.RunT(t, inside.Limits(server.Limits{Frame: 1 << 20}))
	text := func(n int) string {
		return fmt.Sprintf("Request is too big: length %d exceeds maximum allowed length %d.", n, 1<<20)
	}
	for _, c := range []struct {
		name string
		conn *rawConn
		want string
	}{
		{"before STARTUP", dialRaw(t, s), "85000009"},
		{"v4", ready(t, s, "04"), "84000009"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.conn.send("0400000907" + fmt.Sprintf("%08x", 2<<20))
			c.conn.expectNothing()
			c.conn.send(strings.Repeat("00", 2<<20))
			c.conn.expect(errorHex(c.want, 0x2200, text(2<<20+9)))
			c.conn.send("040000010500000000")
			c.conn.expect("840000010600000066" + optionsBody)
		})
	}
	t.Run("v5", func(t *testing.T) {
		conn := ready(t, s, "05")
		conn.send(segment(t, "0500000907"+fmt.Sprintf("%08x", 1<<20+1)+strings.Repeat("00", 1<<20+1)))
		conn.expect(segment(t, errorHex("85000009", 0x2200,
			"CQL Message of size 1048577 bytes exceeds allowed maximum of 1048576 bytes")))
		conn.send(segment(t, "050000010500000000"))
		conn.expect(segment(t, "850000010600000066"+optionsBody))
	})
	t.Run("at the limit", func(t *testing.T) {
		conn := ready(t, s, "04")
		n := 1<<20 - protocol.HeaderSize
		conn.send("0400000905" + fmt.Sprintf("%08x", n) + strings.Repeat("00", n))
		conn.expect("840000090600000066" + optionsBody)
	})
}

// A checksum that does not match ends the connection behind an error; the connection's id stands before it.
func TestChecksums(t *testing.T) {
	s := cqltest.RunT(t)
	for _, c := range []struct {
		name, send, text string
	}{
		{"header", "090002a5c8c1050000010500000000b5557486", "frame header. Read 12699813, Computed 12699812"},
		{"body", "090002a4c8c1050000010500000000b5557487", "frame body. Read -2022419019, Computed -2039196235"},
		{"unframed", "050000010500000000", "frame header. Read 1281, Computed 2312196"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := ready(t, s, "05")
			conn.send(c.send)
			conn.deadline(patience)
			answer, err := io.ReadAll(conn)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(answer, []byte(c.text)) {
				t.Fatalf("got %q, want %q", answer, c.text)
			}
		})
	}
}

// Two bad envelopes in a row in one segment end the connection, in segments of their own they do not.
func TestConsecutiveErrors(t *testing.T) {
	s := cqltest.RunT(t)
	bad := func(stream string) string { return "05" + "00" + stream + "1700000000" }
	refused := func(stream string) string { return errorHex("8500"+stream, 0x0a, "Unknown opcode 23") }
	options := "050000050500000000"

	conn := ready(t, s, "05")
	for range 4 {
		conn.send(segment(t, bad("0001")))
		conn.expect(segment(t, refused("0001")))
	}
	conn.send(segment(t, bad("0001")+options+bad("0002")))
	conn.expect(segment(t, refused("0001")+"850000050600000066"+optionsBody+refused("0002")))
	conn.send(segment(t, bad("0001")+bad("0002")+bad("0003")))
	conn.expect(segment(t, refused("0001")+refused("0002")))
	conn.expectClosed()
}

// What stands in a segment that makes no sense ends the connection, because what follows would not either.
// A version that is not the connection's does not.
func TestMalformedSegments(t *testing.T) {
	s := cqltest.RunT(t)
	for _, c := range []struct{ name, send, want string }{
		{
			"negative length", "0500000305ffffffff",
			errorHex("85000003", 0x0a, "Invalid value for envelope header body length field: -1"),
		},
		{
			"longer than the segment", "050000030700000009" + "00000000",
			errorHex("85000003", 0x0a, "A message of 9 bytes does not fit into its segment, which has 4 left"),
		},
		{
			"rest of a header", "00000000",
			errorHex("85000000", 0x0a, "A segment ends inside of the header of a message: 4 bytes"),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := ready(t, s, "05")
			conn.send(segment(t, c.send))
			conn.expect(segment(t, c.want))
			conn.expectClosed()
		})
	}
	conn := ready(t, s, "05")
	conn.send(segment(t, "040000060500000000"))
	conn.expect(segment(t, errorHex("85000006", 0x0a,
		"Invalid message version. Got 4/v4 but previousmessages on this connection had version 5/v5")))
	conn.send(segment(t, "420000060500000000"))
	conn.expect(segment(t, versionError("85000006", 66)))
	conn.send(segment(t, "060000060500000000"))
	conn.expect(segment(t, errorHex("86100006", 0x0a,
		"Beta version of the protocol used (6/v6-beta), but USE_BETA flag is unset")))
	conn.send("0000026a36c4d37e7744") // an empty segment
	conn.send(segment(t, "050000010500000000"))
	conn.expect(segment(t, "850000010600000066"+optionsBody))
}

// A segment or body that cannot be decompressed is refused; the next one is served.
func TestBadCompression(t *testing.T) {
	s := cqltest.RunT(t)
	conn := ready(t, s, "04", "COMPRESSION", "snappy")
	conn.send("040100010500000000" + "040100020500000001" + "00")
	conn.expect("84010000000000003e" + "3cec0000000a003650726f7669646564206672616d6520646f6573206e6f742061707065617220746f20626520536e6170707920636f6d70726573736564")
	h := make([]byte, protocol.HeaderSize)
	if _, err := io.ReadFull(conn, h); err != nil || protocol.ParseHeader(h).Opcode != protocol.OpSupported {
		t.Fatalf("SUPPORTED: %x, %v", h, err)
	}

	v5 := ready(t, s, "05", "COMPRESSION", "lz4")
	v5.send("1400c800046d53c8ffffffffffffffffffffffffffffffffffffffffd21f2ad7")
	v5.send("0900000004c2b895050000010500000000b5557486")
	v5.deadline(patience)
	var segments protocol.Segments
	segments.Compressed, segments.Limit = true, 1<<20
	var got []protocol.Opcode
	var in []byte
	for len(got) < 2 {
		b := make([]byte, 4096)
		n, err := v5.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		in = append(in, b[:n]...)
		for {
			envelopes, n, err := segments.Next(in)
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				break
			}
			in = in[n:]
			for len(envelopes) > 0 {
				h, _, rest, err := protocol.CutEnvelope(envelopes, 1<<20)
				if err != nil {
					t.Fatal(err)
				}
				got, envelopes = append(got, h.Opcode), rest
			}
		}
	}
	if got[0] != protocol.OpError || got[1] != protocol.OpSupported {
		t.Errorf("answers %v", got)
	}
}
