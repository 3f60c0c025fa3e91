package server_test

import (
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/cqld/cqld/cqltest"
)

// Requests and answers as Cassandra 5.0.8 sends them; the version bytes are the tests'.
const (
	optionsBody = "0003001150524f544f434f4c5f56455253494f4e5300040004332f76330004342f76340004352f76350009362f76362d" +
		"62657461000b434f4d5052455353494f4e00020006736e6170707900036c7a34000b43514c5f56455253494f4e00010005332e342e37"
	startupBody = "0001000b43514c5f56455253494f4e0005332e302e30" // CQL_VERSION 3.0.0
)

// errorHex is an ERROR without fields.
func errorHex(prefix string, code int, text string) string {
	body := fmt.Sprintf("%08x%04x%x", code, len(text), text)
	return fmt.Sprintf("%s00%08x%s", prefix, len(body)/2, body)
}

// versionError is the answer that makes drivers try another version.
func versionError(prefix string, version int) string {
	return errorHex(prefix, 0x0a, fmt.Sprintf("Invalid or unsupported protocol version (%d); supported versions are "+
		"(3/v3, 4/v4, 5/v5, 6/v6-beta)", version))
}

func startupHex(version string, pairs ...string) string {
	body := fmt.Sprintf("%04x", len(pairs)/2)
	for _, s := range pairs {
		body += fmt.Sprintf("%04x%x", len(s), s)
	}
	return fmt.Sprintf("%s00000101%08x%s", version, len(body)/2, body)
}

// Each case is on a connection of its own: what is sent, what comes back, and that OPTIONS is served
// behind it.
func TestHandshake(t *testing.T) {
	s := cqltest.RunT(t)
	wrongDirection := "Wrong protocol direction (expected REQUEST, got RESPONSE) for opcode 5 (OPTIONS)"
	betaUnset := "Beta version of the protocol used (6/v6-beta), but USE_BETA flag is unset"
	cases := []struct{ name, send, want string }{
		{"options v3", "030000010500000000", "830000010600000066" + optionsBody},
		{"options v5, body ignored", "05007fff0500000003010203", "85007fff0600000066" + optionsBody},
		{"options v6", "061000050500000000", "861000050600000066" + optionsBody},
		{"v6 without beta", "060000050500000000", errorHex("86100000", 0x0a, betaUnset)},
		{"direction v4", "840000050500000000", errorHex("85000005", 0x0a, wrongDirection)},
		{"direction v6", "860000050500000000", errorHex("86100000", 0x0a, betaUnset)},
		{"unknown opcode", "040000071700000000", errorHex("85000007", 0x0a, "Unknown opcode 23")},
		{
			"QUERY", "040000010700000000",
			errorHex("84000000", 0x0a, "Unexpected message QUERY, expecting STARTUP or OPTIONS"),
		},
		{
			"CREDENTIALS", "040000010400000000",
			errorHex("84000000", 0x0a, "Unexpected message CREDENTIALS, expecting STARTUP or OPTIONS"),
		},
		{
			"STARTUP cut", "0400000001000000130001000b43514c5f56455253494f4e0005332e",
			errorHex("84000000", 0x0a, "Not enough bytes to read an UTF8 serialized string preceded by its 2 bytes length"),
		},
		{
			"STARTUP empty", startupHex("04"),
			errorHex("84000001", 0x0a, "Missing value CQL_VERSION in STARTUP message"),
		},
		{
			"CQL_VERSION abc", startupHex("04", "CQL_VERSION", "abc"),
			errorHex("84000001", 0x0a, "Invalid version value: abc"),
		},
		{
			"CQL_VERSION old", startupHex("04", "cql_version", "2.98.9"),
			errorHex("84000001", 0x0a, "CQL version 2.98.9 is not supported by the binary protocol (supported version are >= 3.0.0)"),
		},
		{
			"COMPRESSION unknown", startupHex("04", "CQL_VERSION", "3.0.0", "COMPRESSION", "zstd"),
			errorHex("84000001", 0x0a, "Unknown compression algorithm: zstd"),
		},
		{"READY v3", startupHex("03", "CQL_VERSION", "4.0.0"), "830000010200000000"},
		{"READY, last wins", startupHex("04", "CQL_VERSION", "1.0.0", "CQL_VERSION", "3.4.7-SNAPSHOT"), "840000010200000000"},
		{"READY, 2.99.0", startupHex("04", "CQL_VERSION", "2.99.0"), "840000010200000000"},
		{"READY, flags", "04f3000001" + "00000016" + startupBody, "840000000200000000"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			conn := dialRaw(t, s)
			conn.send(c.send)
			conn.expect(c.want)
			version := c.want[1:2]
			if version != "3" {
				version = "4"
			}
			conn.send("0" + version + "0000050500000000")
			conn.expect("8" + version + "0000050600000066" + optionsBody)
		})
	}
}

// What begins with a version that does not exist gets an error, which lists those that do, and is all that is served.
func TestUnsupportedVersion(t *testing.T) {
	s := cqltest.RunT(t)
	for _, c := range []struct{ name, send, want string }{
		{"v1", "01000501000000160001000b43514c5f56455253494f4e0005332e302e30", versionError("810000", 1)},
		{"v2", "020000050500000000", versionError("820000", 2)},
		{"v0", "000000050500000000", versionError("85000000", 0)},
		{"v7", "070000050500000000", versionError("85000000", 7)},
		{"DSE v2, one byte", "42", versionError("85000000", 66)},
		{"DSE v1 with two messages", "410000050100000000410000050500000000", versionError("85000000", 65)},
		{"TLS", "16030100c8010000c40303000102030405060708090a0b0c0d0e0f", versionError("85000000", 22)},
		{"garbage", "ffffffffffffffffffffffffffffffff", versionError("85000000", 127)},
		{"a line of text", hex.EncodeToString([]byte("EHLO x\r\n")), versionError("85000000", 69)},
		{
			"wrong opcode, and too long", "0400000717ffffffff",
			errorHex("85000007", 0x0a, "Unknown opcode 23"),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := dialRaw(t, s)
			conn.send(c.send)
			conn.expect(c.want)
			conn.send(startupHex("04", "CQL_VERSION", "3.0.0"))
			conn.expectClosed()
		})
	}
}

// A header alone is no message, and less is no header.
func TestHandshakeWaits(t *testing.T) {
	conn := dialRaw(t, cqltest.RunT(t))
	conn.send("04")
	conn.expectNothing()
	conn.send("00000105000000")
	conn.expectNothing()
	conn.send("00")
	conn.expect("840000010600000066" + optionsBody)
}

// Compression begins with the answer to STARTUP; requests may do without.
func TestStartupCompression(t *testing.T) {
	s := cqltest.RunT(t)
	lz4 := dialRaw(t, s)
	lz4.send(startupHex("04", "CQL_VERSION", "3.0.0", "COMPRESSION", "LZ4"))
	lz4.expect("8401000102000000050000000000")
	lz4.send("04000001" + "0f" + "00000004" + "00000000") // AUTH_RESPONSE
	lz4.expect("840100011000000009" + "0000000440ffffffff")
	lz4.send("04010002" + "0f" + "00000009" + "0000000440ffffffff")
	lz4.expect("840100021000000009" + "0000000440ffffffff")

	snappy := dialRaw(t, s)
	snappy.send(startupHex("03", "CQL_VERSION", "3.0.0", "COMPRESSION", "SNAPPY"))
	snappy.expect("83010001020000000100")
	snappy.send("03010001" + "0f" + "00000006" + "040c00000000")
	snappy.expect("830100011000000006" + "040cffffffff")
}

// A refused STARTUP leaves a connection of v3 and v4 as it was, but for the version. One of v5 goes on in
// segments, unless it was refused for a compression that does not exist.
func TestStartupRefused(t *testing.T) {
	s := cqltest.RunT(t)
	v4 := dialRaw(t, s)
	v4.send(startupHex("04"))
	v4.expect(errorHex("84000001", 0x0a, "Missing value CQL_VERSION in STARTUP message"))
	v4.send("040000070700000000")
	v4.expect(errorHex("84000007", 0x0a, "Not enough bytes to read an UTF8 serialized string preceded by its 4 bytes length"))
	v4.send("040000070400000000")
	v4.expect(errorHex("84000007", 0x0a, "Unsupported message"))
	v4.send("050000090500000000")
	v4.expect(errorHex("84000009", 0x0a, "Invalid message version. Got 5/v5 but previous messages on this connection had version 4/v4"))
	v4.send(startupHex("04", "CQL_VERSION", "3.0.0", "COMPRESSION", "lz4"))
	v4.expect("8401000102000000050000000000")

	v5 := dialRaw(t, s)
	v5.send(startupHex("05", "CQL_VERSION", "3.0.0", "COMPRESSION", "snappy"))
	v5.expect(errorHex("85000001", 0x0a, "Snappy compression is not supported in protocol V5"))
	v5.send(startupHex("05"))
	v5.expect(errorHex("85000001", 0x0a, "Missing value CQL_VERSION in STARTUP message"))
	v5.send("1f000253fafc0500000101000000160001000b43514c5f56455253494f4e0005332e302e305dc132a1")
	v5.expect("090002a4c8c1850000010200000000ea890152")
}

// What stands behind STARTUP in the same write is served, while Cassandra loses it.
func TestRequestBehindStartup(t *testing.T) {
	s := cqltest.RunT(t)
	v4 := dialRaw(t, s)
	v4.send(startupHex("04", "CQL_VERSION", "3.0.0") + "040000020500000000" + startupHex("04"))
	v4.expect("840000010200000000" + "840000020600000066" + optionsBody)
	v4.expect(errorHex("84000001", 0x0a, "Unexpected message STARTUP, the connection is already initialized"))

	v5 := dialRaw(t, s)
	v5.send(startupHex("05", "CQL_VERSION", "3.0.0") + "090002a4c8c1050000010500000000b5557486")
	v5.expect("850000010200000000" + "6f00020a9b44850000010600000066" + optionsBody + "c8e36832")
}

// Without authentication a password that nobody asked for is right.
func TestAuthResponse(t *testing.T) {
	conn := dialRaw(t, cqltest.RunT(t))
	conn.send(startupHex("04", "CQL_VERSION", "3.0.0"))
	conn.expect("840000010200000000")
	conn.send("040000010f000000080000000400610062")
	conn.expect("840000011000000004ffffffff")
}
